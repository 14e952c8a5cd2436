"""Pair two runs: shared items and criteria, and flipped verdicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from core.domain.dataset import Item
from core.domain.rubric import Scale
from core.domain.runs import Run
from core.errors import InputError
from core.metrics.agreement.kappa import Weights
from core.metrics.measure import Array, Ratings
from core.services.agreement import calibration
from core.services.agreement.load_ratings import run_ratings, sheet_of_ratings
from core.services.agreement.rating_sheet import subset_of_items
from core.services.agreement.ratings import (
    ABSTAINED,
    FAILED,
    JUDGE_KINDS,
    CriterionRatings,
    Levels,
    Rated,
)
from core.services.results.run_columns import score_columns
from core.store.store import Store
from core.text.names import fold

#: Pairs two runs by id, as ``pair_runs`` does, or from a cache.
PairOf = Callable[[int, int], "PairedRuns"]


class MatchedItems(NamedTuple):
    """The items that can be compared, by id and in the first run's order.

    ``reworded`` items have the same id but another text, prompt or reference, and are not compared.
    ``relabelled`` items have different labels in the two runs; the second's labels count for both.
    """

    both: tuple[str, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    reworded: tuple[str, ...]
    relabelled: tuple[str, ...]


@dataclass(frozen=True)
class CriterionPair:
    """One criterion of both runs over ``MatchedItems.both``; levels as in ``CriterionRatings``.

    ``judges`` are the judges' ratings of each run, shape (items, raters).
    """

    name: str
    scale: Scale
    labels: tuple[str, ...]
    gold: Levels
    verdicts: tuple[Levels, Levels]
    judges: tuple[Ratings, Ratings]

    @property
    def weights(self) -> Weights:
        """Return how kappa weights a disagreement on this scale."""
        return "quadratic" if self.scale == "ordinal" else "none"


@dataclass(frozen=True)
class PairedRuns:
    """Two paired runs. ``apart`` says why criteria cannot be compared.

    ``scores`` are the items' scores in each run, NaN if missing.
    """

    runs: tuple[Run, Run]
    match: MatchedItems
    criteria: tuple[CriterionPair, ...]
    apart: dict[str, str]
    scores: tuple[Array, Array]
    rated: tuple[Rated, Rated]

    @cached_property
    def stand_in(self) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Return whether each panel may stand in for a person, over the shared items.

        A run has ``None`` unless people rated in it, too.
        """
        first, second = (_stand_in_data(of, self.match) for of in self.rated)
        return first, second


def pair_runs(store: Store, first: int, second: int) -> PairedRuns:
    """Pair two runs.

    Raises:
        InputError: they have no item or no criterion in common, or are the same run.
        NotFound: unknown run.
    """
    if first == second:
        raise InputError(f"Run {first} is the same as run {second}. Name two different runs.")
    runs = store.runs.get(first), store.runs.get(second)
    rated = run_ratings(store, first), run_ratings(store, second)
    match = _match_runs(runs, rated)
    if not match.both:
        raise InputError(_no_common_items_reason(runs, match))
    criteria, not_comparable = _criterion_pairs(rated, match)
    if not criteria:
        raise InputError(_no_criteria_reason(runs, not_comparable))
    before, after = (
        score_columns(store, run).score[_rows_of_match(ratings, match)]
        for run, ratings in zip(runs, rated, strict=True)
    )
    return PairedRuns(runs, match, criteria, not_comparable, (before, after), rated)


def _stand_in_data(rated: Rated, match: MatchedItems) -> dict[str, Any] | None:
    if not any(rater.kind == "human" for rater in rated.raters):
        return None
    matched = np.zeros(len(rated.of.ids), np.bool_)
    matched[_rows_of_match(rated, match)] = True
    return calibration.stand_in_of_panel(subset_of_items(sheet_of_ratings(rated), matched))


def _match_runs(runs: tuple[Run, Run], rated: tuple[Rated, Rated]) -> MatchedItems:
    """Return the shared items; within one dataset version, all items of both runs."""
    if runs[0].dataset_version_id != runs[1].dataset_version_id:
        return match_items(rated[0].items, rated[1].items)
    first, second = rated[0].of, rated[1].of
    if first.ids == second.ids:
        return MatchedItems(first.ids, (), (), (), ())
    return MatchedItems(
        both=tuple(i for i in first.ids if i in second.place),
        only_first=tuple(i for i in first.ids if i not in second.place),
        only_second=tuple(i for i in second.ids if i not in first.place),
        reworded=(),
        relabelled=(),
    )


def match_items(first: tuple[Item, ...], second: tuple[Item, ...]) -> MatchedItems:
    """Return which items of two runs are the same."""
    before, after = ({item.id: item for item in items} for items in (first, second))
    shared = [item_id for item_id in before if item_id in after]
    reworded = [i for i in shared if _question_of(before[i]) != _question_of(after[i])]
    excluded = set(reworded)
    comparable = [i for i in shared if i not in excluded]
    return MatchedItems(
        tuple(comparable),
        tuple(i for i in before if i not in after),
        tuple(i for i in after if i not in before),
        tuple(reworded),
        tuple(i for i in comparable if _is_relabelled(before[i], after[i])),
    )


def _question_of(item: Item) -> tuple[object, ...]:
    return item.submission, item.prompt, item.context, item.reference


def _is_relabelled(before: Item, after: Item) -> bool:
    """Return whether both items have a label on the same criterion, and these labels differ."""
    shared = before.labels.keys() & after.labels.keys()
    return any(before.labels[name].label != after.labels[name].label for name in shared)


def _no_common_items_reason(runs: tuple[Run, Run], match: MatchedItems) -> str:
    first, second = runs
    if match.reworded:
        return (
            f"Runs {first.id} and {second.id} share {len(match.reworded)} item ids, but the text, "
            "prompt or reference of every one of them changed, so verdicts cannot be compared."
        )
    return (
        f"Runs {first.id} and {second.id} have no item in common: one graded "
        f"{first.dataset_name!r}, the other {second.dataset_name!r}. Compare runs whose items have "
        "the same ids."
    )


def _no_criteria_reason(runs: tuple[Run, Run], not_comparable: dict[str, str]) -> str:
    reasons = "; ".join(f"{name}: {reason}" for name, reason in list(not_comparable.items())[:5])
    return (
        f"Runs {runs[0].id} and {runs[1].id} have no criterion that can be compared ({reasons}). "
        "Criteria are matched by name and must have the same options."
    )


def _criterion_pairs(
    rated: tuple[Rated, Rated], match: MatchedItems
) -> tuple[tuple[CriterionPair, ...], dict[str, str]]:
    before, after = ({fold(c.name): c for c in side.criteria} for side in rated)
    rows = [_rows_of_match(side, match) for side in rated]
    sides, not_comparable = [], {}
    for key in dict.fromkeys([*before, *after]):
        left, right = before.get(key), after.get(key)
        if left is None or right is None:
            present = left or right
            missing_from = "first" if left is None else "second"
            not_comparable[present.name if present else key] = (
                f"The {missing_from} run does not ask it."
            )
        elif (reason := _why_not_comparable(left, right)) is not None:
            not_comparable[left.name] = reason
        else:
            sides.append(_pair_of_criterion(left, right, rows))
    return tuple(sides), not_comparable


def _why_not_comparable(first: CriterionRatings, second: CriterionRatings) -> str | None:
    if first.scale != second.scale:
        return f"Its scale was {first.scale} and is {second.scale}."
    if list(map(fold, first.labels)) != list(map(fold, second.labels)):
        return f"Its options were {', '.join(first.labels)} and are {', '.join(second.labels)}."
    return None


def _pair_of_criterion(
    first: CriterionRatings, second: CriterionRatings, rows: list[Levels]
) -> CriterionPair:
    return CriterionPair(
        name=first.name,
        scale=first.scale,
        labels=first.labels,
        # Both runs are compared with the same labels: the second run's, else the first's.
        gold=np.where(second.gold[rows[1]] >= 0, second.gold[rows[1]], first.gold[rows[0]]),
        verdicts=(first.panel[rows[0]], second.panel[rows[1]]),
        judges=(_judge_ratings(first)[rows[0]], _judge_ratings(second)[rows[1]]),
    )


def _judge_ratings(criterion: CriterionRatings) -> Ratings:
    """Return the ratings of a run's judges, or of its people if it has no judges."""
    members = criterion.of_kind(*JUDGE_KINDS) or criterion.of_kind("human")
    return criterion.levels[:, members]


def _rows_of_match(rated: Rated, match: MatchedItems) -> Levels:
    if match.both == rated.of.ids:
        return np.arange(len(match.both))
    return np.array([rated.of.place[item] for item in match.both], dtype=np.int64)


ABSTENTION, NO_VERDICT = "abstained", "no verdict"


class VerdictFlip(NamedTuple):
    """Items whose verdict went from ``before`` to ``after``.

    Of the labelled items, ``mended`` became right and ``broken`` became wrong. ``up`` is the change
    in levels on an ordered scale, else ``None``.
    """

    criterion: str
    before: str
    after: str
    items: tuple[str, ...]
    mended: int
    broken: int
    up: int | None


def verdict_flips(paired: PairedRuns) -> tuple[VerdictFlip, ...]:
    """Return every direction in which verdicts flipped, the most frequent of a criterion first."""
    return tuple(flip for sides in paired.criteria for flip in _flips_of(sides, paired.match.both))


def _flips_of(sides: CriterionPair, items: tuple[str, ...]) -> list[VerdictFlip]:
    first, second = (_level_states(side) for side in sides.verdicts)
    changed = np.flatnonzero(first != second)
    # Encode a direction as one number; states start at FAILED.
    span = len(sides.labels) - FAILED
    direction = (first[changed] - FAILED) * span + second[changed] - FAILED
    ways, direction = np.unique(direction, return_inverse=True)
    flipped = []
    for number, pair in enumerate(ways.tolist()):
        before, after = (state + FAILED for state in divmod(pair, span))
        rows = changed[direction == number]
        truth = sides.gold[rows]
        levels = sides.scale != "nominal" and before >= 0 and after >= 0
        flipped.append(
            VerdictFlip(
                sides.name,
                _state_word(sides, before),
                _state_word(sides, after),
                tuple(items[at] for at in rows.tolist()),
                int(((truth >= 0) & (truth == after)).sum()),
                int(((truth >= 0) & (truth == before)).sum()),
                after - before if levels else None,
            )
        )
    return sorted(flipped, key=lambda flip: (-len(flip.items), flip.before, flip.after))


def _level_states(levels: Levels) -> Levels:
    """Return each cell's level, an abstention, or FAILED (also for cells that were not graded)."""
    return np.where((levels >= 0) | (levels == ABSTAINED), levels, FAILED)


def _state_word(sides: CriterionPair, level: int) -> str:
    if level >= 0:
        return sides.labels[level]
    return ABSTENTION if level == ABSTAINED else NO_VERDICT
