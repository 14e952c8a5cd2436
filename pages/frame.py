"""The frame around every page: configuration, navigation and the final handler of errors."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.domain.access import Actor
from core.errors import NotAllowed
from pages.ui import identity, state
from pages.ui.browser.tables import add_table_buttons
from pages.ui.browser.telephone import show_what_was_asked
from pages.ui.browser.typing import keep_what_is_typed
from pages.ui.places import run_head
from pages.ui.places.navigation import draw_navigation, draw_tabs
from pages.ui.resources import enter_workspace, store
from pages.ui.routes import ABOUT, SCREENS, START, about_this_page, disabled_link
from pages.ui.text import label
from pages.ui.widgets import frame_css, page_header, shown_errors

HERE = Path(__file__).parent


def _show_page(user: Actor) -> None:
    # Both pictures are our own files: a Material icon would be fetched from elsewhere.
    dark = "-dark" if st.context.theme.type == "dark" else ""
    st.logo(HERE / "ui" / f"logo{dark}.svg", size="large", icon_image=HERE / "ui" / "icon.svg")
    chosen = draw_navigation(user)
    identity.leave_for_start(chosen)
    identity.who_is_here()
    state.note_page(chosen.url_path)
    state.put(ABOUT, False)
    state.put(state.UNKNOWN, {})
    run_head.remember_run(chosen.url_path)
    above = st.container()
    if store().read_only:
        above.info(
            "This data file can only be read here: nothing on these pages changes it.",
            icon=":material/lock:",
        )
    with shown_errors():
        _show_screen(chosen, user)
        if not state.get(ABOUT):
            # Pages with their own heading, such as an item's page, have not drawn the link.
            about_this_page()
    if unknown := state.get(state.UNKNOWN):
        words = f"Ignored, because unknown, in the page address: {', '.join(unknown)}."
        above.warning(label(words, 300), icon=":material/link_off:")
    keep_what_is_typed()
    add_table_buttons()
    show_what_was_asked()


def _show_screen(chosen: st.Page, user: Actor) -> None:
    """Draw the screen, or its name and why this person cannot use it."""
    url = chosen.url_path or START.url
    screen = next(candidate for candidate in SCREENS if candidate.url == url)
    draw_tabs(screen, user)
    if reason := disabled_link(screen, st.query_params.to_dict()):
        page_header(screen.title, screen.help)
        raise NotAllowed(reason["help"])
    chosen.run()


st.set_page_config(page_title="Rubric Studio", page_icon=HERE / "ui" / "icon.svg", layout="wide")
frame_css()
with shown_errors():
    _who = enter_workspace()
    if _who.role is None:
        identity.sign_in_page(_who)
    else:
        _show_page(_who)
