"""Every screen of the app, and every link to one: the only place with a screen's file or address.

A screen's address (`/run?run=3`) is its `url`, so that bookmarks live through a move of its file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from core.domain.access import Actor, Verb
from core.domain.runs import Run, RunRow
from core.services.queueing import queue_cells
from core.services.results import browsing
from core.text import numbers as fmt
from pages.ui import state
from pages.ui.resources import only, store

ROOT = Path(__file__).parents[2]


class Screen(NamedTuple):
    """One page of the navigation: its address, its script, and how it is announced."""

    url: str
    file: str
    title: str
    icon: str
    help: str
    hidden: bool = False
    #: On a server for a team it is in the navigation of those who may do one of these.
    verbs: tuple[Verb, ...] = ("read",)

    @property
    def script(self) -> Path:
        """The file that Streamlit runs for this screen."""
        return ROOT / self.file


START = Screen(
    "start",
    "pages/start/page.py",
    "Start",
    "home",
    "A graded example, and where to go from here.",
)
RUBRICS = Screen(
    "rubrics",
    "pages/rubric/page.py",
    "Rubrics",
    "checklist",
    "Write, check and version rubrics; see exactly what a judge will be sent.",
)
LIBRARY = Screen(
    "library",
    "pages/library/page.py",
    "Library",
    "local_library",
    "Ready-made criteria with anchors and worked examples, and whole rubrics.",
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
    "Bring in what is judged and look it over.",
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
    hidden=True,
)
CONTESTS = Screen(
    "contests",
    "pages/pairwise/page.py",
    "Compare systems",
    "swords",
    "Which of several systems is better: two answers at a time, and a leaderboard.",
)
IMPORT_VOTES = Screen(
    "import_votes",
    "pages/imports/page.py",
    "Import votes",
    "upload",
    "Bring in what people or models answered elsewhere, to measure and review it.",
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
    "People settle what judges left in doubt.",
    verbs=("review", "organise"),
)
ARENA = Screen(
    "arena",
    "pages/arena/page.py",
    "Arena",
    "how_to_vote",
    "Vote on contests yourself, without seeing who wrote what.",
    verbs=("review",),
)
REVIEW_ITEM = Screen(
    "item",
    "pages/review_item/page.py",
    "Reviewing",
    "edit_note",
    "One item of a queue.",
    hidden=True,
)
RECORD = Screen(
    "record",
    "pages/review_findings/page.py",
    "Findings of review",
    "fact_check",
    "What people's verdicts say of everything that nobody looked at, and of the judges.",
)
AGREEMENT = Screen(
    "agreement",
    "pages/agreement/page.py",
    "Agreement",
    "balance",
    "How far verdicts agree with labels and judges with each other, and why they do not.",
)
REPORT = Screen(
    "report",
    "pages/report/page.py",
    "Report",
    "summarize",
    "What a run found, with its uncertainty and limits, to read or to take away.",
)
MEMBERS = Screen(
    "members",
    "pages/members/page.py",
    "Members",
    "group",
    "Who may do what on this server, what may be spent, and who changed what.",
    verbs=("administer",),
)
COMPARE = Screen(
    "compare",
    "pages/compare/page.py",
    "Compare runs",
    "compare_arrows",
    "What changed between runs, which verdicts flipped, and what accuracy costs.",
)
DOCUMENTS = Screen(
    "docs",
    "pages/documents/page.py",
    "Documents",
    "help",
    "What comes with the program to be read.",
    hidden=True,
)

SECTIONS: dict[str, tuple[Screen, ...]] = {
    "": (START, DOCUMENTS),
    "Author": (RUBRICS, LIBRARY, TEST_DATA, DATASETS),
    "Grade": (GRADE, SPOT_CHECK, RUNS, RUN, CONTESTS, IMPORT_VOTES, JUDGES),
    "Review": (QUEUES, ARENA, REVIEW_ITEM, RECORD),
    "Measure": (AGREEMENT, REPORT, COMPARE),
    "Server": (MEMBERS,),
}


def barred_at(
    to: Screen, address: Mapping[str, object], who: Actor | None = None
) -> dict[str, Any]:
    """What a link there is given for whom it is of no use. A spot check made is for all to read."""
    if to == SPOT_CHECK and state.RUN in address:
        return {}
    plan, queue = state.PLAN in address, address.get(state.NEW) == state.QUEUE
    return only(*(("write",) if plan else ("organise",) if queue else to.verbs), who=who)


def link(
    to: Screen,
    words: str,
    address: Mapping[str, object] | None = None,
    *,
    icon: str | None = None,
    help: str | None = None,
    width: Literal["content", "stretch"] = "content",
) -> None:
    """A link to a screen.

    Args:
        to: where it leads.
        words: what it is called.
        address: the parameters of the address there, e.g. `{state.RUN: 3}`.
        icon: the name of a Material icon; the screen's own where none is given, "" for no icon.
        help: what is said on pointing at it.
        width: as wide as its words, or as its place.
    """
    name = to.icon if icon is None else icon
    st.page_link(
        to.script,
        label=words,
        icon=f":material/{name}:" if name else None,
        width=width,
        query_params=state.spelled(address or {}),
        **{"help": help, **barred_at(to, address or {})},
    )


def back(to: Screen, words: str) -> None:
    """A quiet link back, e.g. `back(RUBRICS, "All rubrics")`."""
    link(to, words, icon="arrow_back")


def go(to: Screen, address: Mapping[str, object] | None = None) -> None:
    """Leave for a screen at once."""
    st.switch_page(to.script, query_params=state.spelled(address or {}))


def href(url: str, address: Mapping[str, object]) -> str:
    """The same as a link's address in HTML that we write ourselves, before it is escaped."""
    return f"{url}?{urlencode(state.spelled(address))}"


#: Whether this run has drawn the link to what is written about its page.
ABOUT = "page_about"


def about_this_page() -> None:
    """A quiet link to what the documents say of the screen that is shown."""
    state.put(ABOUT, True)
    url = state.page_shown() or START.url
    here = next((s for screens in SECTIONS.values() for s in screens if s.url == url), None)
    if here and here != DOCUMENTS:
        link(
            DOCUMENTS,
            "About this page",
            {state.DOCUMENT: "screens", state.PART: here.title.lower().replace(" ", "-")},
            help="What it is for, what you can do here, and where more is written.",
        )


OTHER_VIEWS: dict[Screen, tuple[str, str]] = {
    RUN: ("Items and votes", "Every item with its votes."),
    AGREEMENT: ("Agreement", "How far its verdicts can be trusted."),
    REPORT: ("Report", "Everything said of it, to take away."),
    COMPARE: ("Compare", "This run beside another one."),
    QUEUES: ("Review", "Choose doubtful cells for people to settle."),
}


def other_views(run: Run | RunRow, here: Screen) -> None:
    """A row of links to the other pages about this run; nothing before it has votes."""
    if not run.votes:
        return
    with st.container(horizontal=True, gap="small", key=state.key("ways", here.url)):
        if here in (RUN, AGREEMENT):
            settle(run.id)
        for screen, (words, tells) in OTHER_VIEWS.items():
            if screen != here:
                link(screen, words, _address(screen, run.id), help=tells)


def grade_address(**known: int | None) -> dict[str, object]:
    """The address of the path "Grade my texts" with what is known, beside what it had in hand."""
    return {**(state.get(PATH) or {}), **{name: v for name, v in known.items() if v is not None}}


#: What the path had in hand when it was left: its dataset and its rubric, by their ids.
PATH = "grade_path"


def _address(screen: Screen, run_id: int) -> dict[str, object]:
    if screen == COMPARE:
        return {state.RUNS: run_id}
    if screen == QUEUES:
        return {state.NEW: state.QUEUE, state.RUN: run_id}
    return {state.RUN: run_id}


# A set of a run's items as work: step through them, or have people review exactly their cells.
# Where filters say which items are meant, the address holds the filters; else it names the set.


def offer_work(
    run_id: int, items: Sequence[str], name: str, *, criterion: str | None = None
) -> None:
    """Both ways to work a set off; nothing where it is empty.

    Args:
        run_id: whose items they are.
        items: their ids.
        name: what they have in common; a queue of them is called that.
        criterion: the one that it is about; `None` for all.
    """
    if not items:
        return
    count = fmt.count(len(items))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        link(
            RUN,
            f"Step through these {count}" if len(items) > 1 else "Open this item",
            first_of(run_id, items, criterion),
            icon="menu_book",
            help="One after the other with the arrow keys.",
        )
        review(run_id, items, name, criterion=criterion)


def first_of(run_id: int, items: Sequence[str], criterion: str | None = None) -> dict[str, object]:
    """The address of the first item of a set, from which one steps on through the others."""
    address: dict[str, object] = {
        state.RUN: run_id,
        state.SET: browsing.set_word(store(), run_id, items),
    }
    # The list that one steps through is in the run's order.
    address[state.ITEM] = browsing.first_of_set(store(), run_id, items) or items[0]
    return address if criterion is None else {**address, state.AT: criterion}


def review(run_id: int, items: Sequence[str], name: str, *, criterion: str | None = None) -> None:
    """A link to the form of a queue that holds exactly these cells."""
    link(
        QUEUES,
        "Review these" if len(items) > 1 or criterion is None else "Review this",
        {
            state.NEW: state.QUEUE,
            state.RUN: run_id,
            state.SET: browsing.set_word(store(), run_id, items),
            state.NAMED: name[:200],
            **({} if criterion is None else {state.CRITERION: criterion}),
        },
        icon="rate_review",
        help="A queue of exactly these cells, for people to settle.",
    )


#: The rule that `settle` puts into the address.
SPLIT = "split"


def settle(run_id: int, item_id: str | None = None) -> None:
    """A link to the queue of the cells on which judges disagree and that nobody has settled.

    It leads to the form of one where none was made; with `item_id` it is about one item.
    """
    found = queue_cells.disagreements(store(), run_id, item_id)
    if not found.cells:
        return
    address: dict[str, object] = {state.QUEUE: found.queue}
    if found.queue is None:
        address = {state.NEW: state.QUEUE, state.RUN: run_id, state.RULE: SPLIT}
        address[state.NAMED] = "Disagreements"
        if item_id is not None:
            address[state.SET] = browsing.set_word(store(), run_id, [item_id])
    words = f"Settle {fmt.plural(found.cells, 'disagreement')}"
    help = "A queue of the cells on which judges disagree and that nobody has settled."
    link(QUEUES, words, address, icon="gavel", help=help)
