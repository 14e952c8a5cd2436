"""One criterion, all raters: their agreement with each other, and how close each is to people."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import streamlit as st

from core import figures as draw
from core.metrics.estimate import Estimate
from core.services.agreement import confusion, reliability
from core.services.agreement.rater_pairs import positive_level
from core.services.agreement.rating_sheet import Sheet
from core.services.agreement.ratings import (
    JUDGE_KINDS,
    LABELS,
    PANEL,
    PEOPLE,
    CriterionRatings,
)
from core.text import numbers as fmt
from core.text.names import visible
from pages.agreement import selection as keys
from pages.agreement.calibration import show_judge_tests
from pages.agreement.selection import RatedSelection, name_in_sentence, rater_caption
from pages.agreement.words import KINDS, STRENGTH, few_items_warning, show_section
from pages.ui import state
from pages.ui.resources import remembered
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import draw_table, figure_cell, level_words


def show_near_people(chosen: RatedSelection) -> None:
    """Draw a strip per kind of raters, a sentence, and the table."""
    kappas, means, ties = remembered(
        "agreement ceiling",
        (*chosen.about, chosen.criterion),
        lambda: reliability.closeness_to_majority(
            chosen.sheet, chosen.criterion, confidence=chosen.confidence
        ),
    )
    groups = _groups_of_raters(chosen.sheet, kappas)
    if groups:
        key = state.key(keys.AGREEMENT_CHART, "ceiling", chosen.criterion, *chosen.about)
        st.plotly_chart(
            draw.rater_strips(
                [
                    (
                        KINDS[kind],
                        [(rater_caption(rater), kappas[rater].value or 0.0) for rater in members],
                        means[kind].value if kind in means else None,
                    )
                    for kind, members in groups
                ],
                "Kappa with the majority of people",
                rater_caption(chosen.rater),
            ),
            key=key,
            on_select=lambda: _on_ceiling_click(key, groups),
            selection_mode="points",
            config={"displayModeBar": False},
            alt="Kappa of every rater with the majority of people, by kind, as in the table.",
        )
    st.html(f'<div class="rs-prose">{esc(_ceiling_sentence(chosen.sheet, kappas, means))}</div>')
    st.caption(
        "People are compared with the majority of the others, judges with that of all people. "
        f"The line is the mean. {fmt.plural(ties, 'item')} without a majority are left "
        f"out. {few_items_warning(len(chosen.sheet.items))}",
        help=STRENGTH,
    )
    with st.expander("As a table", icon=":material/table_rows:"):
        draw_table(
            ("Rater", "Kind", "Kappa", "Items"),
            (
                [
                    esc(rater_caption(rater)),
                    KINDS[chosen.sheet.kind(rater)],
                    figure_cell(kappa),
                    fmt.count(kappa.n),
                ]
                for rater, kappa in reliability.closest_first(kappas).items()
            ),
            name="Kappa with the majority of people",
            numbers=(2, 3),
        )


def _groups_of_raters(sheet: Sheet, kappas: Mapping[str, Estimate]) -> list[tuple[str, list[str]]]:
    defined = [rater for rater, kappa in kappas.items() if kappa.value is not None]
    groups = [(kind, [r for r in defined if sheet.kind(r) == kind]) for kind in KINDS]
    return [(kind, members) for kind, members in groups if members]


def _ceiling_sentence(
    sheet: Sheet, kappas: Mapping[str, Estimate], means: Mapping[str, Estimate]
) -> str:
    parts = []
    for kind, phrase in (
        ("human", "People agree with each other at a mean kappa of"),
        ("llm", "LLM judges reach"),
        ("offline", "offline judges reach"),
        ("reviewer", "reviewers reach"),
    ):
        mean = means.get(kind)
        if mean is None or mean.value is None:
            continue
        parts.append(f"{phrase} {mean.words(fmt.score).inline}")
    if not parts:
        return "Kappa with the majority of people is undefined for everybody."
    text = "; ".join(parts)
    for rater, kappa in reliability.closest_first(kappas).items():
        if sheet.kind(rater) in JUDGE_KINDS and kappa.value is not None:
            text += f"; the nearest is {rater_caption(rater)} with {fmt.score(kappa.value)}"
            break
    return text[0].upper() + text[1:] + "."


def _on_ceiling_click(key: str, groups: list[tuple[str, list[str]]]) -> None:
    points = state.get(key, {}).get("selection", {}).get("points", [])
    if points and "customdata" in points[0]:
        group, at = points[0]["customdata"][:2]
        rater = groups[group][1][at]
        state.set_address(
            **{keys.REFERENCE: PEOPLE, keys.RATER: rater, state.VIEW: "one", keys.CELL: None}
        )


PLAIN = {"displayModeBar": False}
#: With at most this many columns, the cells of the matrix have room for their numbers.
ROOM = 12
#: The most pairs and raters in a table; more would be unreadable.
LISTED = 300
GROUPS = {LABELS: "Labels", PANEL: "Panel", **KINDS}


def show(chosen: RatedSelection) -> None:
    """Draw the matrix, the ceiling and the spread, each plot with its table."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        many = len(columns_of(chosen.sheet)) > ROOM
        show_section(f"{'Raters by kappa' if many else 'Every pair of raters'}: {chosen.criterion}")
        _kappa_matrix(chosen)
    with right:
        if len(chosen.sheet.people) > 1:
            show_section("Agreement between people as the ceiling")
            show_near_people(chosen)
        show_section("How answers are spread")
        _verdict_spread(chosen)
    if chosen.sheet.judges and chosen.sheet.people:
        show_judge_tests(chosen)


def columns_of(sheet: Sheet) -> tuple[str, ...]:
    """Return the matrix's columns by kind: labels, majority, panel, judges, people, reviewers."""
    labels = (LABELS,) if sheet.labelled else ()
    majority = (PEOPLE,) if len(sheet.people) > 1 else ()
    panel = (PANEL,) if len(sheet.members) > 1 else ()
    judges = sorted(sheet.judges, key=lambda judge: sheet.kind(judge) == "offline")
    return (*labels, *majority, *panel, *judges, *sheet.people, *sheet.reviewers)


def _column_kind(sheet: Sheet, column: str) -> str:
    return "all" if column in (LABELS, PEOPLE, PANEL) else sheet.kind(column)


def _kappa_matrix(chosen: RatedSelection) -> None:
    sheet = chosen.sheet
    kappas = remembered(
        "agreement matrix",
        (*chosen.about, chosen.criterion),
        lambda: reliability.kappa_matrix(sheet, chosen.criterion, columns_of(sheet)),
    )
    names = [rater_caption(column) for column in columns_of(sheet)]
    if len(names) <= ROOM:
        _kappa_map(chosen, kappas, names)
        return
    _ranked_raters(chosen)
    with st.expander("Heat map of all pairs", icon=":material/grid_on:"):
        _kappa_map(chosen, kappas, names)


def _ranked_raters(chosen: RatedSelection) -> None:
    """Draw a ranked list by kind, since a matrix of many raters is unreadable."""
    ranks, means = remembered(
        "agreement ranks",
        (*chosen.about, chosen.criterion, chosen.reference),
        lambda: reliability.raters_by_agreement(
            chosen.sheet, chosen.criterion, chosen.reference, confidence=chosen.confidence
        ),
    )
    reference = label(name_in_sentence(chosen.reference))
    st.caption(
        f"Kappa with {reference}, highest first in each group; the {level_words()} interval "
        f"is below each figure. {few_items_warning(len(chosen.sheet.items))}",
        help=STRENGTH,
    )
    for kind, title in KINDS.items():
        members = [rater for rater in ranks if chosen.sheet.kind(rater) == kind]
        if not members:
            continue
        mean = means.get(kind)
        middle = (
            "" if mean is None or mean.value is None else f": mean {mean.words(fmt.score).inline}"
        )
        show_section(f"{title}, {fmt.count(len(members))}{middle}")
        with st.container(height=360 if len(members) > ROOM else "content", border=False):
            draw_table(
                ("", "Rater", "Kappa", "Items"),
                (
                    [
                        fmt.count(index),
                        esc(rater_caption(rater)),
                        figure_cell(ranks[rater]),
                        fmt.count(ranks[rater].n),
                    ]
                    for index, rater in enumerate(members[:LISTED], 1)
                ),
                name=f"{title} by kappa",
                numbers=(0, 2, 3),
            )


def _kappa_map(chosen: RatedSelection, kappas: list[list[Estimate]], names: list[str]) -> None:
    sheet, columns = chosen.sheet, columns_of(chosen.sheet)
    key = state.key(keys.AGREEMENT_CHART, "raters", chosen.criterion, *chosen.about)
    values = [[kappa.value for kappa in row] for row in kappas]
    if len(names) <= ROOM:
        figure = draw.agreement_cells(names, values)
    else:
        kinds = groupby(_column_kind(sheet, column) for column in columns)
        parts = [(KINDS.get(kind, "Reference"), len(list(members))) for kind, members in kinds]
        counts = [[kappa.n for kappa in row] for row in kappas]
        figure = draw.agreement_map(names, values, counts, parts)
    st.plotly_chart(
        figure,
        key=key,
        on_select=lambda: _on_click(key, columns),
        selection_mode=("points", "box"),
        config=PLAIN,
        alt="Kappa of every pair of raters as a heat map; the table below has its figures.",
    )
    st.caption(
        "Kappa of every pair of raters, with quadratic weights on an ordinal criterion. "
        f"{'Click' if len(names) <= draw.MOST_NAMES else 'Drag over'} a cell to see that pair "
        "closely.",
        help=STRENGTH,
    )
    if len(names) > ROOM:
        # Streamlit does not allow an expander inside another.
        _pair_table(kappas, names)
        return
    with st.expander("As a table", icon=":material/table_rows:"):
        _pair_table(kappas, names)


def _pair_table(kappas: list[list[Estimate]], names: list[str]) -> None:
    pairs = [
        (name, other, kappas[a][b])
        for a, name in enumerate(names)
        for b, other in enumerate(names)
        if a < b
    ]
    pairs.sort(key=lambda pair: (pair[2].value is None, -(pair[2].value or 0.0)))
    shown = pairs if len(pairs) <= LISTED else [*pairs[: LISTED // 2], *pairs[-LISTED // 2 :]]
    if len(shown) < len(pairs):
        st.caption(f"The {LISTED // 2} highest and the {LISTED // 2} lowest of {len(pairs):,}.")
    draw_table(
        ("Rater", "Rater", "Kappa", "Items"),
        (
            [esc(a), esc(b), figure_cell(figure, interval=False), fmt.count(figure.n)]
            for a, b, figure in shown
        ),
        name="Kappa of every pair of raters",
        numbers=(2, 3),
    )


def _on_click(key: str, columns: tuple[str, ...]) -> None:
    row, column = _clicked_cell(state.get(key, {}).get("selection", {}))
    if row == column or not 0 <= row < len(columns) or not 0 <= column < len(columns):
        return
    # The earlier column is the likelier reference: labels, majority, panel, judges, people.
    open_pair(columns[min(row, column)], columns[max(row, column)])


def _clicked_cell(selection: Any) -> tuple[int, int]:
    """Return the row and column of a clicked cell, or of a dragged box's middle; equal for none."""
    boxes = selection.get("box", [])
    if boxes:
        return round(sum(boxes[0]["y"]) / 2), round(sum(boxes[0]["x"]) / 2)
    points = selection.get("points", [])
    if not points or "customdata" not in points[0]:
        return 0, 0
    row, column = points[0]["customdata"][:2]
    return row, column


def open_pair(reference: str, rater: str) -> None:
    """Open the view of one criterion for that pair."""
    state.set_address(
        **{
            keys.REFERENCE: reference,
            keys.RATER: rater,
            state.VIEW: "one",
            keys.CELL: None,
            state.PAGE: None,
        }
    )


def _verdict_spread(chosen: RatedSelection) -> None:
    ratings = chosen.sheet.criterion(chosen.criterion)
    groups = confusion.spread_of_groups(chosen.sheet, chosen.criterion)
    each = confusion.level_shares(chosen.sheet, chosen.criterion)
    has_room = len(each) <= ROOM
    bars = (
        [_spread_bar(ratings, rater_caption(name), *counts) for name, counts in each.items()]
        if has_room
        else [
            _spread_bar(ratings, GROUPS[name], *groups[name]) for name in GROUPS if name in groups
        ]
    )
    st.plotly_chart(
        draw.verdict_bars(bars),
        key=state.key(keys.AGREEMENT_CHART, "spread", chosen.criterion, *chosen.about),
        config=PLAIN,
        alt="The share of answers by option; the table below has the counts.",
    )
    with st.expander("As a table", icon=":material/table_rows:"):
        headings = (*(one_line(name, 40) for name in ratings.labels), "Abstained")
        for title, name_of, counts_of in (
            ("Kind", lambda name: GROUPS[name], groups),
            ("Rater", rater_caption, each),
        ):
            draw_table(
                (title, *headings),
                (
                    [esc(name_of(name)), *map(fmt.count, counts), fmt.count(abstained)]
                    for name, (counts, abstained) in list(counts_of.items())[:LISTED]
                ),
                name=f"Answers by {title.lower()}",
                numbers=range(1, len(headings) + 1),
            )


def _spread_bar(
    ratings: CriterionRatings, name: str, counts: tuple[int, ...], abstained: int
) -> tuple[str, list[tuple[str, int | None, float | None, int]]]:
    steps = max(1, len(counts) - 1)
    # MET is the better of a binary criterion's two levels, whichever is listed first.
    is_reversed = ratings.scale == "binary" and positive_level(ratings.labels) == 0
    first, step = (1.0, -1.0) if is_reversed else (0.0, 1.0 / steps)
    pieces: list[tuple[str, int | None, float | None, int]] = [
        (one_line(words, 40), index, first + index * step, n)
        for index, (words, n) in enumerate(zip(ratings.labels, counts, strict=True))
    ]
    return visible(name), [*pieces, ("abstained", None, None, abstained)]
