"""The labels under a rubric: their spread, the majority baseline, what is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core import figures as draw
from core.domain.library import DatasetVersion
from core.domain.rubric import Rubric
from core.services.datasets import label_draws, label_stats
from core.services.datasets.label_stats import RARE, CriterionLabels
from core.services.results import fair_sample
from core.text import numbers as fmt
from pages.datasets.items import DATASET_DRAW, DATASET_PLOT, DATASET_RUBRIC
from pages.ui import resources, state
from pages.ui.resources import disabled_without, remembered, store
from pages.ui.text import esc, one_line
from pages.ui.widgets import choose_one, draw_table, empty_state, figure_cell, shown_errors, tag

#: The most criteria in one plot; a rubric may have hundreds.
MOST = 40


def show(version: DatasetVersion) -> None:
    """Draw the labels under the best matching rubric or another, or as a plain table."""
    counts = resources.label_counts(version.id)
    if not counts:
        empty_state(
            "No labels yet",
            "Labels tell how far judges can be trusted, and offline judges learn from them. "
            "Import a file with label columns as a new version.",
        )
        return
    choices = label_stats.rubrics_for(store(), version.id, counts)
    if not choices:
        st.caption("No rubric here has the criteria of these labels, so they are shown as written.")
        _plain_table(counts)
        _draw_declaration(version)
        return
    chosen = _rubric_of_labels(version, choices)
    criteria, elsewhere = remembered(
        "label stats",
        (version.id, chosen),
        lambda: label_stats.label_stats(store(), version.id, choices[chosen]),
    )
    _label_plot(version, criteria)
    _label_table(criteria)
    _label_notes(criteria, elsewhere)
    _draw_declaration(version)


def _rubric_of_labels(version: DatasetVersion, choices: dict[int, Rubric]) -> int:
    """Return the version of the chosen rubric; 0 for the dataset's own."""
    key = state.key(DATASET_RUBRIC, version.id)
    if state.get(key) not in choices:
        state.put(key, next(iter(choices)))
    names = {at: rubric.name + ("" if at else " (came with it)") for at, rubric in choices.items()}
    chosen: int = st.selectbox(
        "Labels by the rubric",
        list(choices),
        key=key,
        format_func=lambda value: one_line(names[value], 90),
        width=420,
    )
    return chosen


def _label_plot(version: DatasetVersion, criteria: Sequence[CriterionLabels]) -> None:
    labelled = [
        criterion
        for criterion in criteria
        if criterion.labelled or criterion.abstained or criterion.strange
    ]
    if not labelled:
        st.caption("No label answers a criterion of this rubric.")
        return
    st.plotly_chart(
        draw.verdict_bars(
            [(criterion.name, _bar_pieces(criterion)) for criterion in labelled[:MOST]]
        ),
        key=state.key(DATASET_PLOT, version.id),
        config={"displayModeBar": False},
        alt="The share of each label, a bar per criterion. The table below has the counts.",
    )


def _bar_pieces(labels: CriterionLabels) -> list[tuple[str, int | None, float | None, int]]:
    top = max(1, len(labels.counts) - 1)
    order = list(enumerate(labels.counts.items()))
    pieces: list[tuple[str, int | None, float | None, int]] = [
        (label, at, (top - at if labels.best_first else at) / top, number)
        for at, (label, number) in order
    ]
    unknown = sum(labels.strange.values())
    return [
        *pieces,
        ("abstained", None, None, labels.abstained),
        ("no option", None, None, unknown),
    ]


def _label_table(criteria: Sequence[CriterionLabels]) -> None:
    draw_table(
        ("Criterion", "Labels", "Missing", "Spread", "Always the most common", "By option"),
        map(_label_row, criteria),
        name="Labels per criterion",
        numbers=(1, 2, 3, 4),
    )
    st.caption(
        "Spread: the entropy of the labels divided by its maximum for this number of options "
        "(0: all the same, 1: even). Accuracy of always giving the most common label: the "
        "accuracy of a judge that always gives that label. A useful judge must be more accurate."
    )


def _label_row(labels: CriterionLabels) -> list[str]:
    always = fmt.percent(labels.baseline.value)
    if labels.commonest:
        always += f'<br><span class="rs-quiet rs-wrap">{esc(one_line(labels.commonest, 40))}</span>'
    counts = [
        f"{esc(one_line(label, 40))} {fmt.count(number)}"
        + (f" {tag('rare', 'warn')}" if number < RARE else "")
        for label, number in (labels.counts.items() if labels.labelled else ())
    ]
    counts += [f"abstained {fmt.count(labels.abstained)}"] if labels.abstained else []
    counts += [
        f"{esc(one_line(label, 40))} {fmt.count(number)} {tag('no option', 'bad')}"
        for label, number in labels.strange.items()
    ]
    labelled = fmt.count(labels.labelled) + (
        f" {tag('few', 'warn')}" if labels.labelled < 20 else ""
    )
    return [
        esc(labels.name),
        labelled,
        fmt.count(labels.missing),
        figure_cell(labels.entropy, interval=False),
        always,
        f'<span class="rs-wrap">{"<br>".join(counts) or fmt.DASH}</span>',
    ]


def _label_notes(criteria: Sequence[CriterionLabels], elsewhere: Mapping[str, int]) -> None:
    unknown = sum(sum(criterion.strange.values()) for criterion in criteria)
    if unknown:
        st.warning(
            f"Not an option of their criterion: {fmt.plural(unknown, 'label')}. They are not "
            "used to train or to measure judges.",
            icon=":material/label_off:",
        )
    if elsewhere:
        names = ", ".join(f"{esc(one_line(n, 60))} ({c})" for n, c in elsewhere.items())
        st.html(f'<div class="rs-quiet">Labels for what this rubric does not ask: {names}</div>')


def _plain_table(counts: dict[str, dict[str, int]]) -> None:
    st.dataframe(
        _count_rows(counts),
        hide_index=True,
        column_config={
            "Criterion": st.column_config.TextColumn(pinned=True, width="medium"),
            "Label": st.column_config.TextColumn(width="medium"),
            "Items": st.column_config.NumberColumn(format="localized"),
            "Share": st.column_config.ProgressColumn(
                min_value=0,
                max_value=1,
                format="percent",
                help=("As a share of this criterion's labels."),
            ),
        },
        alt="Labels by criterion: how many items have each, and their share.",
    )


def _count_rows(counts: dict[str, dict[str, int]]) -> list[dict[str, Any]]:
    return [
        {
            "Criterion": one_line(criterion, 100),
            "Label": one_line(label, 100),
            "Items": number,
            "Share": number / sum(labels.values()),
        }
        for criterion, labels in counts.items()
        for label, number in labels.items()
    ]


# Whether the dataset's own labels were drawn at random: only a person knows.

ALIKE, NOTED = "alike", "noted"
HOW = {ALIKE: "The same chance for all", NOTED: "Chances in a note"}


def _draw_declaration(version: DatasetVersion) -> None:
    """Show the declaration with a way to withdraw it, or the way to declare it."""
    if not 0 < version.labelled < version.items:
        return
    st.html('<div class="rs-section">Were these labels drawn at random?</div>')
    draw = label_draws.declared_draw(store(), version.id)
    share = f"{fmt.count(version.labelled)} of {fmt.plural(version.items, 'item')}"
    if draw is not None:
        warning = fair_sample.declaration_contradiction(store(), version.id)
        speak = (
            f"They are {share}. In results that are corrected by people, they represent all items."
        )
        caption = f"{label_draws.draw_words(draw)} {warning or speak}"
        st.html(f'<div class="rs-prose">{esc(caption)}</div>')
        st.button(
            "Withdraw",
            key=state.key(DATASET_DRAW, "withdraw", version.id),
            icon=":material/undo:",
            on_click=_on_withdraw,
            args=(version.id,),
            **disabled_without("write"),
        )
        return
    st.caption(
        f"{share} have labels. If they were chosen by chance from all items of this version, "
        "they can represent the others, and means, systems and runs are corrected by them. If "
        "they were picked (the hard ones, the first ones), they cannot. Only you know which. "
        "Every corrected result shows what you declare here, with your name and the day."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        draw_kind = choose_one(
            "How", HOW, default=ALIKE, key=state.key(DATASET_DRAW, "how", version.id)
        )
        note = ""
        if draw_kind == NOTED:
            note = st.text_input(
                "Note with the chance",
                value="chance",
                key=state.key(DATASET_DRAW, "note", version.id),
                help="A key of the items' meta with a number above 0 and at most 1. Items "
                "without a label need it, too.",
            ).strip()
            if not note:
                return
        st.button(
            "Declare",
            key=state.key(DATASET_DRAW, "declare", version.id),
            icon=":material/casino:",
            on_click=_on_declare,
            args=(version.id, note),
            **disabled_without("write"),
        )


def _on_declare(version_id: int, note: str) -> None:
    with shown_errors():
        label_draws.declare(store(), version_id, note)


def _on_withdraw(version_id: int) -> None:
    with shown_errors():
        label_draws.withdraw(store(), version_id)
