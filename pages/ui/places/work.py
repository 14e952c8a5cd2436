"""A set of a run's items as work: step through them, or have people review exactly their cells.

If filters describe the items, the address has the filters; otherwise it names the set.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.domain.review import QueueRule
from core.services.guided import ten_more
from core.services.guided.own_grades import TEN
from core.services.guided.ten_more import TenMore
from core.services.queueing import queue_cells
from core.services.results import browsing
from core.text import numbers as fmt
from pages.ui import state
from pages.ui.resources import remembered, store
from pages.ui.routes import QUEUES, REVIEW_ITEM, RUN, draw_link


def offer_work(
    run_id: int, items: Sequence[str], name: str, *, criterion: str | None = None
) -> None:
    """Draw both ways to review a set of items, unless it is empty.

    Args:
        run_id: the items' run.
        items: their ids.
        name: what they have in common; also the name of their queue.
        criterion: the criterion to review; `None` for all.
    """
    if not items:
        return
    count = fmt.count(len(items))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        draw_link(
            RUN,
            f"Step through these {count}" if len(items) > 1 else "Open this item",
            address_of_first(run_id, items, criterion),
            icon="menu_book",
            help="Go through the items with the arrow keys.",
        )
        link_to_review(run_id, items, name, criterion=criterion)


def address_of_first(
    run_id: int, items: Sequence[str], criterion: str | None = None
) -> dict[str, object]:
    """Return the address of the first item of a set, from which a person steps through the
    others.
    """
    address: dict[str, object] = {
        state.RUN: run_id,
        state.SET: browsing.packed_set(store(), run_id, items),
    }
    # The list to step through is in the order of the run.
    address[state.ITEM] = browsing.first_of_set(store(), run_id, items) or items[0]
    return address if criterion is None else {**address, state.AT: criterion}


def link_to_review(
    run_id: int, items: Sequence[str], name: str, *, criterion: str | None = None
) -> None:
    """Draw a link to the form of a queue with exactly these cells."""
    draw_link(
        QUEUES,
        "Review these" if len(items) > 1 or criterion is None else "Review this",
        {
            state.NEW: state.QUEUE,
            state.RUN: run_id,
            state.SET: browsing.packed_set(store(), run_id, items),
            state.NAMED: name[:200],
            **({} if criterion is None else {state.CRITERION: criterion}),
        },
        icon="rate_review",
        help="Creates a queue of exactly these cells, for people to settle.",
    )


#: The rules that these links put into the address of a queue.
SPLIT, DOUBT, RANDOM, UNGRADED = "split", "doubt", "random", "ungraded"
#: The queues that open at once and are created if missing: their names and rules.
SETTLED_AT_ONCE = {
    SPLIT: ("Disagreements", queue_cells.rule_for_splits()),
    DOUBT: ("Doubtful cells", QueueRule()),
}
#: The reason why a cell is in a queue.
REASONS = {
    "failure": "failed, or no verdict",
    "split": "judges disagree",
    "margin": "votes are close",
    "abstention": "a judge abstained",
    "near_gate": "a gate depends on the cell",
    "near_mark": "close to a pass mark",
    "flip": "answers depend on the order of options",
    "stale": "the question has changed",
    "chosen": "everything is queued",
    "audit": "drawn at random from the rest",
    "gold": "has a known label",
    "regrade": "a regrade was requested",
}


def cached_progress(run_id: int) -> TenMore:
    """Return the progress of grading a run's drawn texts, cached for its labels."""
    cache_key = browsing.results_state(store(), store().runs.get(run_id))
    return remembered("ten more", cache_key, lambda: ten_more.progress(store(), run_id))


def grade_ten(run_id: int, *, has_more: bool = False) -> None:
    """Draw a link to the next ten texts of a run (or those left), whose labels represent all
    texts.
    """
    _, remaining, _ = cached_progress(run_id)
    if not remaining:
        return
    number, texts = (
        "ten" if remaining == TEN else fmt.count(remaining),
        "text" if remaining == 1 else "texts",
    )
    draw_link(
        REVIEW_ITEM,
        f"Grade {number} {'more' if has_more else f'{texts} yourself'}",
        {state.RUN: run_id, state.RULE: RANDOM},
        icon="edit_note",
        help="Texts are drawn at random; judges' answers are hidden until you give yours.",
    )


def link_to_settling(run_id: int, item_id: str | None = None) -> None:
    """Draw a link to the cells on which judges disagree and that are not settled yet.

    It opens the first of them; with `item_id`, and without a queue of them, it leads to the form
    of a queue about that item.
    """
    cells, queue = queue_cells.disagreements_of(store(), run_id, item_id)
    if not cells:
        return
    text = f"Settle {fmt.plural(cells, 'disagreement')}"
    help = "Unsettled cells (an item by a criterion) on which judges disagree."
    if queue is not None:
        draw_link(REVIEW_ITEM, text, {state.QUEUE: queue}, icon="gavel", help=help)
    elif item_id is None:
        help += " Their votes are hidden until you answer; the grid settles with votes in sight."
        address = {state.RUN: run_id, state.RULE: SPLIT}
        draw_link(REVIEW_ITEM, text, address, icon="gavel", help=help)
    else:
        only_item = browsing.packed_set(store(), run_id, [item_id])
        address = {
            state.NEW: state.QUEUE,
            state.RUN: run_id,
            state.RULE: SPLIT,
            state.SET: only_item,
        }
        address[state.NAMED] = SETTLED_AT_ONCE[SPLIT][0]
        draw_link(QUEUES, text, address, icon="gavel", help=help)
