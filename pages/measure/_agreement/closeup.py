"""One criterion, one pair: every figure, every option, the confusion matrix and its items."""

from __future__ import annotations

import streamlit as st

from core.services import agreeing_pairs
from core.services import numbers as fmt
from core.services.agreeing_pairs import Close, OptionLine
from core.services.agreeing_sheet import Asked
from pages.measure._agreement import confusion
from pages.measure._agreement.choosing import Chosen, versus
from pages.measure._agreement.criteria import caveats
from pages.measure._agreement.words import STRENGTH, few, row, section, tight
from pages.ui.resources import remembered
from pages.ui.text import esc, label
from pages.ui.widgets import table

HEADS = ("Figure", "Value", "95 % interval", "Items")


def show(chosen: Chosen) -> None:
    """The matrix first: it says where they differ; then how much."""
    close = remembered(
        "agreement close",
        (*chosen.pair, chosen.criterion),
        lambda: agreeing_pairs.closely(
            chosen.sheet, chosen.criterion, chosen.reference, chosen.rater
        ),
    )
    _counted(chosen, close)
    section(f"Confusion: {chosen.criterion}")
    confusion.show(chosen)
    if not close.n:
        return
    left, right = st.columns(2, gap="large")
    with left:
        section("Figures of this pair")
        _figures(close, chosen.sheet.criterion(chosen.criterion))
    with right:
        section("Option by option")
        _options(close)
    caveats(chosen)


def _counted(chosen: Chosen, close: Close) -> None:
    away = [
        (close.abstained, "abstention of the rater", "abstentions of the rater"),
        (close.tied, "item without a majority", "items without a majority"),
        (close.failed, "failed call", "failed calls"),
    ]
    parts = [fmt.plural(n, one, many) for n, one, many in away if n]
    left = f" Left out: {', '.join(parts)}." if parts else ""
    st.caption(
        f"{label(versus(chosen))}: "
        f"{fmt.plural(close.n, 'item')} with an answer from both.{left} {few(close.n)}"
    )


def _figures(close: Close, asked: Asked) -> None:
    first = (row(*one, asked) for one in close.first)
    table(HEADS, first, name="Figures", numbers=(1, 2, 3))
    st.caption(
        "Intervals come from resampling items; with two options, most of them from the counts and "
        "four further ratings, spread evenly, so that they hold where one option is rare.",
        help=STRENGTH,
    )
    with st.expander("Every other figure", icon=":material/more_horiz:"):
        rest = (row(*one, asked) for one in close.rest)
        table(HEADS, rest, name="Other figures", numbers=(1, 2, 3))


def _options(close: Close) -> None:
    table(
        ("Option", "Reference", "Rater", "Precision", "Recall", "F1"),
        map(_option, close.options),
        name="Precision, recall and F1 of every option",
        numbers=(1, 2, 3, 4, 5),
    )
    st.caption(
        "Precision: of the items to which the rater gave it, the share for which the reference has "
        "it. Recall: the other way round. F1: their harmonic mean."
    )


def _option(one: OptionLine) -> list[str]:
    return [
        esc(one.label),
        fmt.count(one.true),
        fmt.count(one.given),
        tight(one.precision),
        tight(one.recall),
        tight(one.f1),
    ]
