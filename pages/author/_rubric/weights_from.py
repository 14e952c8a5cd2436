"""Where grades come from: a dataset of the app, or a table that is at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import streamlit as st

from core.domain.rubric import Rubric
from core.identity import text_hash
from core.services import gradebook, weights_from_grades
from core.services.weights_from_grades import Inferred
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.text import one_line

WEIGHTS_SOURCE = "weights_source"
WEIGHTS_FILE = "weights_file"
WEIGHTS_TEXT = "weights_text"
WEIGHTS_DATASET = "weights_dataset"
WEIGHTS_TOTAL = "weights_total"
WEIGHTS_STEP = "weights_step"
WEIGHTS_ACT = "weights_act"

DATASET, TABLE = "A dataset", "A table"
EXAMPLE = "id,Accuracy,Tone,total\nann,MET,Warm,9\nbob,UNMET,Cold,2"


class Source(NamedTuple):
    """Grades: what they are told apart by, the fields that could be totals, and the inference."""

    about: tuple[str, ...]
    fields: list[str]
    infer: Callable[[str, float | None], Inferred]


def choose(name: str, rubric: Rubric) -> Source | None:
    """The grades that are chosen; `None` where there are none yet."""
    key = state.key(WEIGHTS_SOURCE, name)
    state.seed(key, DATASET)
    source = st.segmented_control(
        "Grades from", [DATASET, TABLE], key=key, required=True, label_visibility="collapsed"
    )
    return _table(name, rubric) if source == TABLE else _dataset(name, rubric)


def _dataset(name: str, rubric: Rubric) -> Source | None:
    sets = weights_from_grades.sources(store())
    if not sets:
        st.caption("No dataset has labels yet. Bring one in on the Datasets page, or use a table.")
        return None
    version: int = st.selectbox(
        "Dataset",
        list(sets),
        key=state.key(WEIGHTS_DATASET, name),
        format_func=lambda one: one_line(sets[one], 60),
    )
    fields = remembered(
        "totals", (version,), lambda: weights_from_grades.totals_in(store(), version)
    )
    return Source(
        (str(version),),
        fields,
        lambda field, step: weights_from_grades.infer_from(
            store(), rubric, version, field, step=step
        ),
    )


def _table(name: str, rubric: Rubric) -> Source | None:
    upload: Any = st.file_uploader(
        "File", type=["csv", "tsv", "json", "jsonl"], key=state.key(WEIGHTS_FILE, name)
    )
    pasted = st.text_area(
        "Or paste it here",
        key=state.key(WEIGHTS_TEXT, name),
        height=110,
        placeholder=EXAMPLE,
        help="A column named like each criterion with the option each item got, and one with the "
        "total. Texts are not needed.",
    )
    data = upload.getvalue() if upload else str(pasted or "").encode()
    if not data.strip():
        return None
    items = gradebook.read_grades(data, str(upload.name) if upload else "pasted.csv", rubric)
    return Source(
        (text_hash(data.decode("utf-8", "replace")),),
        list(weights_from_grades.totals_of(items)),
        lambda field, step: weights_from_grades.infer(rubric, items, field, step=step),
    )
