"""All criteria: a plot of accuracy or kappa with intervals, and the table with every figure."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.files.visible import visible
from core.metrics.estimate import Estimate
from core.services import agreeing_groups, agreeing_pairs
from core.services import numbers as fmt
from core.services.agreeing_pairs import RESAMPLES, Line
from core.services.agreeing_sheet import PANEL, PEOPLE
from pages.measure._agreement.choosing import Chosen, switch, words_of
from pages.measure._agreement.words import STRENGTH, cell
from pages.ui import agreement_keys as keys
from pages.ui import state
from pages.ui.resources import remembered
from pages.ui.text import esc, label
from pages.ui.widgets import table, tag

MEASURES = (("accuracy", "Accuracy"), ("kappa", "Kappa"))


def show(chosen: Chosen) -> None:
    """One dot and one line per criterion, made once per run, items and pair of raters."""
    sheet = chosen.sheet
    lines = remembered(
        "agreement lines",
        chosen.pair,
        lambda: agreeing_pairs.compare(sheet, chosen.reference, chosen.rater),
    )
    _forest(chosen, lines)
    groups = [("Judges' alpha", "llm", sheet.judges), ("People's alpha", "human", sheet.people)]
    found = [(head, _alphas(chosen, kind)) for head, kind, members in groups if members]
    # A column without any number says once below why, not in every line.
    columns = [(head, ones) for head, ones in found if any(one.value is not None for one in ones)]
    missing = [f"{head}: {ones[0].reason}" for head, ones in found if (head, ones) not in columns]
    heads = ("Criterion", "Items", "Accuracy", "Commonest answer", "Kappa")
    table(
        (*heads, *(head for head, _ in columns)),
        ([*_row(line), *(cell(ones[at]) for _, ones in columns)] for at, line in enumerate(lines)),
        name="Agreement per criterion",
        numbers=range(1, len(heads) + len(columns)),
    )
    st.caption(
        "Accuracy: the share of items on which the rater gave the reference's answer. Commonest "
        "answer: what always giving the reference's commonest answer would reach. Kappa: "
        "agreement beyond chance (Cohen 1960), with quadratic weights on ordinal criteria. "
        "Alpha: agreement among all judges, or all people (Krippendorff), ordinal on ordinal "
        "criteria, else nominal. Abstentions are counted and left out. Below each figure: 95 % "
        f"interval, from {fmt.count(RESAMPLES)} resamples of the items, made once for these votes "
        "and kept. " + label(" ".join(missing)),
        help=STRENGTH,
    )
    caveats(chosen)


def caveats(chosen: Chosen) -> None:
    """What makes this pair look better than it is."""
    sheet, reference, rater = chosen.sheet, chosen.reference, chosen.rater
    if PANEL in (reference, rater) and not sheet.ruled:
        st.caption(
            "The votes were imported, so the panel is the majority of its judges; items on which "
            "they tie are left out."
        )
    if reference == PANEL and rater in sheet.judges:
        st.caption(
            "The panel's verdicts contain the rater's own votes, so it agrees with them better "
            "than it would with labels."
        )
    if reference == PEOPLE and rater in sheet.people:
        st.caption("A person is compared with the majority of the others.")


def _alphas(chosen: Chosen, kind: str) -> list[Estimate]:
    return remembered(
        "alphas", (*chosen.about, kind), lambda: agreeing_groups.alphas(chosen.sheet, kind)
    )


def _forest(chosen: Chosen, lines: list[Line]) -> None:
    measure = switch("Measure", keys.MEASURE, MEASURES)
    accuracy = measure == "accuracy"
    dots = [_dot(line, accuracy=accuracy) for line in lines]
    words = "Accuracy" if accuracy else "Kappa"
    sides = visible(words_of(chosen.rater)), visible(words_of(chosen.reference))
    key = state.key(keys.AGREEMENT_CHART, "forest", measure, chosen.criterion, *chosen.pair)
    st.plotly_chart(
        draw.forest(dots, words, "Commonest answer", chosen.criterion),
        key=key,
        on_select=lambda: _on_click(key),
        selection_mode="points",
        config={"displayModeBar": False},
        alt=f"{words} of {sides[0]} against {sides[1]} per criterion, with 95% intervals. "
        "The table below has every figure.",
    )


def _on_click(key: str) -> None:
    points = state.get(key, {}).get("selection", {}).get("points", [])
    if points and "customdata" in points[0]:
        name = points[0]["customdata"]
        name = name[0] if isinstance(name, list) else name
        state.set_address(**{state.CRITERION: name, state.VIEW: "one", keys.CELL: None})


def _dot(line: Line, *, accuracy: bool) -> draw.Dot:
    one = line.accuracy if accuracy else line.kappa
    base = line.commonest.value if accuracy else None
    return draw.Dot(line.name, one.value, one.low, one.high, base, line.n)


def _row(line: Line) -> list[str]:
    return [
        esc(line.name),
        _items(line),
        cell(line.accuracy, share=True),
        fmt.percent(line.commonest.value),
        cell(line.kappa),
    ]


def _items(line: Line) -> str:
    parts = [fmt.count(line.n)]
    if line.abstained:
        parts.append(f'<span class="rs-quiet">{fmt.count(line.abstained)} abstained</span>')
    if line.tied:
        parts.append(f'<span class="rs-quiet">{fmt.count(line.tied)} tied</span>')
    if line.small:
        parts.append(tag("few: uncertain", "warn"))
    return "<br>".join(parts)
