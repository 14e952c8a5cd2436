"""Who is at the screen: signed in where a login is configured, else a name given once.

A name given once is kept in this browser (not in the address, which people share), so that a
reload or another tab finds it. It is no proof of anything; a configured login is. The session is
one browser tab: it outlives a reload, so that a reload keeps the item that is open.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from importlib.util import find_spec
from typing import NamedTuple

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from core.domain.review import Seat
from core.services.review import reviewers
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label
from pages.ui.widgets import page_header, shown_errors

IDENTITY = "identity"
NAME = "identity_name"
KEEP = "identity_keep"
HEARD = "identity_heard"
SESSION = "identity_session"


# Text that reaches the script is data (`data`), and what comes back is text from this browser.
# A browser that keeps nothing (storage refused) has a session until it is reloaded.
_REMEMBER = """
export default function({ data, setStateValue }) {
  const place = "rubric-studio-reviewer", tab = "rubric-studio-tab";
  const fresh = () => Array.from(crypto.getRandomValues(new Uint8Array(8)),
    (byte) => byte.toString(16).padStart(2, "0")).join("");
  let name = "", session = "";
  try {
    if (data.keep === "") window.localStorage.removeItem(place);
    else if (data.keep !== null) window.localStorage.setItem(place, data.keep);
    name = window.localStorage.getItem(place) || "";
    session = window.sessionStorage.getItem(tab) || fresh();
    window.sessionStorage.setItem(tab, session);
  } catch (refused) {
    session = session || data.session || fresh();
  }
  if (data.session !== session || data.name !== name) setStateValue("heard", { name, session });
}
"""
#: Longest name and session that are taken from a browser.
LONGEST = 100


class _Heard(NamedTuple):
    """What the browser said: the name it keeps, and which tab it is. Empty before it has spoken."""

    name: str = ""
    session: str = ""


class Header(NamedTuple):
    """A page's own header, and how it asks for a name: whoever is asked should see what for."""

    title: str = "Review"
    tells: str = ""
    asks: str = "Who reviews?"


REVIEW = Header()


def seat(header: Header = REVIEW) -> Seat | None:
    """The seat of whoever is here; while nobody is known, asks below `header` and gives `None`."""
    signed = login_configured()
    heard = _listen()
    name = _signed_in(header) if signed else _given(heard, header)
    if name is None:
        return None
    session = _session(heard, wait=signed)
    return None if session is None else reviewers.seat(store(), name, session)


def show_seat(who: Seat) -> None:
    """One quiet line: who reviews here, and how to become somebody else."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"You are **{label(who.name)}** ({who.role}).")
        signed = login_configured()
        st.button(
            "Log out" if signed else "Not you?",
            key=state.key(IDENTITY, "leave"),
            type="tertiary",
            on_click=st.logout if signed else _leave,
        )


def login_configured() -> bool:
    """Whether `.streamlit/secrets.toml` has a section `[auth]`."""
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False  # no secrets file at all: nobody configured a login


def _session(heard: _Heard, *, wait: bool) -> str | None:
    """This tab, as long as it lives; `None` while its browser has yet to say which one it is."""
    known = state.get(SESSION)
    if not known:
        if wait and not heard.session:
            return None
        known = heard.session or secrets.token_hex(8)
        state.put(SESSION, known)
    return str(known)


def _listen() -> _Heard:
    """What this browser remembers; it is told what to remember from now on, if anything."""
    found = st.components.v2.component("rubric_studio_reviewer", js=_REMEMBER)(
        key=state.key(IDENTITY, "browser"),
        data={
            "keep": state.get(KEEP),
            "name": state.get(HEARD, _Heard()).name,
            "session": state.get(HEARD, _Heard()).session,
        },
        default={"heard": {"name": "", "session": ""}},
        height=1,
        on_heard_change=lambda: None,
    )
    said = getattr(found, "heard", None) or {}
    heard = _Heard(*(str(said.get(part) or "")[:LONGEST] for part in _Heard._fields))
    if heard.session:
        state.put(HEARD, heard)
    return heard


def user() -> Mapping[str, object] | None:
    """What the provider says of whoever is logged in; `None`: nobody is."""
    # Where no login is configured Streamlit's user has no such attribute.
    return st.user.to_dict() if getattr(st.user, "is_logged_in", False) else None


def _signed_in(header: Header) -> str | None:
    known = user()
    if known is None:
        page_header(header.title, header.tells)
        st.html('<div class="rs-empty"><b>Log in to review</b></div>')
        if find_spec("authlib") is None:
            st.error(
                "A login is configured, but the package that it needs is not installed. "
                "Install `streamlit[auth]`, then start the app again."
            )
            return None
        with st.container(horizontal=True, horizontal_alignment="center"):
            st.button("Log in", key=state.key(IDENTITY, "login"), type="primary", on_click=st.login)
        return None
    if known.get("email_verified") is False:
        st.error("Your provider says that your e-mail address is not verified.")
        st.button("Log out", key=state.key(IDENTITY, "leave"), on_click=st.logout)
        return None
    # The address is what a provider guarantees; people may change the name that is shown.
    name = str(known.get("email") or known.get("sub") or "").strip().casefold()
    reviewers.sign_in(store(), name)
    return name


def _given(heard: _Heard, header: Header) -> str | None:
    name: str | None = state.get(NAME)
    if name is None and heard.name.strip() and state.get(KEEP) is None:
        name = reviewers.sign_in(store(), heard.name).name
        state.put(NAME, name)
    if name is None:
        # Drawn late: a browser that knows a name says so before one would read the question.
        with st.container(key="rs_late"):
            _ask(header)
    return name


def _ask(header: Header) -> None:
    page_header(header.title, header.tells)
    st.html(
        f'<div class="rs-empty"><b>{esc(header.asks)}</b><br>Your name stands beside every '
        "decision of yours. It is kept in this browser.</div>"
    )
    with (
        st.container(horizontal=True, horizontal_alignment="center"),
        st.form(state.key(IDENTITY, "form"), width=380),
    ):
        st.text_input("Your name", key=state.key(IDENTITY, "name"), max_chars=LONGEST)
        st.form_submit_button("Start", type="primary", on_click=_enter, width="stretch")


def _enter() -> None:
    with shown_errors():
        name = str(state.get(state.key(IDENTITY, "name")) or "")
        found = reviewers.sign_in(store(), name)
        state.put(NAME, found.name)
        state.put(KEEP, found.name)


def _leave() -> None:
    state.drop(NAME)
    state.put(KEEP, "")


# Under which name somebody acts where nobody need sign in first: saving a version, applying one.
#
# The name is the one of `identity` where it is known; a field beside the button asks for it once.


def known_name() -> str:
    """The name of whoever is here, or the empty string; draws nothing."""
    if login_configured():
        user = st.user
        named = user.get("email") or user.get("sub") or "" if user.is_logged_in else ""
        return str(named).strip().casefold()
    return str(state.get(NAME) or "")


def ask_name(key: str) -> str:
    """The name, from a field where it is not known yet; perhaps still empty."""
    name = known_name()
    if name or login_configured():
        return name
    written: str = st.text_input(
        "Your name",
        key=key,
        max_chars=LONGEST,
        width=260,
        help="Stands beside what you do here, for others to read.",
    )
    return written


def sit_down(name: str) -> Seat:
    """The seat of that name, which this tab goes on with; `InputError` for no name."""
    found = reviewers.sign_in(store(), name)
    if not login_configured():
        state.put(NAME, found.name)
        state.put(KEEP, found.name)
    if not state.get(SESSION):
        state.put(SESSION, secrets.token_hex(8))
    return reviewers.seat(store(), found.name, str(state.get(SESSION)))
