"""The current person: signed in if a login is configured, else named once by hand.

This browser keeps the typed name (not the address, which people share), so that a reload or another
tab has it. The name proves nothing; a configured login does. The session is one browser tab: it
survives a reload, which therefore keeps the open item.
"""

from __future__ import annotations

import secrets
from importlib.util import find_spec
from typing import NamedTuple

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from core.domain.access import Actor, allow
from core.domain.review import Seat
from core.services.access import members
from core.services.review import reviewers
from pages.ui import resources, routes, state
from pages.ui.resources import actor, store
from pages.ui.state import claims
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import page_header, shown_errors

IDENTITY = "identity"
NAME = "identity_name"
KEEP = "identity_keep"
HEARD = "identity_heard"
SESSION = "identity_session"
#: Whether the person just chose another workspace.
CHANGED = "identity_changed"


# Text that reaches the script is data (`data`), and the result is text from this browser. A browser
# that refuses storage has a session until it is reloaded.
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
#: The longest name and session id accepted from a browser.
LONGEST = 100


#: The browser's message: its stored name and its tab id. Empty before the first message.
_Heard = tuple[str, str]


class Header(NamedTuple):
    """A page's own header, shown above the question for a name, so that its purpose is clear.

    It has no title if the page has already drawn one.
    """

    title: str = "Review"
    tells: str = ""
    asks: str = "Who reviews?"

    def show(self) -> None:
        """Draw the header, if any."""
        if self.title:
            page_header(self.title, self.tells)


REVIEW = Header()


def current_seat(header: Header = REVIEW, alone: str = "") -> Seat | None:
    """Return the current user's seat; if unknown, ask below `header` and return `None`.

    If no one has reviewed yet, a person without a name gets the name `alone`, if given.
    """
    if not actor().may("review") and not actor().may("organise"):
        header.show()
        with shown_errors():
            allow(actor(), "review")
        return None
    signed = login_configured()
    memory = _browser_memory()
    if alone and _known_name(memory) is None and may_begin_alone():
        # A browser that remembers a name says so first.
        _, heard = memory
        return take_seat(alone) if heard else None
    name = _signed_in(header) if signed else _ask_for_name(memory, header)
    if name is None:
        return None
    session = _session_id(memory, wait=signed)
    return None if session is None else reviewers.seat_of(store(), name, session)


def may_begin_alone() -> bool:
    """Return whether no name is needed: no one has reviewed yet, and there is no login."""
    return not (login_configured() or reviewers.all_reviewers(store()))


def show_seat(person: Seat) -> None:
    """Draw one quiet line: the current reviewer, and a way to change the name."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"You are **{label(person.name)}** ({person.role}).")
        signed = login_configured()
        st.button(
            "Log out" if signed else "Not you?",
            key=state.key(IDENTITY, "leave"),
            type="tertiary",
            on_click=log_out if signed else _leave_seat,
        )


def login_configured() -> bool:
    """Return whether `.streamlit/secrets.toml` has a section `[auth]`."""
    try:
        return "auth" in st.secrets
    except StreamlitSecretNotFoundError:
        return False  # Without a secrets file, the login is not configured.


def _session_id(memory: _Heard, *, wait: bool) -> str | None:
    """Return this tab's id, which lasts as long as the tab; `None` until the browser sends it."""
    session = state.get(SESSION)
    if not session:
        _, heard = memory
        if wait and not heard:
            return None
        session = heard or secrets.token_hex(8)
        state.put(SESSION, session)
    return str(session)


def _browser_memory() -> _Heard:
    """Return what this browser remembers, and send it what to remember from now on."""
    name, session = state.get(HEARD, ("", ""))
    component = st.components.v2.component("rubric_studio_reviewer", js=_REMEMBER)(
        key=state.key(IDENTITY, "browser"),
        data={
            "keep": state.get(KEEP),
            "name": name,
            "session": session,
        },
        default={"heard": {"name": "", "session": ""}},
        height=1,
        on_heard_change=lambda: None,
    )
    message = getattr(component, "heard", None) or {}
    name, session = (str(message.get(part) or "")[:LONGEST] for part in ("name", "session"))
    if session:
        state.put(HEARD, (name, session))
    # A browser that already reported on another page does not report again.
    last: _Heard = state.get(HEARD, (name, session))
    return last


def _signed_in(header: Header) -> str | None:
    if claims() is None:
        header.show()
        _offer_login("Log in to review")
        return None
    name = known_name()
    if not name:
        st.error("Your provider does not say that your e-mail address is verified.")
        st.button("Log out", key=state.key(IDENTITY, "leave"), on_click=log_out)
        return None
    return reviewers.sign_in(store(), name).name


def _offer_login(caption: str) -> None:
    st.html(f'<div class="rs-empty"><b>{esc(caption)}</b></div>')
    if find_spec("authlib") is None:
        st.error(
            "A login is configured, but the package that it needs is not installed. "
            "Install `streamlit[auth]`, then restart the app."
        )
        return
    with st.container(horizontal=True, horizontal_alignment="center"):
        st.button("Log in", key=state.key(IDENTITY, "login"), type="primary", on_click=st.login)


def sign_in_page(user: Actor) -> None:
    """Draw the only page that a team's server shows to people without access."""
    st.title("Rubric Studio", anchor=False)
    if not login_configured():
        st.error(
            "This server asks everybody to sign in, but no login is configured: its secrets file "
            "has no section `[auth]`. Ask an admin."
        )
    elif claims() is None:
        _offer_login("Sign in to continue")
    else:
        st.error(label(user.refused))
        for workspace in resources.workspaces():
            url = esc(routes.link_address("./", {state.WORKSPACE: workspace.name}))
            st.html(f'<a href="{url}" target="_self">Go to {esc(workspace.title)}</a>')
        st.button("Log out", key=state.key(IDENTITY, "leave"), on_click=log_out)
    _keep_place(reload=False)


def log_out() -> None:
    """Callback: end this sign-in, and every other sign-in of the same member."""
    resources.sign_out()
    st.logout()


def who_is_here() -> None:
    """Draw one quiet line in a team server's sidebar: the current user, and sign-out."""
    user = actor()
    if user.via == "page":
        with st.sidebar:
            _choose_workspace()
            _keep_place(reload=bool(state.get(CHANGED)))
            state.put(CHANGED, False)
            st.caption(f"{label(user.name)} ({user.role})")
            st.button(
                "Log out",
                key=state.key(IDENTITY, "out"),
                type="tertiary",
                icon=":material/logout:",
                on_click=log_out,
            )


def _choose_workspace() -> None:
    """Draw the choice of workspaces, if there are several."""
    by_name = {workspace.name: workspace for workspace in resources.workspaces()}
    if len(by_name) < 2:
        return
    key = state.key(IDENTITY, "workspace")
    state.put(key, state.get(state.INSIDE))
    st.selectbox(
        "Workspace",
        list(by_name),
        key=key,
        format_func=lambda name: one_line(by_name[name].title, 60),
        on_change=_on_workspace,
        args=(key,),
    )


def _on_workspace(key: str) -> None:
    name = state.get(key)
    state.drop_everything()
    state.put(state.INSIDE, name)
    state.put(CHANGED, True)
    state.new_address()


def leave_for_start(chosen: st.Page) -> None:
    """Go to the start page after a change of workspace: ids differ between workspaces."""
    if state.get(CHANGED) and chosen.url_path:
        routes.go_to(routes.START)


# A sign-in leaves the app and returns to its start page, so the tab remembers the intended page. A
# change of workspace reloads the page, so that the browser forgets the other one's fields, too. An
# address that differs only in its workspace adds no step to the browser's history.

_PLACE = """
export default function({ data }) {
  if (data.reload) { location.reload(); return; }
  const wanted = "rubric-studio-wanted", here = location.pathname + location.search;
  try {
    if (!data.known) {
      const entry = !location.search && location.pathname.endsWith("/");
      if (entry) sessionStorage.removeItem(wanted); else sessionStorage.setItem(wanted, here);
      return;
    }
    const to = sessionStorage.getItem(wanted);
    sessionStorage.removeItem(wanted);
    if (to && to[0] === "/" && to[1] !== "/" && to !== here) { location.replace(to); return; }
  } catch (refused) { /* without storage, begin at the start page */ }
  if (document.rubricStudioPlace) return;
  document.rubricStudioPlace = true;
  const push = history.pushState.bind(history);
  history.pushState = (kept, title, to) => {
    const next = new URL(to, location.href);
    next.searchParams.delete(data.name);
    if (next.href === location.href) history.replaceState(kept, title, to);
    else push(kept, title, to);
  };
}
"""


def _keep_place(*, reload: bool) -> None:
    st.components.v2.component("rubric_studio_place", js=_PLACE)(
        key=state.key(IDENTITY, "place"),
        data={"known": claims() is not None, "reload": reload, "name": state.WORKSPACE},
        height=1,
    )


def _known_name(memory: _Heard) -> str | None:
    """Return this tab's name, else the one that the browser remembers, else ``None``."""
    remembered, _ = memory
    if state.get(NAME) is None and remembered.strip() and state.get(KEEP) is None:
        state.put(NAME, reviewers.sign_in(store(), remembered).name)
    name: str | None = state.get(NAME)
    return name


def ask_name_early(key: str) -> None:
    """Take the name that the browser remembers, or draw the field for it, before it is needed."""
    if not login_configured():
        _known_name(_browser_memory())
    ask_name(key)


def _ask_for_name(memory: _Heard, header: Header) -> str | None:
    name = _known_name(memory)
    if name is None:
        # Drawn late: a browser that knows a name sends it before a person would read the question.
        with st.container(key="rs_late"):
            _ask_name(header)
    return name


def _ask_name(header: Header) -> None:
    header.show()
    st.html(
        f'<div class="rs-empty"><b>{esc(header.asks)}</b><br>Your name is shown with every '
        "decision of yours. It is kept in this browser.</div>"
    )
    with (
        st.container(horizontal=True, horizontal_alignment="center"),
        st.form(state.key(IDENTITY, "form"), width=380),
    ):
        st.text_input("Your name", key=state.key(IDENTITY, "name"), max_chars=LONGEST)
        st.form_submit_button("Start", type="primary", on_click=_enter_name, width="stretch")


def _enter_name() -> None:
    with shown_errors():
        name = str(state.get(state.key(IDENTITY, "name")) or "")
        reviewer = reviewers.sign_in(store(), name)
        state.put(NAME, reviewer.name)
        state.put(KEEP, reviewer.name)


def _leave_seat() -> None:
    state.drop(NAME)
    state.put(KEEP, "")


# The name for acts that need no sign-in: saving a version, applying one.
#
# It is the name of `identity` if known; a field next to the button asks for it once.


def known_name() -> str:
    """Return the current user's name, or the empty string; draws nothing."""
    if not login_configured():
        return str(state.get(NAME) or "")
    # Providers guarantee the address; people may change the displayed name. Some providers send
    # "false" as a text, and some send nothing: only a plain true counts.
    user_claims = claims() or {}
    return members.address_in(user_claims) if user_claims.get("email_verified") is True else ""


def ask_name(key: str, width: int = 180) -> str:
    """Return the name, from a field if it is not known yet; it may still be empty."""
    name = known_name()
    if name or login_configured():
        return name
    written: str = st.text_input(
        "Your name",
        key=key,
        max_chars=LONGEST,
        width=width,
        placeholder="Your name, to sign",
        label_visibility="collapsed",
    )
    return written


def take_seat(name: str) -> Seat:
    """Return the seat of that name, which this tab keeps; raise `InputError` for an empty name."""
    reviewer = reviewers.sign_in(store(), name)
    if not login_configured():
        state.put(NAME, reviewer.name)
        state.put(KEEP, reviewer.name)
    if not state.get(SESSION):
        state.put(SESSION, secrets.token_hex(8))
    return reviewers.seat_of(store(), reviewer.name, str(state.get(SESSION)))
