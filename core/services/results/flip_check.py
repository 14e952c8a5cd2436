"""The flip check: how often a judge's answer changes when the order of options is reversed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.domain.votes import BallotRow
from core.metrics.estimate import Estimate, wilson
from core.services.results.scored_items import scored_rubric
from core.store.store import Store


@dataclass(frozen=True)
class FlipRate:
    """How often a judge's two answers to the same cell, in both orders, differed.

    ``differ`` is their share of the pairs. ``first`` and ``last`` are the shares of all ``answers``
    that chose the option shown first and last; ``expected`` is the value of both if the position
    did not matter: the mean of 1 over the number of options. ``pull`` estimates the share of
    answers attracted by the first position, (first - expected) / (1 - expected), with an interval
    from the Wilson interval of ``first``; a negative value means that the first position is
    avoided.
    """

    judge: str
    differ: Estimate
    pull: Estimate
    answers: int = 0
    first: float | None = None
    last: float | None = None
    expected: float | None = None


def flip_rates(store: Store, run_id: int) -> list[FlipRate]:
    """Return the flip rate of each judge asked in both orders; empty without any."""
    run = store.runs.get(run_id)
    if run.panel.asking.flip == "off":
        return []
    replicates = run.plan.replicates
    rubric = scored_rubric(store, run)
    sizes = {c.name: len(c.scored) for c in rubric.criteria}
    ballots = store.votes.all_ballots(run_id)
    rates = []
    for judge in run.panel.judges:
        if judge.offline:
            continue
        pairs, differ = count_pairs((r for r in ballots if r.judge == judge.name), replicates)
        places = store.votes.places(run_id, judge.name)
        rates.append(_flip_rate(judge.name, pairs, differ, places, sizes))
    return rates


def answers_with_twins(
    rows: Iterable[BallotRow], own: int
) -> Iterator[tuple[BallotRow, BallotRow]]:
    """Yield each answer with its twin, if any: the answer to the same options in reversed order.

    ``own`` is the number of replicates; replicate ``r`` and ``r + own`` are twins.
    """
    by_cell = {(r.item_id, r.criterion, r.judge, r.replicate): r for r in rows}
    for (item, criterion, judge, replicate), row in by_cell.items():
        twin = by_cell.get((item, criterion, judge, replicate + own))
        if replicate < own and twin is not None:
            yield row, twin


def count_pairs(rows: Iterable[BallotRow], own: int) -> tuple[int, int]:
    """Return the number of answers with a flipped twin, and how many differ from their twin."""
    differ = [row.option != twin.option for row, twin in answers_with_twins(rows, own)]
    return len(differ), sum(differ)


def items_apart(store: Store, run_id: int) -> tuple[str, ...]:
    """Return the ids of items on which a judge's answer changed with the reversed order."""
    pairs = answers_with_twins(
        store.votes.all_ballots(run_id), store.runs.get(run_id).plan.replicates
    )
    return tuple(sorted({row.item_id for row, twin in pairs if row.option != twin.option}))


def _flip_rate(
    judge: str,
    pairs: int,
    differ: int,
    places: list[tuple[str, int, int]],
    sizes: dict[str, int],
) -> FlipRate:
    difference_share = Estimate.share(differ, pairs)
    total = sum(n for criterion, _, n in places if criterion in sizes)
    first = sum(n for criterion, place, n in places if criterion in sizes and place == 0)
    last = sum(n for c, place, n in places if c in sizes and place == sizes[c] - 1)
    even = sum(n / sizes[c] for c, _, n in places if c in sizes)
    if not total:
        return FlipRate(judge, difference_share, Estimate(None))
    share, expected = first / total, even / total
    low, high = (_position_pull(end, expected) for end in wilson(first, total))
    pull = Estimate(_position_pull(share, expected), low, high, n=total)
    return FlipRate(judge, difference_share, pull, total, share, last / total, expected)


def _position_pull(share: float, expected: float) -> float:
    return (share - expected) / (1 - expected)
