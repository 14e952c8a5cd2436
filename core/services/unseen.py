"""What nobody reviewed: how often it is right, and how much of it may be accepted.

Both rest on a queue's random audit alone: it was drawn, each cell with the same chance, from the
cells that no rule queued (``audit_frame``). Those of them that somebody settled besides are known;
those that are left are what is spoken of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.services.audit_frame import Framed, frame
from core.store.store import Store

if TYPE_CHECKING:
    from core.metrics.acceptance import Acceptance
    from core.metrics.selection import Mean


@dataclass(frozen=True)
class Unseen:
    """``audited`` cells were drawn and decided, ``right`` of them confirmed; ``missing`` drawn ones
    are still to be decided, or to be drawn: ``behind`` of them got their verdict later.

    ``rest`` cells nobody saw. ``elsewhere`` were not drawn and are settled all the same, through
    another queue or for their known label, ``elsewhere_right`` of them as the votes said.

    ``accuracy``: the share of the rest whose verdict people would give as well, with its exact 95 %
    interval; undefined with fewer than ten audited cells, while some are missing, and without a
    rest. ``acceptance`` is ``None`` then. Its confidence is the agreement of the votes.
    """

    audited: int
    right: int
    rest: int
    missing: int
    accuracy: Mean
    acceptance: Acceptance | None
    elsewhere: int = 0
    elsewhere_right: int = 0
    behind: int = 0


def unseen(store: Store, queue_id: int, alpha: float = 0.1, *, delta: float = 0.05) -> Unseen:
    """What the audit of a queue says of the cells that nobody looked at.

    A cell that people could not assess counts against its verdict: nobody would have given it.
    ``alpha`` is the largest share of accepted verdicts that may disagree with people, ``delta`` the
    largest chance of breaking that promise, both in (0, 1).
    """
    from core.metrics.acceptance import acceptance
    from core.metrics.exact import KnownLabels, share_of_rest

    found = frame(store, store.queues.get(queue_id))
    audit = [cell for cell in found.cells if cell.drawn and cell.decided]
    others = [cell for cell in found.cells if not cell.drawn and cell.decided]
    rest = [cell for cell in found.cells if not cell.drawn and not cell.decided]
    missing = len(found.cells) - len(audit) - len(others) - len(rest) + found.behind
    right, right_besides = _right(audit), _right(others)
    known = KnownLabels(len(others), len(others) - sum(right_besides))
    left = len(rest) - found.behind
    accuracy = share_of_rest(sum(right), len(audit), left, missing=missing, known=known)
    promise = None
    if accuracy.figure.value is not None:
        promise = acceptance(
            *(_sure(audit), right, alpha),
            unseen=_sure(rest),
            known=(_sure(others), right_besides),
            delta=delta,
        )
    return Unseen(
        *(len(audit), sum(right), left, missing, accuracy, promise),
        *(len(others), sum(right_besides), found.behind),
    )


def _sure(cells: Sequence[Framed]) -> list[float]:
    return [cell.row.agreement or 0.0 for cell in cells]


def _right(cells: Sequence[Framed]) -> list[bool]:
    return [cell.right for cell in cells]
