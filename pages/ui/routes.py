"""Every screen of the app, and every link to one: the only module with a screen's file or address.

A screen's address (`/run?run=3`) is its `url`, so that bookmarks survive a move of its file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from core.domain.access import Actor, Verb
from pages.ui import state
from pages.ui.resources import disabled_without

ROOT = Path(__file__).parents[2]


class Screen(NamedTuple):
    """One page of the navigation: its address, its script, its title and icon."""

    url: str
    file: str
    title: str
    icon: str
    help: str
    #: On a team's server, only people with one of these rights see it in the navigation.
    verbs: tuple[Verb, ...] = ("read",)

    @property
    def script(self) -> Path:
        """Return the file that Streamlit runs for this screen."""
        return ROOT / self.file


START = Screen(
    "start",
    "pages/start/page.py",
    "Start",
    "home",
    "A graded example, and the next steps.",
)
RUBRICS = Screen(
    "rubrics",
    "pages/rubric/page.py",
    "Rubrics",
    "checklist",
    "Write, check and version rubrics; see the exact prompt for a judge.",
)
LIBRARY = Screen(
    "library",
    "pages/library/page.py",
    "Library",
    "local_library",
    "Ready-made criteria with anchors and worked examples, and complete rubrics.",
)
TEST_DATA = Screen(
    "test_data",
    "pages/test_data/page.py",
    "Test data",
    "science",
    "Let a model write or change submissions, and see whether judges notice.",
    verbs=("write",),
)
DATASETS = Screen(
    "datasets",
    "pages/datasets/page.py",
    "Datasets",
    "dataset",
    "Import and inspect the texts to judge.",
)
GRADE = Screen(
    "grade",
    "pages/grade/page.py",
    "Grade my texts",
    "grading",
    "From texts and a rubric to grades, step by step.",
    verbs=("write",),
)
SPOT_CHECK = Screen(
    "spot_check",
    "pages/spot/page.py",
    "Spot check",
    "bolt",
    "Ask judges about one submission before starting a whole run.",
    verbs=("write",),
)
RUNS = Screen(
    "runs",
    "pages/runs/page.py",
    "Runs",
    "play_circle",
    "Plan a run, see its cost, start it.",
)
RUN = Screen(
    "run",
    "pages/run/page.py",
    "Run",
    "monitoring",
    "One run: progress, votes, failures.",
)
CONTESTS = Screen(
    "contests",
    "pages/pairwise/page.py",
    "Compare systems",
    "swords",
    "Compare systems, two answers at a time, and rank them on a leaderboard.",
)
IMPORT_VOTES = Screen(
    "import_votes",
    "pages/imports/page.py",
    "Import votes",
    "upload",
    "Import votes of people or models from elsewhere, to measure and review them.",
    verbs=("write",),
)
JUDGES = Screen(
    "judges",
    "pages/judges/page.py",
    "Judges",
    "gavel",
    "The models and panels that grade.",
)
QUEUES = Screen(
    "queues",
    "pages/queues/page.py",
    "Review",
    "rate_review",
    "Cells that judges left in doubt, for people to settle.",
    verbs=("review", "organise"),
)
ARENA = Screen(
    "arena",
    "pages/arena/page.py",
    "Arena",
    "how_to_vote",
    "Vote on contests yourself, without seeing the authors.",
    verbs=("review",),
)
REVIEW_ITEM = Screen(
    "item",
    "pages/review_item/page.py",
    "Reviewing",
    "edit_note",
    "An item of a queue.",
)
RECORD = Screen(
    "record",
    "pages/review_findings/page.py",
    "Findings of review",
    "fact_check",
    "Estimates for all unreviewed cells and for the judges, from people's verdicts.",
)
AGREEMENT = Screen(
    "agreement",
    "pages/agreement/page.py",
    "Agreement",
    "balance",
    "Agreement of verdicts with labels and of judges with each other, and the causes of "
    "disagreement.",
)
REPORT = Screen(
    "report",
    "pages/report/page.py",
    "Report",
    "summarize",
    "The results of a run with their uncertainty and limits, to read or to download.",
)
MEMBERS = Screen(
    "members",
    "pages/members/page.py",
    "Members",
    "group",
    "Roles, spending limits and the record of changes on this server.",
    verbs=("administer",),
)
COMPARE = Screen(
    "compare",
    "pages/compare/page.py",
    "Compare runs",
    "compare_arrows",
    "Differences between runs, flipped verdicts, and the cost of accuracy.",
)
DOCUMENTS = Screen(
    "docs",
    "pages/documents/page.py",
    "Documents",
    "help",
    "The documents that come with the program.",
)


class SidebarEntry(NamedTuple):
    """One entry of the sidebar: its name, its screens, and the screens within them."""

    title: str
    tabs: tuple[Screen, ...]
    within: tuple[Screen, ...] = ()


PLACES = (
    SidebarEntry("Start", (START,)),
    SidebarEntry("Rubrics", (RUBRICS, LIBRARY)),
    SidebarEntry("Data", (DATASETS, IMPORT_VOTES, TEST_DATA)),
    SidebarEntry("Grade", (GRADE, SPOT_CHECK)),
    SidebarEntry("Runs", (RUNS,), (RUN, AGREEMENT, RECORD, REPORT)),
    SidebarEntry("Review", (QUEUES, ARENA), (REVIEW_ITEM,)),
    SidebarEntry("Compare", (COMPARE, CONTESTS)),
)
#: Rarely used screens, at the end of the sidebar.
FOOT = (
    SidebarEntry("Judges", (JUDGES,)),
    SidebarEntry("Members", (MEMBERS,)),
    SidebarEntry("Documents", (DOCUMENTS,)),
)
SCREENS = tuple(tab for place in (*PLACES, *FOOT) for tab in (*place.tabs, *place.within))


def disabled_link(
    to: Screen, address: Mapping[str, object], user: Actor | None = None
) -> dict[str, Any]:
    """Return the arguments that disable a link for users without the right. All may read a finished
    spot check.
    """
    if to == SPOT_CHECK and state.RUN in address:
        return {}
    plan = state.PLAN in address
    queue = state.RULE in address or address.get(state.NEW) == state.QUEUE
    return disabled_without(
        *(("write",) if plan else ("organise",) if queue else to.verbs), user=user
    )


def draw_link(
    to: Screen,
    words: str,
    address: Mapping[str, object] | None = None,
    *,
    icon: str | None = None,
    help: str | None = None,
    width: Literal["content", "stretch"] = "content",
) -> None:
    """Draw a link to a screen.

    Args:
        to: the target screen.
        words: the link's text.
        address: the URL parameters of the target, e.g. `{state.RUN: 3}`.
        icon: a Material icon's name; `None` for the screen's own, "" for no icon.
        help: the tooltip.
        width: the width of its text, or of its container.
    """
    name = to.icon if icon is None else icon
    st.page_link(
        to.script,
        label=words,
        icon=f":material/{name}:" if name else None,
        width=width,
        query_params=state.url_parameters(address or {}),
        **{"help": help, **disabled_link(to, address or {})},
    )


def draw_back_link(to: Screen, words: str) -> None:
    """Draw a quiet link back, e.g. `back(RUBRICS, "All rubrics")`."""
    draw_link(to, words, icon="arrow_back")


def go_to(to: Screen, address: Mapping[str, object] | None = None) -> None:
    """Go to a screen at once."""
    st.switch_page(to.script, query_params=state.url_parameters(address or {}))


def link_address(url: str, address: Mapping[str, object]) -> str:
    """Return a link's address for our own HTML, not escaped yet."""
    return f"{url}?{urlencode(state.url_parameters(address))}"


#: Whether this script run has drawn the link to the page's documentation.
ABOUT = "page_about"


def about_this_page() -> None:
    """Draw a quiet link to the documentation of this screen."""
    state.put(ABOUT, True)
    url = state.shown_page() or START.url
    screen = next((candidate for candidate in SCREENS if candidate.url == url), None)
    if screen and screen != DOCUMENTS:
        draw_link(
            DOCUMENTS,
            "About this page",
            {state.DOCUMENT: "screens", state.PART: screen.title.lower().replace(" ", "-")},
            help="The purpose of this page, its functions, and further reading.",
        )


def grade_address(**known: int | None) -> dict[str, object]:
    """Return the address of "Grade my texts" with the known parts and its last state."""
    return {**(state.get(PATH) or {}), **{name: v for name, v in known.items() if v is not None}}


#: The last state of "Grade my texts": the ids of its dataset and rubric.
PATH = "grade_path"
