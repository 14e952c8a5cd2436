"""The frame around every page: configuration, navigation and the last line for errors."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.errors import NotFound
from core.services.results import item_view
from pages.ui import routes, state
from pages.ui.resources import store
from pages.ui.routes import ABOUT, SECTIONS, START, Screen, about_this_page
from pages.ui.state import keep_what_is_typed
from pages.ui.widgets import frame_css, shown_errors

HERE = Path(__file__).parent


def _page(screen: Screen) -> st.Page:
    return st.Page(
        screen.script,
        title=screen.title,
        url_path=screen.url,
        icon=f":material/{screen.icon}:",
        help=screen.help,
        default=screen == START,
        visibility="hidden" if screen.hidden else "visible",
    )


def _navigation() -> st.Page:
    return st.navigation(
        {section: [_page(screen) for screen in screens] for section, screens in SECTIONS.items()},
        # With the run in hand below it, Streamlit would fold the half of it away.
        expanded=True,
    )


def _run_in_hand() -> None:
    """The run that this tab opened last stays at hand on every page."""
    run_id = state.get(routes.IN_HAND)
    if run_id is None:
        return
    try:
        routes.in_hand(item_view.require_run(store(), run_id))
    except NotFound:
        # Another data file is open now, or the address named a run that never was.
        state.put(routes.IN_HAND, None)


# Both pictures are files of ours: a Material icon as page icon would be fetched from elsewhere.
st.set_page_config(page_title="Rubric Studio", page_icon=HERE / "ui" / "icon.svg", layout="wide")
st.logo(HERE / "ui" / "logo.svg", size="large", icon_image=HERE / "ui" / "icon.svg")
frame_css()
_chosen = _navigation()
state.on_page(_chosen.url_path)
state.put(ABOUT, False)
routes.keep_in_hand(_chosen.url_path)
with shown_errors():
    _run_in_hand()
    _chosen.run()
    if not state.get(ABOUT):
        # A page with a head of its own, such as one item.
        about_this_page()
keep_what_is_typed()
