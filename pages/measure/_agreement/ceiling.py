"""How near every rater comes to the majority of people, beside how near people come themselves."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.services import agreeing_groups
from core.services import numbers as fmt
from core.services.agreeing_groups import Ceiling, Standing
from core.services.agreeing_sheet import PEOPLE
from pages.measure._agreement.choosing import Chosen, words_of
from pages.measure._agreement.words import KINDS, STRENGTH, cell, few
from pages.ui import agreement_keys as keys
from pages.ui import state
from pages.ui.resources import remembered
from pages.ui.text import esc
from pages.ui.widgets import table


def show(chosen: Chosen) -> None:
    """A strip per kind of raters, a sentence, and the table."""
    found = remembered(
        "agreement ceiling",
        (*chosen.about, chosen.criterion),
        lambda: agreeing_groups.ceiling(chosen.sheet, chosen.criterion),
    )
    groups = _groups(found)
    if groups:
        key = state.key(keys.AGREEMENT_CHART, "ceiling", chosen.criterion, *chosen.about)
        st.plotly_chart(
            draw.strips(
                [
                    draw.Strip(
                        KINDS[kind],
                        [(words_of(one.column), one.kappa.value or 0.0) for one in members],
                        _mean(found, kind),
                    )
                    for kind, members in groups
                ],
                "Kappa with the majority of people",
                words_of(chosen.rater),
            ),
            key=key,
            on_select=lambda: _on_click(key, groups),
            selection_mode="points",
            config={"displayModeBar": False},
            alt="Kappa of every rater with the majority of people, by kind; the table has them.",
        )
    st.html(f'<div class="rs-prose">{esc(_sentence(found))}</div>')
    st.caption(
        "People are compared with the majority of the others, judges with that of all people. "
        f"The line is the mean. {fmt.plural(found.ties, 'item')} without a majority left out. "
        f"{few(len(chosen.sheet.items))}",
        help=STRENGTH,
    )
    with st.expander("The same as a table", icon=":material/table_rows:"):
        table(
            ("Rater", "Kind", "Kappa", "Items"),
            (
                [
                    esc(words_of(one.column)),
                    KINDS[one.kind],
                    cell(one.kappa),
                    fmt.count(one.n),
                ]
                for one in _sorted(found)
            ),
            name="Kappa with the majority of people",
            numbers=(2, 3),
        )


def _groups(found: Ceiling) -> list[tuple[str, list[Standing]]]:
    groups = [
        (kind, [o for o in found.standings if o.kind == kind and o.kappa.value is not None])
        for kind in KINDS
    ]
    return [(kind, members) for kind, members in groups if members]


def _mean(found: Ceiling, kind: str) -> float | None:
    return found.means[kind].value if kind in found.means else None


def _sorted(found: Ceiling) -> list[Standing]:
    return sorted(found.standings, key=lambda o: (o.kappa.value is None, -(o.kappa.value or 0.0)))


def _sentence(found: Ceiling) -> str:
    said = []
    for kind, words in (
        ("human", "People agree with each other at a mean kappa of"),
        ("llm", "LLM judges reach"),
        ("offline", "offline judges reach"),
    ):
        one = found.means.get(kind)
        if one is None or one.value is None:
            continue
        ends = f" ({fmt.score(one.low)} to {fmt.score(one.high)})" if one.low is not None else ""
        said.append(f"{words} {fmt.score(one.value)}{ends}")
    if not said:
        return "Kappa with the majority of people is undefined for everybody."
    text = "; ".join(said)
    best = next(
        (o for o in _sorted(found) if o.kind != "human" and o.kappa.value is not None), None
    )
    if best is not None:
        text += f"; the nearest is {words_of(best.column)} with {fmt.score(best.kappa.value)}"
    return text[0].upper() + text[1:] + "."


def _on_click(key: str, groups: list[tuple[str, list[Standing]]]) -> None:
    points = state.get(key, {}).get("selection", {}).get("points", [])
    if points and "customdata" in points[0]:
        group, at = points[0]["customdata"][:2]
        rater = groups[group][1][at].column
        state.set_address(
            **{keys.REFERENCE: PEOPLE, keys.RATER: rater, state.VIEW: "one", keys.CELL: None}
        )
