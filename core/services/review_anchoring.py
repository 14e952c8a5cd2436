"""Whether people follow the judges once they have seen what those said."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.review_records import VerdictRow
from core.metrics.estimate import Estimate, Share
from core.services.judged import judged_options
from core.store.store import Store


@dataclass(frozen=True)
class Anchoring:
    """What seeing the votes did.

    ``revealed`` verdicts were given blind and confirmed with the votes in sight. ``toward``: of
    those that had differed from the panel's, how many became the panel's. ``away``: of those that
    had been the same, how many became another.

    ``blind`` and ``assisted`` are how often the first verdict was the panel's, on items shown
    without the votes and on the random ones shown with them. ``difference`` is assisted less blind:
    as items were drawn, it is what showing the votes did.
    """

    revealed: int
    toward: Share
    away: Share
    blind: Share
    assisted: Share
    difference: Estimate


def anchoring(store: Store, queue_id: int) -> Anchoring:
    """What seeing the votes did in a queue, from the independent verdicts given there.

    Cells on which the panel has no verdict are left out; "cannot assess" is a verdict that is not
    the panel's. Raises ``NotFound``.
    """
    queue = store.queues.get(queue_id)
    judged = judged_options(store, queue.run_id)
    shown = {item.item_id for item in store.queues.items(queue_id) if item.assisted}
    known = [
        (verdict, option)
        for verdict in store.verdicts.of_queue(queue_id)
        if verdict.part == "review"
        and (option := judged.get((verdict.item_id, verdict.criterion))) is not None
    ]
    changed = [(v, o) for v, o in known if v.mode == "until_commit" and v.revealed and v.final]
    apart = [(v, o) for v, o in changed if v.first.option != o]
    same = [(v, o) for v, o in changed if v.first.option == o]
    blind = _as_panel([(v, o) for v, o in known if v.item_id not in shown])
    assisted = _as_panel([(v, o) for v, o in known if v.item_id in shown])
    return Anchoring(
        revealed=len(changed),
        toward=Share.of(sum(_final(v) == o for v, o in apart), len(apart)),
        away=Share.of(sum(_final(v) != o for v, o in same), len(same)),
        blind=blind,
        assisted=assisted,
        difference=_difference(assisted, blind),
    )


def _final(verdict: VerdictRow) -> int | None:
    return None if verdict.final is None else verdict.final.option


def _as_panel(known: list[tuple[VerdictRow, int]]) -> Share:
    return Share.of(sum(verdict.first.option == option for verdict, option in known), len(known))


def _difference(assisted: Share, blind: Share) -> Estimate:
    from core.metrics.two_shares import difference

    if not assisted.n:
        return Estimate(None, reason="No verdict was given on an item shown with the votes.")
    if not blind.n:
        return Estimate(None, reason="No verdict was given on an item shown without the votes.")
    gap, low, high = difference(assisted.hits, assisted.n, blind.hits, blind.n)
    return Estimate(gap, low, high, n=assisted.n + blind.n)
