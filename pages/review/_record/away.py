"""What people said, to take away: any time, half-way too."""

from __future__ import annotations

import streamlit as st

from core.services import review_export
from core.services.exporting import export
from pages.review._record.words import RECORD_ACT, section
from pages.ui import state
from pages.ui.resources import store


def show(run_id: int) -> None:
    """A button per form."""
    section("To take away, half-way too")
    # A click is answered outside the script's thread, where nothing of Streamlit may be asked.
    held = store()
    with st.container(horizontal=True):
        _button(
            "Judgements, CSV",
            lambda: export(held, run_id, "reviews").data()["reviews.csv"],
            f"run-{run_id}-reviews.csv",
            "One row per vote and per person's verdict, first and final.",
        )
        _button(
            "Items, CSV",
            lambda: review_export.csv_file(review_export.wide_rows(held, run_id)),
            f"run-{run_id}-items.csv",
            "One row per item: score, outcome, verdicts and who settled them.",
        )
        _button(
            "Judgements, JSON lines",
            lambda: review_export.as_jsonl(review_export.long_rows(held, run_id)),
            f"run-{run_id}-reviews.jsonl",
            "The same rows as in the first file.",
        )
        _button(
            "Record",
            lambda: export(held, run_id, "events").text,
            f"run-{run_id}-events.jsonl",
            "Every event, also what was taken back, with what was there before and after.",
        )
        _button(
            "Labelled dataset",
            lambda: export(held, run_id, "labelled").text,
            f"run-{run_id}-labelled.jsonl",
            "The dataset with the labels that people settled laid over its own.",
        )
    st.caption("Names stand in all of them but the dataset. They hold what is there now.")


def _button(words: str, make: object, name: str, help: str) -> None:
    st.download_button(
        words,
        data=make,  # type: ignore[arg-type]
        file_name=name,
        icon=":material/download:",
        key=state.key(RECORD_ACT, "away", name),
        help=help,
        on_click="ignore",
    )
