"""The session and the address: every parameter of an address, and what screens share.

The address holds what a link must reopen (ids, filters); the session holds this tab's unsaved
work (ids, plain dicts, primitives); everything else is in the store. A widget's key is
`key(family, *ids)`; its family is named once, beside the code that draws the widget.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.services.access import members

# Address parameters.
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
#: In the address: a document, and a part of it.
DOCUMENT = "document"
PART = "part"
CRITERION = "criterion"
VIEW = "view"
TAG = "tag"
SYSTEM = "system"
SPLIT = "split"
PLAN = "plan"
QUEUE = "queue"
#: In the address: what is not saved yet (ids are numbers, so that this is none).
NEW = "new"
SHOW = "show"
#: What it shows where regrades are asked for.
REGRADES = "regrades"
FLAGGED = "flagged"
SWEEP = "sweep"
FIND = "find"
#: In the address of a run: a set of its items that no filter says (`work.offer_work`).
SET = "set"
#: In the address of a new queue: by which rule, where it is not of a set (`work.settle`).
RULE = "rule"
#: In the address of a new queue: what it is to be called.
NAMED = "named"
#: In the address of a run's item: the criterion that is open.
AT = "at"
#: In the address: the small run over a few texts that was made before one over all of them.
TRIED = "tried"
#: In the address: the task of a model's help that drafts a rubric.
DRAFT = "draft"
#: In the address: which side of a rubric is shown; `BENCH` is the workbench.
SIDE = "side"
#: In the address: the other version of a comparison.
AGAINST = "against"
#: In every address of a server that has several: the workspace (`resources.enter`).
WORKSPACE = "w"

# Families of session keys that several screens know; a family begins with its page's name.
REVIEW_TAKE = "review_take"
SPOT_FORM = "spot_form"
SPOT_FIELD = "spot_field"
FLASH = "flash"
PAGE_SHOWN = "page_shown"
ARRIVING = "page_arriving"
ADDRESS_SHOWN = "address_shown"
#: What of the address is unknown, as far as the page has read it.
UNKNOWN = "address_unknown"
GUESSED = "guessed"
TYPING = "page_typing"
TABLES = "page_tables"
#: The workspace that this tab is in.
INSIDE = "workspace"


def key(family: str, *ids: object) -> str:
    """The key of one widget or value: its family, then stable ids (never list positions).

    >>> key(SPOT_FIELD, "c1", "name")
    'spot_field/c1/name'
    """
    return "/".join(map(str, (family, *ids)))


def get(name: str, default: Any = None) -> Any:
    """The session's value of that key, or `default`."""
    return st.session_state.get(name, default)


def put(name: str, value: Any) -> None:
    """Keep a value (an id, a primitive, plain data) for this tab."""
    st.session_state[name] = value


def seed(name: str, value: Any, *, in_form: bool = False) -> None:
    """Give a widget its first value, unless it has one.

    It is said again on every run until the browser has answered with a value for the widget. A
    value set by the script reaches the browser with the run that sets it and with no other; where
    the next run comes before that one was drawn, the widget would show its own default (the first
    option, the least number) while another value is in force, and send that default later.

    Args:
        name: the widget's key.
        value: its first value.
        in_form: the widget stands in an `st.form`. Its values come with the submit only, so that
            silence does not mean that nothing was typed: it is told once.
    """
    # `in` walks over the whole session every time; a look-up does not.
    try:
        now = st.session_state[name]
    except KeyError:
        st.session_state[name] = value
        return
    if not in_form and _is_unheard(name):
        st.session_state[name] = now


def _is_unheard(name: str) -> bool:
    """Whether this run has no value from the browser for the widget, and has yet to draw it."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return False
    # What the browser sent is nowhere to be asked for in public (Streamlit 1.67);
    # tests/browser/test_first_values.py fails if these names go.
    known = context.session_state._state
    widget = known._key_id_mapper.get_id_from_key(name)
    if widget is None or widget in context.shared.widget_ids_this_run:
        return False
    return widget not in known._new_widget_state.states


def guess(name: str, value: Any) -> None:
    """Give a widget a guessed value; it follows the guess until somebody chose another.

    A guess may change on any rerun (other rubric, other columns). What was chosen stays.
    """
    guessed = key(GUESSED, name)
    missing = object()
    now = get(name, missing)
    if (now is missing or now == get(guessed, missing)) and now != value:
        put(name, value)
    seed(name, value)
    put(guessed, value)


def drop(family: str, *ids: object) -> None:
    """Forget every value of a family, or those below the ids given."""
    root = key(family, *ids)
    for name in [str(n) for n in st.session_state]:
        if name == root or name.startswith(root + "/"):
            del st.session_state[name]


def drop_everything() -> None:
    """Forget all that this tab holds."""
    for name in list(st.session_state):
        del st.session_state[name]


def on_page(path: str) -> None:
    """Remember which page is shown; the frame says so on every run."""
    asked = [(name, st.query_params.get_all(name)) for name in st.query_params]
    if get(PAGE_SHOWN) != path:
        put(PAGE_SHOWN, path)
        put(ARRIVING, True)
    elif get(ADDRESS_SHOWN) != asked:
        # The browser does not change its address for a link to the page it is on (measured with
        # Streamlit 1.67), and the next act would go back to where the link was. So it is told.
        st.query_params.update({})
    put(ADDRESS_SHOWN, asked)


def page_shown() -> str:
    """The address of the page that is shown."""
    return str(get(PAGE_SHOWN, ""))


def arriving() -> bool:
    """Whether the user comes from another page and `arrived` was not said yet.

    A value typed just before leaving can stay in the session without its widget. Coming back, the
    widget would look empty; so a page with a form drops its families while arriving, and seeds
    them anew.
    """
    return bool(get(ARRIVING))


def arrived() -> None:
    """The page is drawn; what stands in its widgets is what the browser shows."""
    put(ARRIVING, False)


def address(name: str) -> str | None:
    """An address parameter as text, or `None`."""
    value: str | None = st.query_params.get(name)
    return value


def addresses(name: str) -> tuple[str, ...]:
    """Every value of an address parameter that may be given several times."""
    return tuple(st.query_params.get_all(name))


def address_id(name: str) -> int | None:
    """An address parameter as an id; `None` where it is absent or not a number.

    What is neither a number nor something new is said to be unknown.
    """
    text = address(name)
    number = as_id(text or "")
    if text and number is None and not text.startswith(NEW):
        unknown(name, text)
    return number


def address_in(name: str, known: Collection[str]) -> str | None:
    """An address parameter that is one of these; any other is said to be unknown."""
    text = address(name)
    if text is not None and text not in known:
        unknown(name, text)
        return None
    return text


def unknown(name: str, value: object) -> None:
    """Have the frame say that a part of the address is unknown here, and left out."""
    kept = get(UNKNOWN)
    if kept is not None:
        kept[f"{name}={value}"] = None


def as_id(text: str) -> int | None:
    """The id that a text spells, or `None`.

    >>> as_id("12"), as_id("new-1"), as_id("9" * 30)
    (12, None, None)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def set_address(**parameters: object) -> None:
    """Set address parameters; `None` takes one away, a list gives one several times."""
    for name, value in parameters.items():
        if value is None or value == []:
            st.query_params.pop(name, None)
        elif isinstance(value, list):
            st.query_params[name] = [str(one) for one in value]
        else:
            st.query_params[name] = str(value)


def spelled(parameters: Mapping[str, object]) -> dict[str, str]:
    """Address parameters as text, with the workspace where there are several."""
    inside = get(INSIDE)
    said = {name: str(value) for name, value in parameters.items()}
    return {**said, WORKSPACE: str(inside)} if inside else said


def new_address(**parameters: object) -> None:
    """Set address parameters, and take away all others."""
    st.query_params.from_dict(spelled(parameters))


def flash(message: str) -> None:
    """A short message of our own words for the next rerun (see `widgets.show_flash`)."""
    put(FLASH, message)


def take_flash() -> str | None:
    """The waiting message, once."""
    message = get(FLASH)
    if message is not None:  # to drop what is not there walks over the whole session
        drop(FLASH)
    return message if isinstance(message, str) else None


def claims() -> Mapping[str, object] | None:
    """What the provider says of whoever is signed in; `None`: nobody is."""
    # Where no login is configured Streamlit's user has no such attribute.
    return st.user.to_dict() if getattr(st.user, "is_logged_in", False) else None


class Owner(NamedTuple):
    """Whose a file of a page is: who is on that page, and in which workspace (none: empty)."""

    email: str
    workspace: str


#: Whose the file is that is made outside of any page.
OWNER: ContextVar[Owner | None] = ContextVar("owner", default=None)


def owner() -> Owner:
    """Whose the files are that are made now."""
    return OWNER.get() or Owner(members.address_in(claims()), str(get(INSIDE) or ""))
