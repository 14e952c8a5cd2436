"""The id of this browser, kept in a cookie: it distinguishes drafts if people do not sign in."""

from __future__ import annotations

import re
import secrets

import streamlit as st

from pages.ui import state
from pages.ui.state import BROWSER

NAME = "rubric-studio-browser"

_JS = """
export default function({ data }) {
  document.cookie = `${data.name}=${data.id}; path=/; max-age=31536000; SameSite=Lax`;
}
"""


def browser_id() -> str:
    """Return the id from the cookie, or before the first cookie a new one for this tab."""
    if not state.get(BROWSER):
        sent = st.context.cookies.get(NAME, "")
        known = re.fullmatch(r"[0-9a-f]{16}", sent)
        state.put(BROWSER, sent if known else secrets.token_hex(8))
    return str(state.get(BROWSER))


def keep_browser_id() -> None:
    """Draw the browser code that writes the cookie."""
    component = st.components.v2.component("rubric_studio_browser", js=_JS)
    component(key=state.key(BROWSER, "cookie"), data={"name": NAME, "id": browser_id()}, height=1)
