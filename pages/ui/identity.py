"""Who is at the screen: signed in where a login is configured, else a name given once.

A name given once is kept in this browser (not in the address, which people share), so that a
reload or another tab finds it. It is no proof of anything; a configured login is.
"""

from __future__ import annotations

import secrets

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from core.domain.review import Seat
from core.services import reviewers
from pages.ui import review_keys as keys
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import label
from pages.ui.widgets import shown_errors

# Text that reaches the script is data (`data`), and what comes back is text from this browser.
_REMEMBER = """
export default function({ data, setStateValue }) {
  const place = "rubric-studio-reviewer";
  try {
    if (data.keep !== null) {
      if (data.keep === "") window.localStorage.removeItem(place);
      else window.localStorage.setItem(place, data.keep);
    }
    setStateValue("name", window.localStorage.getItem(place) || "");
  } catch (refused) {
    setStateValue("name", "");
  }
}
"""


def seat() -> Seat | None:
    """The seat of whoever is here; asks for a name, and gives `None`, while nobody is known."""
    name = _signed_in() if _login_configured() else _given()
    if name is None:
        return None
    return reviewers.seat(store(), name, _session())


def show_seat(who: Seat) -> None:
    """One quiet line: who reviews here, and how to become somebody else."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"You are **{label(who.name)}** ({who.role}).")
        signed = _login_configured()
        st.button(
            "Log out" if signed else "Not you?",
            key=state.key(keys.IDENTITY, "leave"),
            type="tertiary",
            on_click=st.logout if signed else _leave,
        )


def _session() -> str:
    if not state.get(keys.SESSION):
        state.put(keys.SESSION, secrets.token_hex(8))
    return str(state.get(keys.SESSION))


def _login_configured() -> bool:
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False  # no secrets file at all: nobody configured a login


def _signed_in() -> str | None:
    user = st.user
    if not user.is_logged_in:
        st.html('<div class="rs-empty"><b>Log in to review</b></div>')
        with st.container(horizontal=True, horizontal_alignment="center"):
            st.button("Log in", key=state.key(keys.IDENTITY, "login"), on_click=st.login)
        return None
    if user.get("email_verified") is False:
        st.error("Your provider says that your e-mail address is not verified.")
        return None
    # The address is what a provider guarantees; people may change the name that is shown.
    name = str(user.get("email") or user.get("sub") or "").strip().casefold()
    reviewers.sign_in(store(), name)
    return name


def _given() -> str | None:
    name: str | None = state.get(keys.NAME)
    remembered = _remember(state.get(keys.KEEP))
    if name is None and remembered and state.get(keys.KEEP) is None:
        name = reviewers.sign_in(store(), remembered).name
        state.put(keys.NAME, name)
    if name is None:
        _ask()
    return name


def _remember(keep: str | None) -> str:
    """What this browser remembers; `keep` is what it is to remember from now on, if anything."""
    found = _browser()(
        key=state.key(keys.IDENTITY, "browser"),
        data={"keep": keep},
        default={"name": ""},
        height=1,
        on_name_change=lambda: None,
    )
    return str(found.name or "").strip()


def _browser() -> st.components.v2.types.ComponentRenderer:
    return st.components.v2.component("rubric_studio_reviewer", js=_REMEMBER)


def _ask() -> None:
    st.html(
        '<div class="rs-empty"><b>Who reviews?</b><br>Your name stands beside every decision of '
        "yours. It is kept in this browser.</div>"
    )
    with (
        st.container(horizontal=True, horizontal_alignment="center"),
        st.form(state.key(keys.IDENTITY, "form"), width=380),
    ):
        st.text_input("Your name", key=state.key(keys.IDENTITY, "name"), max_chars=100)
        st.form_submit_button("Start", type="primary", on_click=_enter, width="stretch")


def _enter() -> None:
    with shown_errors():
        name = str(state.get(state.key(keys.IDENTITY, "name")) or "")
        found = reviewers.sign_in(store(), name)
        state.put(keys.NAME, found.name)
        state.put(keys.KEEP, found.name)


def _leave() -> None:
    state.drop(keys.NAME)
    state.put(keys.KEEP, "")
