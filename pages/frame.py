"""The frame around every page: configuration, navigation and the last line for errors."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.ui import state
from pages.ui.screens import SECTIONS, Screen
from pages.ui.typing import keep_what_is_typed
from pages.ui.widgets import frame_css, shown_errors

HERE = Path(__file__).parent


def _page(screen: Screen, default: bool) -> st.Page:
    return st.Page(
        HERE / screen.file,
        title=screen.title,
        icon=f":material/{screen.icon}:",
        help=screen.help,
        default=default,
        visibility="hidden" if screen.hidden else "visible",
    )


def _navigation() -> st.Page:
    first = next(iter(SECTIONS.values()))[0]
    pages = {
        section: [_page(screen, screen == first) for screen in screens]
        for section, screens in SECTIONS.items()
    }
    return st.navigation(pages)


# Both pictures are files of ours: a Material icon as page icon would be fetched from elsewhere.
st.set_page_config(page_title="Rubric Studio", page_icon=HERE / "ui" / "icon.svg", layout="wide")
st.logo(HERE / "ui" / "logo.svg", size="large", icon_image=HERE / "ui" / "icon.svg")
frame_css()
_chosen = _navigation()
state.on_page(_chosen.url_path)
with shown_errors():
    _chosen.run()
keep_what_is_typed()
