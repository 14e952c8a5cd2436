"""Whether people follow the judges once they see what those said."""

from __future__ import annotations

import streamlit as st

from core.domain.review_records import QueueRow
from core.services import numbers as fmt
from core.services.review_anchoring import Anchoring, anchoring
from pages.review._record.keeping import kept
from pages.review._record.words import said, section, share
from pages.ui.resources import store
from pages.ui.text import esc
from pages.ui.widgets import table


def show(queue: QueueRow) -> None:
    """The shares, and a sentence that says what they come to."""
    found = kept("pull", queue, lambda: anchoring(store(), queue.id))
    section("Do the judges pull people along?")
    if not found.revealed and not found.assisted.n:
        said(
            "Not known: no verdict was confirmed after the votes were shown."
            if queue.settings.mode != "blind"
            else "This queue is blind: people never see what the judges said."
        )
        return
    rows = (
        ("Joined the judges after seeing them, of those who had said otherwise", found.toward),
        ("Left the judges after seeing them, of those who had said the same", found.away),
        ("First verdict as the judges', shown without the votes", found.blind),
        ("First verdict as the judges', shown with the votes", found.assisted),
    )
    table(
        ("", "Share"),
        ([esc(words), share(one)] for words, one in rows),
        name="Verdicts before and after the votes were seen",
        numbers=(1,),
    )
    said(_sentence(found))
    st.caption(
        "Agreement is measured by first verdicts, truth is what people said in the end. Items "
        "shown with the votes at once are drawn at random, so that their difference from the "
        "others is what showing the votes did (interval: Newcombe 1998; cells of one item are "
        "taken as independent, so it is somewhat too narrow)."
    )


def _sentence(found: Anchoring) -> str:
    one = found.difference
    if one.value is None or one.low is None or one.high is None:
        return one.reason
    words = f"{abs(one.value) * 100:.0f} points"
    ends = f"95 % interval {fmt.score(one.low)} to {fmt.score(one.high)}"
    if one.low > 0:
        return f"Seeing the votes raises agreement with the judges by {words} ({ends})."
    if one.high < 0:
        return f"Seeing the votes lowers agreement with the judges by {words} ({ends})."
    return f"No pull can be told from chance: the difference is {fmt.score(one.value)} ({ends})."
