"""One criterion, all raters: how far every two agree, and how each spreads its answers."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.metrics.figure import Figure
from core.services import agreeing
from core.services.agreeing import Asked
from pages.measure._agreement.choosing import Chosen
from pages.ui import agreement_keys as keys
from pages.ui import format as fmt
from pages.ui import state
from pages.ui.text import esc, one_line, visible
from pages.ui.widgets import table

PLAIN = {"displayModeBar": False}


def show(chosen: Chosen) -> None:
    """Both plots side by side, each with its table."""
    left, right = st.columns(2, gap="large")
    with left:
        _every_two(chosen)
    with right:
        _spread(chosen)


def _every_two(chosen: Chosen) -> None:
    columns, found = agreeing.kappas(chosen.sheet, chosen.criterion)
    names = [agreeing.name_of(one) for one in columns]
    st.caption("Kappa of every two raters (beside itself a rater is 1, or undefined)")
    st.plotly_chart(
        draw.agreement_cells(names, [[one.value for one in row] for row in found]),
        key=state.key(keys.AGREEMENT_CHART, "raters", chosen.run_id, chosen.criterion),
        config=PLAIN,
        alt="Kappa of every two raters as a heat map; the table below has its figures.",
    )
    with st.expander("The same as a table", icon=":material/table_rows:"):
        pairs = [
            (one, other, found[a][b])
            for a, one in enumerate(names)
            for b, other in enumerate(names)
            if a < b
        ]
        table(
            ("Rater", "Rater", "Kappa", "Items"),
            ([esc(a), esc(b), _value(one), fmt.count(one.n)] for a, b, one in pairs),
            name="Kappa of every two raters",
            numbers=(2, 3),
        )


def _value(one: Figure) -> str:
    if one.value is not None:
        return fmt.score(one.value)
    return f'undefined<br><span class="rs-quiet rs-wrap">{esc(one.reason)}</span>'


def _spread(chosen: Chosen) -> None:
    asked = chosen.sheet.criterion(chosen.criterion)
    found = agreeing.spread(chosen.sheet, chosen.criterion)
    st.caption("How each spreads its answers")
    st.plotly_chart(
        draw.verdict_bars([_bar(asked, name, *counts) for name, counts in found.items()]),
        key=state.key(keys.AGREEMENT_CHART, "spread", chosen.run_id, chosen.criterion),
        config=PLAIN,
        alt="For every rater the share of its answers by option; the table below has the counts.",
    )
    with st.expander("The same as a table", icon=":material/table_rows:"):
        table(
            ("Rater", *(one_line(name, 40) for name in asked.labels), "Abstained"),
            (
                [esc(agreeing.name_of(name)), *map(fmt.count, counts), fmt.count(abstained)]
                for name, (counts, abstained) in found.items()
            ),
            name="Answers of every rater",
            numbers=range(1, len(asked.labels) + 2),
        )


def _bar(
    asked: Asked, name: str, counts: tuple[int, ...], abstained: int
) -> tuple[str, list[tuple[str, int | None, float | None, int]]]:
    steps = max(1, len(counts) - 1)
    # Of a binary criterion's two levels the first, MET, is the better one.
    first, step = (1.0, -1.0) if asked.scale == "binary" else (0.0, 1.0 / steps)
    pieces: list[tuple[str, int | None, float | None, int]] = [
        (one_line(words, 40), at, first + at * step, n)
        for at, (words, n) in enumerate(zip(asked.labels, counts, strict=True))
    ]
    return visible(agreeing.name_of(name)), [*pieces, ("abstained", None, None, abstained)]
