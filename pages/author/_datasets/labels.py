"""How labels are spread over the options, criterion by criterion."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.services.datasets import DatasetVersion
from pages.ui import dataset_cache
from pages.ui.text import one_line
from pages.ui.widgets import empty_state


def show(version: DatasetVersion) -> None:
    """One table: criterion, label, how many items, which share of that criterion's labels."""
    counts = dataset_cache.label_counts(version.id)
    if not counts:
        empty_state(
            "No labels yet",
            "Labels tell how far judges can be trusted, and offline judges learn from them. "
            "Import a file with label columns as a new version.",
        )
        return
    st.caption(
        "What people said. Where nearly all labels are one and the same, a judge that always says "
        "that looks good and knows nothing."
    )
    st.dataframe(
        _rows(counts),
        hide_index=True,
        column_config={
            "Criterion": st.column_config.TextColumn(pinned=True, width="medium"),
            "Label": st.column_config.TextColumn(width="medium"),
            "Items": st.column_config.NumberColumn(format="localized"),
            "Share": st.column_config.ProgressColumn(
                min_value=0, max_value=1, format="percent", help="Of this criterion's labels."
            ),
        },
        alt="Labels by criterion: how many items have each, and their share.",
    )


def _rows(counts: dict[str, dict[str, int]]) -> list[dict[str, Any]]:
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
