"""Blind review: people who still review a run blind see its votes nowhere else either.

One question decides for every page, file and figure of a run: does the current user have a cell of
it left to decide? Items that they could be given count, too.
"""

from __future__ import annotations

from core.errors import NotAllowed
from core.store.store import Store
from core.text import numbers as fmt


def cells_to_decide(store: Store, run_id: int) -> int:
    """Return how many cells of this run the current user must still decide blind.

    The number is 0 for the person at the machine, and for those who may see blind cells (leads and
    admins) or review nothing.
    """
    user = store.actor
    if user.via != "page" or user.may("see blind cells") or not user.may("review"):
        return 0
    return store.queues.undecided(run_id, user.name)


def require_labels_open(store: Store, dataset_id: int) -> None:
    """Raise ``NotAllowed`` while the current user has a run over this dataset to review blind.

    Its labels are people's verdicts on the same items.
    """
    for run_id in store.queues.runs_over(dataset_id):
        require_open(store, run_id)


def require_open(store: Store, run_id: int) -> None:
    """Raise ``NotAllowed`` while the current user has cells of this run to decide blind."""
    cells = cells_to_decide(store, run_id)
    if cells:
        raise NotAllowed(
            f"You are to review {fmt.plural(cells, 'cell')} of run {run_id} without seeing other "
            "people's or judges' answers. You can open its votes, figures and files when you are "
            "done, or when a lead ends the queue."
        )
