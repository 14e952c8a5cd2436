"""Agreement of two reviewers of a queue on their first, blind verdicts on the same cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from core.domain.review import Seat
from core.domain.rubric import Criterion
from core.services.review.reviewers import now_seated
from core.store.store import Store

if TYPE_CHECKING:
    from core.metrics.estimate import Estimate

RESAMPLES, SEED = 1000, 0
#: Names of reviewers for people who may not read about others.
SOMEBODY = ("A reviewer", "another reviewer")


class SharedCell(NamedTuple):
    """A cell that two people judged, with their labels, which may be shown once ``resolved``."""

    item_id: str
    criterion: str
    first: str
    second: str
    resolved: bool


@dataclass(frozen=True)
class ReviewerPair:
    """Two reviewers on a criterion: the cells on which they agree, and those on which they differ;
    kappa, with quadratic weights for ordered options.
    """

    criterion: str
    first: str
    second: str
    same: tuple[SharedCell, ...]
    differ: tuple[SharedCell, ...]
    kappa: Estimate

    @property
    def cells(self) -> int:
        """Return how many cells both judged."""
        return len(self.same) + len(self.differ)


def reviewer_pairs(store: Store, seat: Seat, queue_id: int) -> list[ReviewerPair]:
    """Return every pair of reviewers on every criterion, most shared cells first.

    Cells count once all their reviewers have judged them, whether the two agree or not. Verdicts
    given with the votes visible, and "cannot assess", are left out. Reviewers see only their own
    name; a lead sees all. Raises ``NotFound``.
    """
    seat = now_seated(store, seat)
    shared: dict[tuple[str, tuple[str, ...], str, str], tuple[Criterion, _Judged]] = {}
    for cell, criterion, people, options in _judged_twice(store, queue_id):
        labels = tuple(option.label for option in criterion.choices)
        _, judged = shared.setdefault((criterion.name, labels, *people), (criterion, []))
        judged.append((cell, options))
    places = {name: index for index, name in enumerate(dict.fromkeys(key[0] for key in shared))}
    pairs = [
        _reviewer_pair(criterion, judged, *_pair_names(seat, first, second))
        for (_, _, first, second), (criterion, judged) in shared.items()
    ]
    return sorted(pairs, key=lambda pair: (places[pair.criterion], -pair.cells))


#: The cells of a criterion that two people judged, with both options.
_Judged = list[tuple[SharedCell, tuple[int, int]]]


def _judged_twice(
    store: Store, queue_id: int
) -> Iterator[tuple[SharedCell, Criterion, tuple[str, str], tuple[int, int]]]:
    """Yield every cell with every pair of people who chose an option before seeing votes."""
    from core.services.results.run_columns import own_rubrics
    from core.services.results.scored_items import scored_rubric

    run = store.runs.get(store.queues.get(queue_id).run_id)
    rubric, own_rubrics_of = scored_rubric(store, run), own_rubrics(store, run)
    states = {(cell.item_id, cell.criterion): cell.state for cell in store.queues.cells(queue_id)}
    order = {criterion.name: index for index, criterion in enumerate(rubric.criteria)}
    answers: dict[tuple[str, str], dict[str, int]] = {}
    for verdict in store.verdicts.of_queue(queue_id):
        place, option = (verdict.item_id, verdict.criterion), verdict.first.option
        blind = verdict.part == "review" and verdict.mode != "assisted"
        decided = verdict.final is not None and states.get(place) in ("resolved", "disagreement")
        if blind and decided and option is not None:
            answers.setdefault(place, {})[verdict.reviewer] = option
    for item_id, name in sorted(answers, key=lambda place: (order.get(place[1], 0), place)):
        criterion = own_rubrics_of.get(item_id, rubric).criterion(name)
        chosen = answers[item_id, name]
        resolved = states[item_id, name] == "resolved"
        for first, second in combinations(sorted(chosen, key=str.casefold), 2):
            options = (chosen[first], chosen[second])
            if all(option in criterion.scored for option in options):
                labels = [criterion.choices[option].label for option in options]
                cell = SharedCell(item_id, name, labels[0], labels[1], resolved)
                yield cell, criterion, (first, second), options


def _pair_names(seat: Seat, first: str, second: str) -> tuple[str, str]:
    return (first, second) if seat.role == "lead" or seat.name in (first, second) else SOMEBODY


def _reviewer_pair(criterion: Criterion, judged: _Judged, first: str, second: str) -> ReviewerPair:
    return ReviewerPair(
        criterion.name,
        first,
        second,
        tuple(cell for cell, (a, b) in judged if a == b),
        tuple(cell for cell, (a, b) in judged if a != b),
        _kappa(criterion, [options for _, options in judged]),
    )


def _kappa(criterion: Criterion, options: Sequence[tuple[int, int]]) -> Estimate:
    """Return kappa with its interval, as for two raters on the Agreement page."""
    import numpy as np

    from core.metrics.intervals.draws import resample_many
    from core.services.agreement.pair_figures import kappa_of

    scored = list(criterion.scored)
    table = np.zeros((len(scored), len(scored)))
    for first, second in options:
        table[scored.index(first), scored.index(second)] += 1
    name = "kappa_quadratic" if criterion.scale == "ordinal" else "cohen_kappa"
    drawn = resample_many(table.ravel().astype(np.int64), RESAMPLES, np.random.default_rng(SEED))
    return kappa_of(name, table, drawn.reshape(*table.shape, -1))
