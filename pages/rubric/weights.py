"""Weights inferred from grades: the source of the grades, and the weights with their
uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from core.domain.rubric import Rubric
from core.errors import InputError
from core.identity import content_hash, text_hash
from core.metrics.estimate import Estimate
from core.services.rubrics import draft_criteria, weights_from_grades
from core.services.rubrics.drafts import draft_payload, rubric_from
from core.services.rubrics.weights_from_grades import InferredWeights, Weight
from core.text import numbers as fmt
from pages.ui import drafts, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import LabelledFigure, choose_one, draw_table, show_figures, shown_errors

WEIGHTS_SOURCE = "weights_source"
WEIGHTS_FILE = "weights_file"
WEIGHTS_TEXT = "weights_text"
WEIGHTS_DATASET = "weights_dataset"
WEIGHTS_TOTAL = "weights_total"
WEIGHTS_STEP = "weights_step"
WEIGHTS_ACT = "weights_act"

DATASET, TABLE = "A dataset", "A table"
EXAMPLE = "id,Accuracy,Tone,total\nann,MET,Warm,9\nbob,UNMET,Cold,2"


#: Grades: their cache key, the fields that could be totals, and the inference from one.
_Grades = tuple[str, list[str], Callable[[str, float | None], InferredWeights]]


def choose_grades(name: str, rubric: Rubric) -> _Grades | None:
    """Return the chosen grades, or `None` if there are none yet."""
    key = state.key(WEIGHTS_SOURCE, name)
    state.seed(key, DATASET)
    source = choose_one("Grades from", [DATASET, TABLE], key=key)
    return _grades_in_table(name, rubric) if source == TABLE else _grades_in_dataset(name, rubric)


def _grades_in_dataset(name: str, rubric: Rubric) -> _Grades | None:
    sets = weights_from_grades.label_sources(store())
    if not sets:
        st.caption(
            "No dataset has labels yet. Import a dataset on the Datasets page, or use a table."
        )
        return None
    version: int = st.selectbox(
        "Dataset",
        list(sets),
        key=state.key(WEIGHTS_DATASET, name),
        format_func=lambda value: one_line(sets[value], 60),
    )
    fields = remembered(
        "totals", (version,), lambda: weights_from_grades.total_fields(store(), version)
    )
    return (
        str(version),
        fields,
        lambda field, step: weights_from_grades.infer_from_dataset(
            store(), rubric, version, field, step=step
        ),
    )


def _grades_in_table(name: str, rubric: Rubric) -> _Grades | None:
    upload: Any = st.file_uploader(
        "File", type=["csv", "tsv", "json", "jsonl"], key=state.key(WEIGHTS_FILE, name)
    )
    pasted = st.text_area(
        "Or paste it here",
        key=state.key(WEIGHTS_TEXT, name),
        height=110,
        placeholder=EXAMPLE,
        help="One column per criterion, with its name and the option of each item, and one "
        "column with the total. Texts are not needed.",
    )
    data = upload.getvalue() if upload else str(pasted or "").encode()
    if not data.strip():
        return None
    items = weights_from_grades.read_grades(
        data, str(upload.name) if upload else "pasted.csv", rubric
    )
    return (
        text_hash(data.decode("utf-8", "replace")),
        list(weights_from_grades.totals_by_field(items)),
        lambda field, step: weights_from_grades.infer_weights(rubric, items, field, step=step),
    )


STEPS: dict[float, str] = {0.0: "as fits", 0.1: "0.1", 0.25: "0.25", 0.5: "0.5", 1.0: "1", 5.0: "5"}
MISFITS = 20


def show(name: str) -> None:
    """Draw the inference folded, above the simulator, since few rubrics have totals to learn
    from.
    """
    with st.expander("Weights from grades", icon=":material/balance:"), shown_errors():
        _show_form(name)


def _show_form(name: str) -> None:
    st.caption(
        "Where items have a label for every criterion and one total grade, the weights that the "
        "graders had in mind can be inferred (non-negative least squares)."
    )
    try:
        rubric = rubric_from(drafts.draft(name))
    except InputError:
        st.caption("First fix the rubric's problems (see Check).")
        return
    source = choose_grades(name, rubric)
    if source is None:
        return
    about, fields, infer = source
    if not fields:
        st.caption("Apart from the labels, no column of numbers could hold totals.")
        return
    with st.container(horizontal=True):
        field: str = st.selectbox(
            "Total",
            fields,
            key=state.key(WEIGHTS_TOTAL, name, about),
            format_func=lambda field: one_line(field, 60),
        )
        step: float = st.selectbox(
            "Round to",
            list(STEPS),
            key=state.key(WEIGHTS_STEP, name),
            format_func=STEPS.__getitem__,
            width=110,
        )
    cache_key = (content_hash(draft_payload(drafts.draft(name))), about, field, step)
    inferred = remembered("weights from grades", cache_key, lambda: infer(field, step or None))
    _show_weights(name, inferred)


def _show_weights(name: str, inferred: InferredWeights) -> None:
    show_figures(
        [
            LabelledFigure(
                "R²",
                fmt.score(inferred.r2),
                "Share of the totals' variance that the weights explain.",
            ),
            LabelledFigure("R², rounded", fmt.score(inferred.r2_rounded)),
            LabelledFigure(
                "Typical error",
                fmt.number(inferred.error, 3),
                "Root mean square of the differences, in points.",
            ),
            LabelledFigure(
                "Items", fmt.count(inferred.items), f"{inferred.left_out} left out as incomplete."
            ),
        ]
    )
    draw_table(
        ("Criterion", "Weight", "95% interval", "Rounded"),
        map(_weight_row, inferred.weights),
        name="Inferred weights",
        numbers=(1, 2, 3),
    )
    if inferred.misfits:
        with st.expander(f"Items whose totals differ ({fmt.count(len(inferred.misfits))})"):
            draw_table(
                ("Item", "Total", "By the weights", "Apart"),
                (
                    [
                        esc(item_id),
                        fmt.number(total, 4),
                        fmt.number(total - residual, 4),
                        fmt.weight(round(residual, 3)),
                    ]
                    for item_id, total, residual in inferred.misfits[:MISFITS]
                ),
                name="Items with other totals",
                numbers=(1, 2, 3),
            )
    st.button(
        "Use the rounded weights",
        key=state.key(WEIGHTS_ACT, name),
        icon=":material/check:",
        on_click=_on_take,
        args=(name, inferred.weights),
    )


def _weight_row(weight: Weight) -> list[str]:
    doubt = f'<br><span class="rs-quiet">{esc(weight.told)}</span>' if weight.told else ""
    ends = (
        Estimate(weight.fitted, weight.low, weight.high).words(partial(fmt.number, digits=3)).ends
    )
    return [
        esc(weight.criterion) + doubt,
        fmt.number(weight.fitted, 4),
        ends or fmt.DASH,
        fmt.weight(weight.rounded),
    ]


def _on_take(name: str, weights: tuple[Weight, ...]) -> None:
    with shown_errors():
        draft = drafts.draft(name)
        by_name = {weight.criterion: weight for weight in weights}
        for criterion in draft["criteria"]:
            weight = by_name.get(criterion["name"])
            if weight is not None:
                draft = draft_criteria.set_criterion(
                    draft, criterion["uid"], "weight", weight.rounded
                )
        drafts.change_draft(name, draft, redraw=True)
        state.flash(label("The rubric now has the rounded weights. Undo restores the old ones."))
