"""Who is to review a run blind does not see what was said of it elsewhere either.

One question decides on every page, file and figure of a run: has whoever acts a cell of it still to
decide? What could be handed to them counts as theirs: an item that nobody has yet is for anybody.
"""

from __future__ import annotations

from core.errors import NotAllowed
from core.store.store import Store
from core.text import numbers as fmt


def undecided(store: Store, run_id: int) -> int:
    """How many cells of this run whoever acts has still to decide without seeing its votes.

    0 for the person at the machine, and for those who may see blind cells (leads and admins) or
    review nothing.
    """
    who = store.actor
    if who.via != "page" or who.may("see blind cells") or not who.may("review"):
        return 0
    return store.queues.undecided(run_id, who.name)


def require_labels_open(store: Store, dataset_id: int) -> None:
    """Raise ``NotAllowed`` while whoever acts is to review a run over this dataset blind.

    Its labels are what people said of the same items.
    """
    for run_id in store.queues.runs_over(dataset_id):
        require_open(store, run_id)


def require_open(store: Store, run_id: int) -> None:
    """Raise ``NotAllowed`` while whoever acts has cells of this run to decide blind."""
    cells = undecided(store, run_id)
    if cells:
        raise NotAllowed(
            f"You are to review {fmt.plural(cells, 'cell')} of run {run_id} without seeing what "
            "others said. Its votes, figures and files open to you when that is done, or when a "
            "lead ends the queue."
        )
