"""The judge being edited: its widgets' values, and saving them.

A value that could be a key is taken out of the session before anything else happens, refused by
the service, and never put anywhere.
"""

from __future__ import annotations

from typing import Any

from core.domain.panel import Judge
from core.errors import InputError, Problem
from core.services import connecting, registry
from core.services.judge_settings import could_be_secret
from core.services.registry import JudgeEntry
from pages.grade._judges.fields import BY_BUDGET, FIELDS, JUDGE_FIELD, JUDGE_REFUSED, LABELS
from pages.ui import state
from pages.ui.resources import store
from pages.ui.widgets import shown_errors

TEXTS = ("name", "model", "api_base", "key_env")
OFFLINE_FIELDS = ("name", "weight")


def field(reference: str, name: str) -> str:
    """The key of one setting's widget."""
    return state.key(JUDGE_FIELD, reference, name)


def entry(reference: str) -> JudgeEntry | None:
    """The judge with that id, or `None`."""
    found = (e for e in registry.list_judges(store()) if str(e.row.id) == reference)
    return next(found, None)


def seed(reference: str, saved: JudgeEntry | None) -> None:
    """Give every widget the saved value, unless it has one."""
    judge = saved.judge if saved else Judge(name="-", model="-")
    values = judge.model_dump(include={f.name for f in FIELDS} | {"door", "shuffle", "kind"})
    if saved is None:
        values |= {"name": "", "model": ""}
    budget = judge.thinking if isinstance(judge.thinking, int) else None
    values |= {
        "thinking": BY_BUDGET if budget is not None else judge.thinking or "",
        "budget": budget if budget is not None else 2000,
    }
    for name, value in values.items():
        state.seed(field(reference, name), value, in_form=name != "kind")


def now(reference: str, name: str) -> Any:
    """What stands in the setting's widget. It is said to the browser on every run as the default.

    In a form the browser answers nothing before Save, so that one cannot know what it has drawn.
    """
    return state.get(field(reference, name))


def _scrub(reference: str) -> None:
    """Take out of the session what could be a key."""
    for name in TEXTS:
        if could_be_secret(name, str(state.get(field(reference, name)) or "")):
            state.put(field(reference, name), "")


def refused(reference: str) -> list[Problem]:
    """What the last save found wrong, with the settings' labels as places."""
    kept = state.get(state.key(JUDGE_REFUSED, reference)) or []
    return [Problem(message, mend, (place,)) for message, mend, place in kept]


def on_save(reference: str, kind: str, test: bool) -> None:
    """Save the settings as they stand; then ask the judge, if wanted."""
    settings = _settings(reference, kind)
    _scrub(reference)
    state.drop(JUDGE_REFUSED, reference)
    with shown_errors():
        saved = entry(reference)
        if saved is not None:
            settings = {**saved.judge.model_dump(include={"params"}), **settings}
        try:
            row = registry.save_judge(store(), settings, former=saved.name if saved else None)
        except InputError as error:
            kept = [(p.message, p.mend, _label(p)) for p in error.problems]
            state.put(state.key(JUDGE_REFUSED, reference), kept)
            return
        state.drop(JUDGE_FIELD, reference)
        if test:
            connecting.begin(store(), row.judge)
            state.set_address(**{state.JUDGE: row.id})
        else:
            state.set_address(**{state.JUDGE: None})
        state.flash("Saved.")


def _settings(reference: str, kind: str) -> dict[str, Any]:
    if kind != "llm":
        given = {name: state.get(field(reference, name)) for name in OFFLINE_FIELDS}
        return {**given, "kind": kind}
    names = [f.name for f in FIELDS] + ["door", "shuffle"]
    given = {name: state.get(field(reference, name)) for name in names}
    thinking = state.get(field(reference, "thinking")) or None
    if thinking == BY_BUDGET:
        thinking = state.get(field(reference, "budget"))
    return {**given, "thinking": thinking, "kind": kind}


def _label(problem: Problem) -> str:
    first = str(problem.path[0]) if problem.path else ""
    return LABELS.get(first, first)
