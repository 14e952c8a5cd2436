"""The session and the address: every URL parameter, and the state that screens share.

The address holds what a link must reopen (ids, filters); the session holds this tab's unsaved work
(ids, plain dicts, primitives); everything else is in the store. A widget's key is `key(family,
*ids)`; its family is named once, next to the code that draws the widget.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextvars import ContextVar
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.services.access import members

# URL parameters.
RUBRIC = "rubric"
VERSION = "version"
DATASET = "dataset"
ITEM = "item"
JUDGE = "judge"
PANEL = "panel"
RUN = "run"
RUNS = "runs"
FIRST = "a"
SECOND = "b"
PAGE = "page"
#: URL parameters: a document, and a section of it.
DOCUMENT = "document"
PART = "part"
CRITERION = "criterion"
VIEW = "view"
TAG = "tag"
SYSTEM = "system"
SPLIT = "split"
PLAN = "plan"
QUEUE = "queue"
#: The URL value of what is not saved yet (ids are numbers, so this is not an id).
NEW = "new"
#: URL parameter: the dataset of which an import is the next version.
INTO = "into"
SHOW = "show"
#: URL value of the screen of regrade requests.
REGRADES = "regrades"
FLAGGED = "flagged"
SWEEP = "sweep"
FIND = "find"
#: URL parameter of a run: a set of its items that no filter describes (`work.offer_work`).
SET = "set"
#: URL parameter of a new queue: its rule, if it is not for a set (`work.settle`).
RULE = "rule"
#: URL parameter of a new queue: its name.
NAMED = "named"
#: URL parameter of a run's item: the open criterion.
AT = "at"
#: URL parameter: the trial run over a few texts, before the run over all of them.
TRIED = "tried"
#: URL parameter: the task of a model that drafts a rubric.
DRAFT = "draft"
#: URL parameter: the shown side of a rubric; `BENCH` is the workbench.
SIDE = "side"
#: URL parameter: the other version of a comparison.
AGAINST = "against"
#: URL parameter of every address on a server with several workspaces (`resources.enter`).
WORKSPACE = "w"

# Families of session keys that several screens use; a family begins with its page's name.
REVIEW_TAKE = "review_take"
SPOT_FORM = "spot_form"
SPOT_FIELD = "spot_field"
FLASH = "flash"
PAGE_SHOWN = "page_shown"
ARRIVING = "page_arriving"
ADDRESS_SHOWN = "address_shown"
#: The unknown parts of the address, as far as the page has read it.
UNKNOWN = "address_unknown"
GUESSED = "guessed"
TYPING = "page_typing"
TABLES = "page_tables"
TELEPHONE = "page_telephone"
BROWSER = "page_browser"
#: The workspace that this tab is in.
INSIDE = "workspace"


def key(family: str, *ids: object) -> str:
    """Return the key of one widget or value: its family, then stable ids (never positions).

    >>> key(SPOT_FIELD, "c1", "name")
    'spot_field/c1/name'
    """
    return "/".join(map(str, (family, *ids)))


def get(name: str, default: Any = None) -> Any:
    """Return the session's value of that key, or `default`."""
    return st.session_state.get(name, default)


def put(name: str, value: Any) -> None:
    """Store a value (an id, a primitive, plain data) for this tab."""
    st.session_state[name] = value


def seed(name: str, value: Any, *, in_form: bool = False) -> None:
    """Give a widget its first value, unless it has one.

    The value is sent on every run until the browser has answered with a value for the widget. A
    value set by the script reaches the browser only with the run that sets it. If the next run
    comes before that run is drawn, the widget would show its own default (the first option, the
    least number) while another value applies, and would send that default later.

    Args:
        name: the widget's key.
        value: its first value.
        in_form: the widget is in an `st.form`. The browser sends its values only with the submit,
            so a missing value does not mean that nothing was typed: the first value is sent once.
    """
    # Testing with `in` searches the whole session every time, but a look-up does not.
    try:
        current = st.session_state[name]
    except KeyError:
        st.session_state[name] = value
        return
    if not in_form and _is_unheard(name):
        st.session_state[name] = current


def _is_unheard(name: str) -> bool:
    """Return whether the browser has sent no value for a widget that this run has yet to draw."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return False
    # Streamlit (1.67) has no public way to ask what the browser sent;
    # tests/browser/test_first_values.py fails if these names disappear.
    session = context.session_state._state
    widget = session._key_id_mapper.get_id_from_key(name)
    if widget is None or widget in context.shared.widget_ids_this_run:
        return False
    return widget not in session._new_widget_state.states


def guess(name: str, value: Any) -> None:
    """Give a widget a guessed value; it follows the guess until the person chooses another.

    A guess may change on any rerun (other rubric, other columns). A choice stays.
    """
    guessed = key(GUESSED, name)
    missing = object()
    current = get(name, missing)
    if (current is missing or current == get(guessed, missing)) and current != value:
        put(name, value)
    seed(name, value)
    put(guessed, value)


def drop(family: str, *ids: object) -> None:
    """Forget every value of a family, or those below the given ids."""
    root = key(family, *ids)
    for name in [str(n) for n in st.session_state]:
        if name == root or name.startswith(root + "/"):
            del st.session_state[name]


def drop_everything() -> None:
    """Forget everything that this tab holds."""
    for name in list(st.session_state):
        del st.session_state[name]


def note_page(path: str) -> None:
    """Remember which page is shown; called by the frame on every run."""
    parameters = [(name, st.query_params.get_all(name)) for name in st.query_params]
    if get(PAGE_SHOWN) != path:
        put(PAGE_SHOWN, path)
        put(ARRIVING, True)
    elif get(ADDRESS_SHOWN) != parameters:
        # On a link to its own page the browser keeps its address (measured with Streamlit 1.67),
        # and the next act would return to the link's page. So the script sends the address.
        st.query_params.update({})
    put(ADDRESS_SHOWN, parameters)


def shown_page() -> str:
    """Return the address of the page that is shown."""
    return str(get(PAGE_SHOWN, ""))


def is_arriving() -> bool:
    """Return whether the user comes from another page, before `note_arrival` is called.

    A value typed just before leaving can stay in the session without its widget. On return the
    widget would look empty, so a page with a form drops its families on arrival and seeds them
    again.
    """
    return bool(get(ARRIVING))


def note_arrival() -> None:
    """Note that the page is drawn; from now on its widgets hold what the browser shows."""
    put(ARRIVING, False)


def address(name: str) -> str | None:
    """Return a URL parameter as text, or `None`."""
    value: str | None = st.query_params.get(name)
    return value


def addresses(name: str) -> tuple[str, ...]:
    """Return every value of a URL parameter that may occur several times."""
    return tuple(st.query_params.get_all(name))


def address_id(name: str) -> int | None:
    """Return a URL parameter as an id; `None` if it is missing or not a number.

    A value that is neither a number nor something new is reported as unknown.
    """
    text = address(name)
    number = as_id(text or "")
    if text and number is None and not text.startswith(NEW):
        report_unknown(name, text)
    return number


def address_in(name: str, allowed_values: Collection[str]) -> str | None:
    """Return a URL parameter if it is one of these; report any other as unknown."""
    text = address(name)
    if text is not None and text not in allowed_values:
        report_unknown(name, text)
        return None
    return text


def report_unknown(name: str, value: object) -> None:
    """Make the frame report a part of the address as unknown and ignored."""
    unknown_parts = get(UNKNOWN)
    if unknown_parts is not None:
        unknown_parts[f"{name}={value}"] = None


def as_id(text: str) -> int | None:
    """Return the id that a text spells, or `None`.

    >>> as_id("12"), as_id("new-1"), as_id("9" * 30)
    (12, None, None)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def set_address(**parameters: object) -> None:
    """Set URL parameters; `None` removes one, a list sets one several times."""
    for name, value in parameters.items():
        if value is None or value == []:
            st.query_params.pop(name, None)
        elif isinstance(value, list):
            st.query_params[name] = [str(item) for item in value]
        else:
            st.query_params[name] = str(value)


def url_parameters(parameters: Mapping[str, object]) -> dict[str, str]:
    """Return URL parameters as text, with the workspace if there are several."""
    inside_workspace = get(INSIDE)
    texts = {name: str(value) for name, value in parameters.items()}
    return {**texts, WORKSPACE: str(inside_workspace)} if inside_workspace else texts


def new_address(**parameters: object) -> None:
    """Set URL parameters, and remove all others."""
    st.query_params.from_dict(url_parameters(parameters))


def flash(message: str) -> None:
    """Show a short message of our own on the next rerun (see `widgets.show_flash`)."""
    put(FLASH, message)


def take_flash() -> str | None:
    """Return the waiting message once, then ``None``."""
    message = get(FLASH)
    if (
        message is not None
    ):  # Checked first, because dropping a missing key searches the whole session.
        drop(FLASH)
    return message if isinstance(message, str) else None


def claims() -> Mapping[str, object] | None:
    """Return the provider's claims about the signed-in user; `None` without a sign-in."""
    # Without a configured login, Streamlit's user has no such attribute.
    return st.user.to_dict() if getattr(st.user, "is_logged_in", False) else None


#: The owner of a page's file: the e-mail address of the page's user, and their workspace (or
#: empty).
Owner = tuple[str, str]


#: The owner of a file that is made outside of any page.
OWNER: ContextVar[Owner | None] = ContextVar("owner", default=None)


def file_owner() -> Owner:
    """Return the owner of files made now."""
    return OWNER.get() or (members.address_in(claims()), str(get(INSIDE) or ""))
