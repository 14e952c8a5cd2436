"""The sidebar, and the tabs of the place that is open."""

from __future__ import annotations

from copy import copy
from functools import lru_cache

import streamlit as st

from core.domain.access import Actor
from pages.ui import state
from pages.ui.routes import FOOT, MEMBERS, PLACES, START, Place, Screen, barred_at, link

#: What of an address says that one thing is open, and not the front of its place.
OPENED = (state.RUBRIC, state.DATASET, state.RUN, state.QUEUE, state.ITEM, state.PLAN, state.NEW)


def navigation(who: Actor) -> st.Page:
    """Draw the sidebar for this person; return the page that the address asks for."""
    # All places are visible in the sidebar; none is behind "View more".
    return st.navigation(
        {
            "": [page for place in PLACES for page in _pages(place, who)],
            "Settings and help": [page for place in FOOT for page in _pages(place, who)],
        },
        expanded=True,
    )


def _pages(place: Place, who: Actor) -> list[st.Page]:
    """Return the screens of a place that this person may use; one is the sidebar's entry.

    The services protect, this only tidies. Streamlit marks the page that is run, so each run has
    pages of its own; to make one anew takes twenty times as long as to copy it.
    """
    entry = entry_of(place, who)
    screens = (*place.tabs, *place.within)
    return [copy(_page(screen, place.title if screen == entry else "")) for screen in screens]


def entry_of(place: Place, who: Actor) -> Screen | None:
    """Return the first screen of a place that this person may use, or `None`."""
    return next((screen for screen in place.tabs if _of_use(screen, who)), None)


def _of_use(screen: Screen, who: Actor) -> bool:
    return not barred_at(screen, {}, who) and (screen != MEMBERS or who.via == "page")


@lru_cache(maxsize=128)
def _page(screen: Screen, entry: str) -> st.Page:
    return st.Page(
        screen.script,
        title=entry or screen.title,
        url_path=screen.url,
        icon=f":material/{screen.icon}:",
        help=screen.help,
        default=screen == START,
        visibility="visible" if entry else "hidden",
    )


def where(screen: Screen, who: Actor) -> None:
    """Mark the place in the sidebar, and draw its screens as tabs.

    Within one rubric, dataset, run or queue there are no tabs: there the place has one thing open.
    """
    place = next(
        screen_of
        for screen_of in (*PLACES, *FOOT)
        if screen in (*screen_of.tabs, *screen_of.within)
    )
    shown = [screen_of for screen_of in place.tabs if _of_use(screen_of, who)]
    if shown and screen != shown[0]:
        st.html(f"<style>{_MARKED.format(url=shown[0].url)}</style>")
    opened = any(state.address(name) for name in OPENED) or state.as_id(
        state.address(state.RUNS) or ""
    )
    if screen not in shown or len(shown) < 2 or opened:
        return
    with st.container(horizontal=True, gap="small", key="rs_places"):
        for screen_of in shown:
            link(screen_of, screen_of.title, icon="")


# Streamlit marks only the screen itself, which may not be the one that the sidebar lists.
_MARKED = (
    '[data-testid="stSidebarNavLink"][href$="/{url}"]'
    "{{background:light-dark(#E4DECF,#1E252B);font-weight:600}}"
)
