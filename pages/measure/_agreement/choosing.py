"""What is looked at: run, reference, rater, criterion and cell. The address is the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import streamlit as st

from core.services import agreeing, grading, viewing
from core.services.agreeing import LABELS, PANEL, Sheet
from core.services.grading import RunRow
from core.services.viewing import Run
from pages.ui import agreement_keys as keys
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import one_line

RUNS = 100
WORDS = {LABELS: "Labels (gold)", PANEL: "The panel's verdicts"}


class Chosen(NamedTuple):
    """Who is compared with whom, on which criterion, of which ratings.

    `about` changes whenever the ratings would.
    """

    run_id: int
    about: tuple[object, ...]
    sheet: Sheet
    reference: str
    rater: str
    criterion: str


def run() -> Run | RunRow | None:
    """The run of the address, else the newest that has votes; its choice is drawn."""
    rows = [row for row in grading.listing(store(), limit=RUNS).rows if row.votes]
    asked = state.address_id(state.RUN)
    by_id: dict[int, Run | RunRow] = {row.id: row for row in rows}
    if asked is not None and asked not in by_id:
        by_id[asked] = viewing.require_run(store(), asked)
    if not by_id:
        return None
    chosen = asked if asked is not None else rows[0].id
    _select(
        "Run",
        state.RUN,
        [str(one) for one in by_id],
        str(chosen),
        lambda one: f"{one}: {one_line(by_id[int(one)].name, 80)}",
        (keys.REFERENCE, keys.RATER, keys.CRITERION),
    )
    return by_id[chosen]


def sides(run_id: int, about: tuple[object, ...], sheet: Sheet) -> Chosen:
    """Reference, rater and criterion; what makes no sense in the address is left out."""
    reference = _known(keys.REFERENCE, sheet.references)
    raters = sheet.raters(reference)
    rater = _known(keys.RATER, raters)
    names = [asked.name for asked in sheet.criteria]
    criterion = _known(keys.CRITERION, names)
    with st.grid(3, min_column_width=200):
        _select("Reference", keys.REFERENCE, sheet.references, reference, _words, (keys.RATER,))
        _select("Rater", keys.RATER, raters, rater, _words)
        _select("Criterion", keys.CRITERION, names, criterion, lambda one: one_line(one, 80))
    return Chosen(run_id, about, sheet, reference, rater, criterion)


def _words(column: str) -> str:
    return WORDS.get(column) or one_line(agreeing.name_of(column), 60)


def _known(name: str, options: Sequence[str]) -> str:
    asked = state.address(name)
    return asked if asked is not None and asked in options else options[0]


def _select(
    words: str,
    name: str,
    options: Sequence[str],
    value: str,
    format_func: Callable[[str], str],
    drops: tuple[str, ...] = (),
) -> None:
    key = state.key(keys.AGREEMENT_FIELD, name)
    state.put(key, value)
    st.selectbox(
        words,
        list(options),
        key=key,
        format_func=format_func,
        on_change=_on_choice,
        args=(name, key, drops),
    )


def _on_choice(name: str, key: str, drops: tuple[str, ...]) -> None:
    gone = dict.fromkeys((*drops, keys.CELL, keys.PAGE))
    state.set_address(**{**gone, name: state.get(key)})
