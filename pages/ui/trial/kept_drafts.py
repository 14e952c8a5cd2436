"""Drafts of rubrics by the browser that wrote them: its own are listed, others' on request."""

from __future__ import annotations

import streamlit as st

from core.services.rubrics import library
from core.services.rubrics.library import KeptDraft
from core.text import numbers as fmt
from pages.ui import state
from pages.ui.drafts import draft_owner
from pages.ui.resources import store

#: Whether drafts that other browsers wrote are listed, too.
OTHERS = "drafts_of_others"


def is_own(stored: KeptDraft) -> bool:
    """Return whether this browser stored the work, or the work names no browser."""
    return stored.browser in ("", draft_owner()["browser"])


def writer(stored: KeptDraft) -> str:
    """Return " by NAME" for a draft's author; empty if the draft is from this browser."""
    return "" if is_own(stored) else f" by {stored.author or 'another browser'}"


def listed_drafts(chosen: str) -> list[KeptDraft]:
    """Return this browser's drafts, then the chosen one and, if switched on here, all others."""
    kept = library.all_kept_drafts(store())
    own_drafts = [stored for stored in kept if is_own(stored)]
    others = [stored for stored in kept if not is_own(stored)]
    if not others:
        return own_drafts
    words = f"Also {fmt.plural(len(others), 'draft')} of other browsers"
    if st.toggle(words, key=state.key(OTHERS), persist_state="session"):
        return own_drafts + others
    return own_drafts + [stored for stored in others if stored.name == chosen]
