"""The frame around every page: configuration, navigation and the last line for errors."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import streamlit as st

from pages.ui.widgets import frame_css, shown_errors

HERE = Path(__file__).parent


class Screen(NamedTuple):
    """One page of the navigation: its file below `pages/`, and how it is announced."""

    file: str
    title: str
    icon: str
    help: str
    hidden: bool = False


SECTIONS: dict[str, tuple[Screen, ...]] = {
    "": (Screen("home/start.py", "Start", "home", "A graded example, and where to go from here."),),
    "Author": (
        Screen(
            "author/rubrics.py",
            "Rubrics",
            "checklist",
            "Write, check and version rubrics; see exactly what a judge will be sent.",
        ),
        Screen(
            "author/datasets.py", "Datasets", "dataset", "Bring in what is judged and look it over."
        ),
    ),
    "Grade": (
        Screen(
            "grade/spot_check.py",
            "Spot check",
            "bolt",
            "Ask judges about one submission before starting a whole run.",
        ),
        Screen("grade/runs.py", "Runs", "play_circle", "Plan a run, see its cost, start it."),
        Screen("grade/run.py", "Run", "monitoring", "One run: progress, votes, failures.", True),
        Screen("grade/judges.py", "Judges", "gavel", "The models and panels that grade."),
    ),
}


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
    built = dict[str, list[st.Page]]()
    first = True
    for section, screens in SECTIONS.items():
        for screen in screens:
            if (HERE / screen.file).exists():
                built.setdefault(section, []).append(_page(screen, first))
                first = False
    return st.navigation(built)


# Both pictures are files of ours: a Material icon as page icon would be fetched from elsewhere.
st.set_page_config(page_title="Rubric Studio", page_icon=HERE / "ui" / "icon.svg", layout="wide")
st.logo(HERE / "ui" / "logo.svg", size="large", icon_image=HERE / "ui" / "icon.svg")
frame_css()
_chosen = _navigation()
with shown_errors():
    _chosen.run()
