"""The findings of probes: sentences, a picture for one judge, and every figure in a table."""

from __future__ import annotations

import streamlit as st

from core import figures as draw
from core.services.diagnostics.probe_results import CHANGES, PROMISED, ProbeFigure, ProbeResult
from core.text import numbers as fmt
from pages.agreement import selection as keys
from pages.agreement.selection import chosen_judge
from pages.agreement.words import sentence_list, show_section
from pages.ui import routes, state
from pages.ui.text import esc
from pages.ui.widgets import draw_table

HEADS = (
    *("Edit", "Earns more", "95% interval", "Answers", "Changed", "By a line", "By itself"),
    "Most on",
)


def show(probe_result: ProbeResult) -> None:
    """Draw all findings of a run's newest probe."""
    show_section("What edits do")
    sentence_list(probe_result.findings, none="No edit significantly moves any of these judges.")
    st.caption(PROMISED)
    judge = chosen_judge("probe", (shift.judge for shift in probe_result.whole))
    judge_effects = [shift for shift in probe_result.whole if shift.judge == judge]
    shifts = [
        shift
        for shift in judge_effects
        if shift.measure != CHANGES and shift.effect.estimate is not None
    ]
    if shifts:
        dots = [(shift.edit.title, shift.effect.figure) for shift in shifts]
        axis = "Earned more, of 1"
        st.plotly_chart(
            draw.forest(
                dots, axis, "A judge that no edit moves", [0.0] * len(dots), full_scale=False
            ),
            key=state.key(keys.AGREEMENT_CHART, "probe", judge, probe_result.run.id),
            config={"displayModeBar": False},
            alt=f"{axis}, under each edit, with 95% intervals; the table below has the numbers.",
        )
    _edit_findings(probe_result, judge_effects)
    routes.draw_link(
        routes.RUN, "The run of this probe, with every vote", {state.RUN: probe_result.run.id}
    )


def _edit_findings(probe_result: ProbeResult, judge_effects: list[ProbeFigure]) -> None:
    draw_table(
        HEADS,
        ([_finding_title(shift), *_finding_cells(probe_result, shift)] for shift in judge_effects),
        name="What each edit does to this judge's answers",
        numbers=range(1, 7),
    )
    doses = next((shift.doses for shift in judge_effects if shift.doses), ())
    if doses:
        steps = ", ".join(f"by {fmt.percent(d)} {fmt.score(e.estimate)}" for d, e in doses)
        st.caption(
            f"Earns more when its text is padded {steps}; the first row is per doubled length."
        )
    st.caption(
        "Earns more: how much more of the best value of a criterion (0 to 1) the edited "
        "texts earn than the originals. Changed: the share of answers that differ under "
        "the edit; then, for comparison, with an added last line without content, and "
        "when the same text is asked again. Reversed options count by how many more "
        "answers change than with such a line. Most on: the criteria on which the effect "
        "is significant."
    )


def _finding_title(figure: ProbeFigure) -> str:
    mark = "✕ " if figure.accused else ""
    return f"{mark}{esc(figure.edit.title)}{' (earned)' if figure.earned else ''}"


def _finding_cells(probe_result: ProbeResult, figure: ProbeFigure) -> list[str]:
    form = fmt.percent if figure.measure == CHANGES else fmt.score
    value, ends, reason = figure.effect.figure.words(form)
    head = [
        value,
        ends or f'<span class="rs-quiet rs-wrap">{esc(reason)}</span>',
        fmt.count(figure.effect.n),
    ]
    if figure.effect.estimate is None:
        return [*head, *[fmt.DASH] * 4]
    parts = [
        f"{esc(p.criterion)} {fmt.score(p.effect.estimate)}" for p in probe_result.parts(figure)[:3]
    ]
    return [
        *head,
        fmt.percent(figure.changed.value),
        fmt.percent(figure.nothing.value),
        fmt.percent(figure.itself.value),
        "; ".join(parts) or fmt.DASH,
    ]
