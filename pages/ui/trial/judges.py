"""The judges for a text, and the labelled items for offline judges and examples."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.panel import Judge
from core.domain.rubric import Rubric
from core.services.judges import registry
from core.services.judges.registry import JudgeEntry
from core.services.runs import planning
from core.services.spot import trials
from core.text import numbers as fmt
from core.text.names import visible
from pages.ui import routes, state
from pages.ui.asking_words import who_answers
from pages.ui.resources import actor, store
from pages.ui.text import label
from pages.ui.trial.texts import Fields, take_value

KEY_WORDS = {"not set": "key missing", "unknown": "key unknown"}


def choose_judges(fields: Fields, other_names: Sequence[str] = ()) -> None:
    """Draw the choice of registered judges ("judges"), and what prevents any of them from
    answering.

    `other_names` can also be chosen; only a panel has them.
    """
    entries = {entry.name: entry for entry in registry.list_judges(store())}
    choices = [*entries, *(name for name in other_names if name not in entries)]
    key = fields.of("judges")
    state.seed(key, list(fields.value("judges")))
    chosen = [name for name in state.get(key) if name in choices]
    if chosen != state.get(key):
        state.put(key, chosen)
        _change_fields(fields, "judges")
    st.multiselect(
        "Judges",
        choices,
        key=key,
        format_func=lambda name: _judge_words(name, entries.get(name)),
        placeholder="Choose at least one judge",
        wrap=True,
        on_change=take_value,
        args=(fields, "judges"),
    )
    show_missing_keys([entries[name].judge for name in chosen if name in entries])
    if all(entry.judge.offline for entry in entries.values()):
        routes.draw_link(routes.JUDGES, "Connect a model first", icon="add_link")


def show_missing_keys(judges: Sequence[Judge]) -> None:
    """Warn about each judge whose key variable is not set, with the fix."""
    for judge, variable in planning.missing_keys(judges):
        caption = (
            f"{judge} has no key: {variable} is not set in the environment of this app. All its "
            "votes would fail. Set the variable and restart the app, or remove the judge."
        )
        st.warning(label(caption), icon=":material/key_off:")


def _judge_words(name: str, entry: JudgeEntry | None) -> str:
    if entry is None:
        return f"{visible(name)} (as in the panel)"
    kind = visible(who_answers(entry.judge))
    return " · ".join(filter(None, (visible(name), kind, KEY_WORDS.get(entry.key, ""))))


def choose_teacher(fields: Fields, rubric: Rubric, own: int | None = None) -> bool:
    """Draw the choice of labels ("learn_from"); return whether the form changed it.

    An earlier choice with fitting labels stays. Otherwise the form chooses dataset version `own` if
    it has fitting labels, else the version with the most of them.
    """
    teachers = {
        teacher.row.version_id: teacher for teacher in trials.teaching_datasets(store(), rubric)
    }
    if not teachers:
        st.warning(
            "Offline judges and examples need labelled answers, and no dataset has labels that fit "
            "this rubric. Choose a model without examples, or import labelled items.",
            icon=":material/school:",
        )
        return False
    current = fields.value("learn_from")
    best = next(v for v in (current, own, *teachers) if v in teachers)
    key = fields.of("learn_from")
    state.seed(key, best)
    if state.get(key) not in teachers:
        state.put(key, best)

    def version_words(version: int) -> str:
        row, labels = teachers[version].row, fmt.plural(teachers[version].labels, "fitting label")
        return f"{visible(row.name)} · {labels} on {fmt.plural(row.labelled, 'item')}"

    chosen = st.selectbox(
        "Labelled items to learn from",
        list(teachers),
        key=key,
        format_func=version_words,
        on_change=take_value,
        args=(fields, "learn_from"),
    )
    if teachers[chosen].untaught:
        names = ", ".join(repr(name) for name in teachers[chosen].untaught)
        missing_labels = (
            f"No labels for {names}: offline judges abstain there, and there is no example."
        )
        st.caption(label(missing_labels, 300))
    return chosen != current and _change_fields(fields, "learn_from")


def _change_fields(fields: Fields, field: str) -> bool:
    """Store the form's own change, which the person can change again."""
    if actor().may("draft"):
        take_value(fields, field)
    return actor().may("draft")
