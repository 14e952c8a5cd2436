"""Weights from grades: inferred from totals and labels, shown with doubts, taken by one click."""

from __future__ import annotations

import streamlit as st

from core.errors import InputError
from core.identity import content_hash
from core.services import draft_edits
from core.services import numbers as fmt
from core.services.drafts import payload, rubric_from
from core.services.weights_from_grades import Inferred, Weight
from pages.author._rubric import weights_from, work
from pages.author._rubric.weights_from import WEIGHTS_ACT, WEIGHTS_STEP, WEIGHTS_TOTAL
from pages.ui import state
from pages.ui.resources import remembered
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import Figure, figures, shown_errors, table

STEPS: dict[float, str] = {0.0: "as fits", 0.1: "0.1", 0.25: "0.25", 0.5: "0.5", 1.0: "1", 5.0: "5"}
MISFITS = 20


def show(name: str) -> None:
    """Folded up, above the simulator: few rubrics have totals to learn from."""
    with st.expander("Weights from grades", icon=":material/balance:"), shown_errors():
        _show(name)


def _show(name: str) -> None:
    st.caption(
        "Where items have a label for every criterion and one total grade, the weights that the "
        "graders had in mind can be inferred (non-negative least squares)."
    )
    try:
        rubric = rubric_from(work.draft(name))
    except InputError:
        st.caption("The rubric has problems; mend them first (see Check).")
        return
    source = weights_from.choose(name, rubric)
    if source is None:
        return
    if not source.fields:
        st.caption("Nothing beside the labels is a number that could be a total.")
        return
    with st.container(horizontal=True):
        field: str = st.selectbox(
            "Total",
            source.fields,
            key=state.key(WEIGHTS_TOTAL, name, *source.about),
            format_func=lambda one: one_line(one, 60),
        )
        step: float = st.selectbox(
            "Round to",
            list(STEPS),
            key=state.key(WEIGHTS_STEP, name),
            format_func=STEPS.__getitem__,
            width=110,
        )
    about = (content_hash(payload(work.draft(name))), *source.about, field, step)
    found = remembered("weights from grades", about, lambda: source.infer(field, step or None))
    _found(name, found)


def _found(name: str, found: Inferred) -> None:
    figures(
        [
            Figure("R²", fmt.score(found.r2), "Share of the totals' variance that is explained."),
            Figure("R², rounded", fmt.score(found.r2_rounded)),
            Figure("Typical error", fmt.number(found.error, 3), "Root mean square, in points."),
            Figure("Items", fmt.count(found.items), f"{found.left_out} left out as incomplete."),
        ]
    )
    table(
        ("Criterion", "Weight", "95 % interval", "Rounded"),
        map(_line, found.weights),
        name="Inferred weights",
        numbers=(1, 2, 3),
    )
    if found.misfits:
        with st.expander(f"Items that do not fit ({fmt.count(len(found.misfits))})"):
            table(
                ("Item", "Total", "By the weights", "Apart"),
                (
                    [
                        esc(one.item_id),
                        fmt.number(one.total, 4),
                        fmt.number(one.fitted, 4),
                        fmt.weight(round(one.residual, 3)),
                    ]
                    for one in found.misfits[:MISFITS]
                ),
                name="Items that do not fit",
                numbers=(1, 2, 3),
            )
    st.button(
        "Take the rounded weights",
        key=state.key(WEIGHTS_ACT, name),
        icon=":material/check:",
        on_click=_on_take,
        args=(name, found.weights),
    )


def _line(one: Weight) -> list[str]:
    doubt = f'<br><span class="rs-quiet">{esc(one.told)}</span>' if one.told else ""
    between = fmt.DASH
    if one.low is not None and one.high is not None:
        between = f"{fmt.number(one.low, 3)} to {fmt.number(one.high, 3)}"
    return [
        esc(one.criterion) + doubt,
        fmt.number(one.fitted, 4),
        between,
        fmt.weight(one.rounded),
    ]


def _on_take(name: str, weights: tuple[Weight, ...]) -> None:
    with shown_errors():
        draft = work.draft(name)
        by_name = {one.criterion: one for one in weights}
        for criterion in draft["criteria"]:
            one = by_name.get(criterion["name"])
            if one is not None:
                draft = draft_edits.set_criterion(draft, criterion["uid"], "weight", one.rounded)
        work.change(name, draft, redraw=True)
        state.flash(label("The rounded weights were taken over. Undo takes them back."))
