"""The sidebar, and the tabs of the open entry."""

from __future__ import annotations

from copy import copy
from functools import lru_cache

import streamlit as st

from core.domain.access import Actor
from pages.ui import state
from pages.ui.routes import (
    FOOT,
    MEMBERS,
    PLACES,
    START,
    Screen,
    SidebarEntry,
    disabled_link,
    draw_link,
)

#: The address parameters which say that one thing is open instead of the entry's first page.
OPENED = (state.RUBRIC, state.DATASET, state.RUN, state.QUEUE, state.ITEM, state.PLAN, state.NEW)


def draw_navigation(user: Actor) -> st.Page:
    """Draw the sidebar for this person; return the page that the address asks for."""
    # All entries are visible in the sidebar, without "View more".
    return st.navigation(
        {
            "": [page for place in PLACES for page in _pages_of(place, user)],
            "Settings and help": [page for place in FOOT for page in _pages_of(place, user)],
        },
        expanded=True,
    )


def _pages_of(place: SidebarEntry, user: Actor) -> list[st.Page]:
    """Return all screens of a sidebar entry; the sidebar shows the first that this person may use.

    The services enforce rights. Streamlit marks the page that runs, so
    each run has its own pages; making one anew takes twenty times as long as copying it.
    """
    entry = entry_of(place, user)
    screens = (*place.tabs, *place.within)
    return [
        copy(_streamlit_page(screen, place.title if screen == entry else "")) for screen in screens
    ]


def entry_of(place: SidebarEntry, user: Actor) -> Screen | None:
    """Return the first screen of a sidebar entry that this person may use, or `None`."""
    return next((screen for screen in place.tabs if _is_usable(screen, user)), None)


def _is_usable(screen: Screen, user: Actor) -> bool:
    return not disabled_link(screen, {}, user) and (screen != MEMBERS or user.via == "page")


@lru_cache(maxsize=128)
def _streamlit_page(screen: Screen, entry: str) -> st.Page:
    return st.Page(
        screen.script,
        title=entry or screen.title,
        url_path=screen.url,
        icon=f":material/{screen.icon}:",
        help=screen.help,
        default=screen == START,
        visibility="visible" if entry else "hidden",
    )


def draw_tabs(screen: Screen, user: Actor) -> None:
    """Mark the entry in the sidebar, and draw its screens as tabs.

    Within one rubric, dataset, run or queue there are no tabs.
    """
    place = next(entry for entry in (*PLACES, *FOOT) if screen in (*entry.tabs, *entry.within))
    shown = [tab for tab in place.tabs if _is_usable(tab, user)]
    if shown and screen != shown[0]:
        st.html(f"<style>{_MARKED.format(url=shown[0].url)}</style>")
    opened = any(state.address(name) for name in OPENED) or state.as_id(
        state.address(state.RUNS) or ""
    )
    if screen not in shown or len(shown) < 2 or opened:
        return
    with st.container(horizontal=True, gap="small", key="rs_places"):
        for tab in shown:
            draw_link(tab, tab.title, icon="")


# Streamlit marks only the running screen, which may not be the one that the sidebar lists.
_MARKED = (
    '[data-testid="stSidebarNavLink"][href$="/{url}"]'
    "{{background:light-dark(#E4DECF,#1E252B);font-weight:600}}"
)
