"""Estimates and shares of the page in words, and a cache of findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from core.domain.review_records import QueueRow
from core.metrics.estimate import Estimate
from core.services.results import browsing, item_view
from core.services.review import queues
from core.text import numbers as fmt
from pages.ui.resources import remembered, store
from pages.ui.text import esc

RECORD_ACT = "record_act"
RECORD_FIELD = "record_field"


def quiet_html(words: str) -> str:
    """Return the HTML of secondary text."""
    return f'<span class="rs-quiet rs-wrap">{esc(words)}</span>'


def show_section(words: str) -> None:
    """Draw the heading of a part of the page."""
    st.html(f'<div class="rs-section" role="heading" aria-level="2">{esc(words)}</div>')


def show_sentences(words: str) -> None:
    """Draw sentences."""
    st.html(f'<div class="rs-prose">{esc(words)}</div>')


def share_html(estimate: Estimate) -> str:
    """Return a share with its count and interval below; a dash without a count."""
    value, ends, _ = estimate.words(fmt.percent)
    return (
        f"{value}<br>{quiet_html(f'{estimate.hits} of {estimate.n}; {ends}')}"
        if estimate.n
        else value
    )


def minutes_text(value: float) -> str:
    """Return a duration given in minutes.

    >>> minutes_text(0.5), minutes_text(75.0)
    ('30.0 s', '1 h 15 min')
    """
    return fmt.seconds(60 * value)


# Findings of large queues take a second each, so they are computed once per state of the queue.

FoundT = TypeVar("FoundT")


def cached_figure(
    figure: str, queue: QueueRow, make: Callable[[], FoundT], *more: object
) -> FoundT:
    """Return `make()`, or its earlier result for the same verdicts, decisions and cells.

    `more` holds everything else that the figure depends on.
    """
    run = item_view.require_run(store(), queue.run_id)
    cells = queues.cell_count(store(), queue.id)
    cache_key = (queue.id, *browsing.results_state(store(), run), cells, *more)
    return remembered(f"review: {figure}", cache_key, make)
