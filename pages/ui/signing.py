"""Under which name somebody acts where nobody need sign in first: saving a version, applying one.

The name is the one of `identity` where it is known; a field beside the button asks for it once.
"""

from __future__ import annotations

import secrets

import streamlit as st

from core.domain.review import Seat
from core.services import reviewers
from pages.ui import identity, state
from pages.ui.identity import KEEP, NAME, SESSION
from pages.ui.resources import store


def known_name() -> str:
    """The name of whoever is here, or the empty string; draws nothing."""
    if identity.login_configured():
        user = st.user
        named = user.get("email") or user.get("sub") or "" if user.is_logged_in else ""
        return str(named).strip().casefold()
    return str(state.get(NAME) or "")


def ask_name(key: str) -> str:
    """The name, from a field where it is not known yet; perhaps still empty."""
    name = known_name()
    if name or identity.login_configured():
        return name
    written: str = st.text_input(
        "Your name",
        key=key,
        max_chars=identity.LONGEST,
        width=260,
        help="Stands beside what you do here, for others to read.",
    )
    return written


def sit_down(name: str) -> Seat:
    """The seat of that name, which this tab goes on with; `InputError` for no name."""
    found = reviewers.sign_in(store(), name)
    if not identity.login_configured():
        state.put(NAME, found.name)
        state.put(KEEP, found.name)
    if not state.get(SESSION):
        state.put(SESSION, secrets.token_hex(8))
    return reviewers.seat(store(), found.name, str(state.get(SESSION)))
