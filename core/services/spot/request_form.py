"""The form of a spot check as plain data, kept in the store so that nothing typed is lost."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, cast

from core import clock
from core.domain.base import build
from core.domain.dataset import Message, Pair, Sections, Submission
from core.domain.panel import Asking, Judge, Panel, Rules
from core.domain.rubric import Rubric
from core.errors import InputError
from core.services.access.allowing import allowed
from core.services.judges.registry import list_judges, list_panels
from core.services.results.verdicts import answers_per_cell, calls_of
from core.services.rubrics import library
from core.services.rubrics.drafts import rubric_from
from core.services.spot.spot_check import ITEM, SpotRequest, item_of, teachers
from core.store.store import Store

Way = Literal["text", "chat", "sections", "item"]
DRAFT = "draft:"
_KEPT = "spot/form"
#: So many models are asked at first: one text beside several judges is what a check is for.
MODELS = 3


class SpotTurn(TypedDict):
    """One message of a conversation; ``uid`` lasts while others come and go."""

    uid: str
    role: str
    content: str


class SpotForm(TypedDict):
    """Everything the form holds. ``rubric`` is an id as text, or ``draft:`` and a draft's name.

    ``dataset`` is a dataset version's id; ``judges`` are names; ``panel`` is the saved panel that
    filled them in and whose ``rules`` hold. ``asking`` is an ``Asking`` as plain data.
    """

    rubric: str
    way: Way
    text: str
    thinking: str
    output: str
    turns: list[SpotTurn]
    prompt: str
    context: dict[str, str]
    reference: str
    dataset: int | None
    item: str | None
    judges: list[str]
    panel: int | None
    rules: dict[str, str]
    asking: dict[str, Any]
    learn_from: int | None
    replicates: int
    seed: int | None


@dataclass(frozen=True)
class RubricChoice:
    """A rubric that can be checked with; ``words`` say which state of it."""

    key: str
    name: str
    words: str


def opened(store: Store) -> SpotForm:
    """The form as it was left, else a fresh one with a rubric and judges that can be asked."""
    fresh = _fresh(store)
    kept = store.drafts.get(_KEPT)
    if kept is None:
        return fresh
    # A form kept by another version of the program may lack a field.
    return cast("SpotForm", {**fresh, **{k: v for k, v in kept.content.items() if k in fresh}})


@allowed("draft")
def keep(store: Store, form: SpotForm) -> None:
    """Keeps the form for another page, another tab and another day."""
    store.drafts.save(_KEPT, form, now=clock.now())


def turn(role: str = "user", content: str = "") -> SpotTurn:
    """A new message."""
    return SpotTurn(uid=secrets.token_hex(4), role=role, content=content)


def rubric_choices(store: Store) -> list[RubricChoice]:
    """Saved rubrics at their latest version, and the drafts that are kept; last changed first."""
    drafts = [
        RubricChoice(
            DRAFT + kept.name,
            kept.draft["name"] or "Untitled rubric",
            "unsaved changes" if kept.name.isdecimal() else "unsaved draft",
        )
        for kept in library.all_kept(store)
    ]
    saved = [
        RubricChoice(str(row.id), row.name, f"version {row.number}") for row in store.rubrics.list()
    ]
    return [*drafts, *saved]


def rubric_of(store: Store, choice: str) -> Rubric:
    """The rubric of a choice; ``InputError`` where none is chosen or its draft is no rubric yet."""
    if not choice.startswith(DRAFT):
        if not choice:
            raise InputError("No rubric is chosen. Choose one, or write one first.")
        return store.rubrics.latest(int(choice)).rubric
    kept = library.kept(store, choice.removeprefix(DRAFT))
    if kept is None:
        raise InputError("This draft was saved or discarded. Choose a rubric again.")
    if kept.text is not None:
        return library.read(kept.text, "rubric.yaml").value
    return rubric_from(kept.draft)


def with_panel(store: Store, form: SpotForm, panel_id: int | None) -> SpotForm:
    """The form with all that a saved panel says; ``None`` keeps only the judges."""
    if panel_id is None:
        return {**form, "panel": None, "rules": {}, "asking": {}}
    panel = store.panels.get(panel_id).panel
    names = [judge.name for judge in panel.judges]
    asking = panel.asking.model_dump()
    rules = panel.rules.model_dump()
    return {**form, "panel": panel_id, "judges": names, "rules": rules, "asking": asking}


def judges_of(store: Store, form: SpotForm) -> tuple[Judge, ...]:
    """The chosen judges, as registered; those only the panel knows, as the panel has them."""
    known = dict[str, Judge]()
    for row in list_panels(store):
        if row.id == form["panel"]:
            known |= {judge.name: judge for judge in row.panel.judges}
    known |= {row.name: row.judge for row in store.judges.list()}
    return tuple(known[name] for name in form["judges"] if name in known)


def asking_of(form: SpotForm) -> Asking:
    """How judges are asked."""
    return build(Asking, form["asking"], "asking")


def needs_labels(store: Store, form: SpotForm) -> bool:
    """Whether a chosen judge learns from labelled items, or is shown some as examples."""
    judges = judges_of(store, form)
    shown = asking_of(form).few_shot and not all(judge.offline for judge in judges)
    return bool(judges) and (bool(shown) or any(judge.learns for judge in judges))


def outlook(store: Store, form: SpotForm, criteria: int) -> tuple[int, int]:
    """The votes and the calls to models that a check of so many criteria takes."""
    judges, times = judges_of(store, form), form["replicates"]
    panel = Panel(judges=judges, asking=asking_of(form))
    votes = criteria * answers_per_cell(panel, times)
    return votes, sum(calls_of(j, panel, times, items=1, cells=criteria) for j in judges)


def request_from(store: Store, form: SpotForm) -> SpotRequest:
    """The request that the form asks for; ``InputError`` says what is missing."""
    rubric = rubric_of(store, form["rubric"])
    judges = judges_of(store, form)
    saved = form["way"] == "item"
    if saved and (form["dataset"] is None or form["item"] is None):
        raise InputError("No item is chosen. Choose a dataset and one of its items.")
    return SpotRequest(
        rubric=rubric,
        judges=judges,
        rules=Rules(**form["rules"]),
        asking=asking_of(form),
        submission="" if saved else _submission(form),
        prompt="" if saved else form["prompt"],
        context={} if saved else form["context"],
        reference="" if saved else form["reference"],
        dataset_version=form["dataset"] if saved else None,
        item=form["item"] if saved else None,
        learn_from=form["learn_from"] if needs_labels(store, form) else None,
        replicates=form["replicates"],
        seed=form["seed"],
    )


def form_of(store: Store, run_id: int, form: SpotForm) -> SpotForm:
    """The form that would ask what a check asked, on top of ``form`` (whose other ways stay)."""
    run, item_id = store.runs.get(run_id), item_of(store, run_id)
    filled: SpotForm = {
        **form,
        "rubric": _choice_for(store, run.rubric_id, form["rubric"]),
        "judges": [judge.name for judge in run.panel.judges],
        "panel": None,
        "rules": run.panel.rules.model_dump(),
        "asking": run.panel.asking.model_dump(),
        "learn_from": run.plan.calibration.get("dataset_version"),
        "replicates": run.plan.replicates,
        "seed": None,
    }
    if item_id != ITEM:
        return {**filled, "way": "item", "dataset": run.dataset_version_id, "item": item_id}
    item = store.datasets.item(run.dataset_version_id, item_id)
    typed: SpotForm = {
        **filled,
        "prompt": item.prompt,
        "context": item.context,
        "reference": item.reference,
    }
    if isinstance(item.submission, str | Pair):
        return {**typed, "way": "text", "text": item.output}
    if isinstance(item.submission, Sections):
        thinking, output = item.submission.thinking, item.submission.output
        return {**typed, "way": "sections", "thinking": thinking, "output": output}
    turns = [turn(message.role, message.content) for message in item.submission]
    return {**typed, "way": "chat", "turns": turns}


def _choice_for(store: Store, rubric_id: int, otherwise: str) -> str:
    listed = {row.id for row in store.rubrics.list()}
    return str(rubric_id) if rubric_id in listed else otherwise


def _submission(form: SpotForm) -> Submission:
    if form["way"] == "sections":
        return Sections(thinking=form["thinking"], output=form["output"])
    if form["way"] == "chat":
        said = [t for t in form["turns"] if t["content"].strip()]
        return tuple(Message(role=t["role"] or "user", content=t["content"]) for t in said)
    return form["text"]


def _fresh(store: Store) -> SpotForm:
    saved = store.rubrics.list()
    return SpotForm(
        rubric=str(saved[0].id) if saved else "",
        way="text",
        text="",
        thinking="",
        output="",
        turns=[turn("user"), turn("assistant")],
        prompt="",
        context={},
        reference="",
        dataset=None,
        item=None,
        judges=_first_judges(store, saved[0].id if saved else None),
        panel=None,
        rules={},
        asking={},
        learn_from=None,
        replicates=1,
        seed=None,
    )


def _first_judges(store: Store, rubric_id: int | None) -> list[str]:
    """Models that can be reached, else the offline judges where they can learn the rubric."""
    entries = list_judges(store)
    models = [entry.name for entry in entries if entry.ready_model]
    if models:
        return models[:MODELS]
    if rubric_id is not None and teachers(store, store.rubrics.latest(rubric_id).rubric):
        return [entry.name for entry in entries if entry.judge.learns]
    return []
