"""The table of criteria: accuracy, kappa and alpha, each with its interval or its reason."""

from __future__ import annotations

import streamlit as st

from core.services import agreeing
from core.services.agreeing import LABELS, RESAMPLES, Estimate, Line
from pages.measure._agreement.choosing import Chosen
from pages.ui import format as fmt
from pages.ui.resources import remembered
from pages.ui.text import esc
from pages.ui.widgets import table, tag

HEADS = ("Criterion", "Items", "Accuracy", "Commonest answer", "Kappa", "Judges' alpha")
STRENGTH = (
    "Landis and Koch (1977) called a kappa up to .20 slight, up to .40 fair, up to .60 moderate, "
    "up to .80 substantial, and above almost perfect. These words are a convention: what is "
    "enough depends on what the grades are for."
)


def show(chosen: Chosen) -> None:
    """One line per criterion, made once per run and pair of raters."""
    pair = (*chosen.about, chosen.reference, chosen.rater)
    found = remembered(
        "agreement lines",
        pair,
        lambda: agreeing.compare(chosen.sheet, chosen.reference, chosen.rater),
    )
    alphas = remembered("alphas", chosen.about, lambda: agreeing.alphas(chosen.sheet))
    table(
        HEADS,
        (_row(line, alpha) for line, alpha in zip(found, alphas, strict=True)),
        name="Agreement per criterion",
        numbers=(1, 2, 3, 4, 5),
    )
    st.caption(
        "Accuracy: the share of items on which the rater gave the reference's answer. Commonest "
        "answer: what always giving the reference's commonest answer would reach. Kappa: "
        "agreement beyond chance (Cohen 1960), with quadratic weights on ordinal criteria. "
        "Judges' alpha: agreement among all judges (Krippendorff), ordinal on ordinal criteria, "
        "else nominal. Abstentions are counted and left out. Below each figure: 95 % interval, "
        f"from {RESAMPLES} resamples of the items, made once for these votes and kept.",
        help=STRENGTH,
    )
    if chosen.reference != LABELS:
        st.caption(
            "The panel's verdicts contain the judge's own votes, so a judge agrees with them "
            "better than it would with labels."
        )


def _row(line: Line, alpha: Estimate) -> list[str]:
    return [
        esc(line.name),
        _items(line),
        _cell(line.accuracy, share=True),
        fmt.percent(line.commonest.value),
        _cell(line.kappa),
        _cell(alpha),
    ]


def _items(line: Line) -> str:
    parts = [fmt.count(line.n)]
    if line.abstained:
        parts.append(f'<span class="rs-quiet">{fmt.count(line.abstained)} abstained</span>')
    if line.small:
        parts.append(tag("few: uncertain", "warn"))
    return "<br>".join(parts)


def _cell(one: Estimate, *, share: bool = False) -> str:
    if one.value is None:
        return f'undefined<br><span class="rs-quiet rs-wrap">{esc(one.reason)}</span>'
    form = fmt.percent if share else fmt.score
    if one.low is None or one.high is None:
        below = esc(f"no interval: {one.reason}" if one.reason else "no interval")
    else:
        below = f"{form(one.low)} to {form(one.high)}"
    return f'{form(one.value)}<br><span class="rs-quiet rs-wrap">{below}</span>'
