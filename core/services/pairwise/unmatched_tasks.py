"""Rank systems whose answers share no task, by the mean of their judges' scores.

Every system is scored on its own items, so a difference may be due to the items. A note says so.
Figures that need two answers to the same task (win rates, strengths) are left out.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from core.blocks.blocks import Section, Sentences, TableBlock, TextCell
from core.blocks.estimates import estimate_cell
from core.errors import InputError
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.metrics.intervals.means import mean_of
from core.metrics.measure import NEAR, Array
from core.metrics.ranking.ranks import competition_ranks, mid_ranks, range_words, rank_ranges
from core.services.agreement.ratings import Rated, Rater
from core.services.pairwise.pointwise_ranks import LeftOut, SystemScores, left_out_words
from core.text.model_names import relation_of
from core.text.numbers import DASH, count, level_words, score

#: Systems are ordered by mean differences at this level, whatever level the intervals have.
LEVEL = 0.95


def unmatched_report(
    rated: Rated,
    reason: str,
    exclude: Container[str],
    models: Mapping[str, str],
    seed: int = 0,
    resamples: int = 1000,
    level: float = USUAL.level,
) -> dict[str, Any]:
    """Return the pointwise report of systems that answered different items.

    An item's score is the mean of its judges' scores (or people's, without other judges). Scores of
    a judge's own answers and those of its family are left out, as are scores with a missing vote.
    ``reason`` says why the items could not be joined to tasks. Rank ranges come from significant
    differences of means (Welch 1947, Bonferroni over the pairs).

    Raises:
        InputError: the items name fewer than two systems.
    """
    systems = tuple(dict.fromkeys(item.system for item in rated.items if item.system))
    if len(systems) < 2:
        raise InputError("Items must name at least two systems to be ranked. " + reason)
    judges = [r for r in rated.graders if r.kind != "human"] or list(rated.graders)
    left_out: dict[LeftOut, int] = {"incomplete": 0, "ungraded": 0}
    by_judge = {j: _scores_by_system(rated, j, systems, exclude, models, left_out) for j in judges}
    system_means = [_items_means([by_judge[j][s] for j in judges]) for s in systems]
    ends = (0.0, 1.0) if rated.of.rubric.scoring.normalize else (-np.inf, np.inf)
    means = [
        mean_of(
            values, resamples=resamples or 1, seed=seed, confidence=Confidence(level), ends=ends
        )
        for values in system_means
    ]
    if not resamples:
        means = [m if m.value is None else Estimate(m.value) for m in means]
    ranks = competition_ranks([np.nan if m.value is None else m.value for m in means])
    ranges = rank_ranges(better_of(system_means))
    return {
        "kind": "pointwise",
        "matched": False,
        "level": level,
        "systems": list(systems),
        "standings": [
            {
                "system": system,
                "rank": ranks[index],
                "range": range_words(*ranges[index]) if ranks[index] is not None else None,
                "items": len(system_means[index]),
                "score": means[index].data,
            }
            for index, system in enumerate(systems)
        ],
        "judges": {j.name: _judge_data(j, by_judge[j], systems) for j in judges},
        "notes": [
            "The systems answered different items, so a difference may lie in the items. " + reason,
            *left_out_words(left_out),
        ],
    }


def unmatched_sections(report: Mapping[str, Any]) -> tuple[Section, ...]:
    """Return the standings, their limits, and each judge's view."""
    standings = sorted(report["standings"], key=lambda row: (row["rank"] is None, row["rank"]))
    order = [row["system"] for row in standings]
    table = TableBlock(
        "Systems by their judges' mean score",
        ("System", "Ranks", "Mean of the judges' scores", "Items"),
        tuple(
            (
                TextCell(row["system"]),
                TextCell(row["range"] or DASH),
                estimate_cell(_estimate_from_data(row["score"])),
                TextCell(count(row["items"])),
            )
            for row in standings
        ),
        numbers=(1, 2, 3),
        note="An item's score is the mean of what its judges' own answers come to, not that of "
        "the panel's verdicts, whose mean a report gives. Ranks: those that differences of means "
        "larger than chance allow (Welch 1947, corrected for the number of pairs). Intervals: "
        f"{level_words(report['level'])}, by resampling items.",
    )
    views = TableBlock(
        "Mean scores by every judge",
        ("Judge", *order),
        tuple(
            (TextCell(judge), *(TextCell(score(view["scores"][name])) for name in order))
            for judge, view in report["judges"].items()
        ),
        numbers=tuple(range(1, len(order) + 1)),
    )
    notes = Sentences(tuple(report["notes"]), listed=True, kind="warning")
    return (Section("", (notes,)), Section(table.name, (table,)), Section(views.name, (views,)))


def _estimate_from_data(score_data: Mapping[str, Any]) -> Estimate:
    low, high = score_data["ci"] or (None, None)
    return Estimate(score_data["value"], low, high, reason=score_data.get("reason", ""))


def _scores_by_system(
    rated: Rated,
    judge: Rater,
    systems: Sequence[str],
    exclude: Container[str],
    models: Mapping[str, str],
    left_out: dict[LeftOut, int],
) -> dict[str, dict[str, float]]:
    """Return a judge's scores by system and item id; count missing scores in ``left_out``."""
    scored = SystemScores(rated)
    model = models.get(judge.name.partition("|")[0], judge.name)
    related = {s for s in systems if relation_of(model, s) in exclude}
    by_system: dict[str, dict[str, float]] = {system: {} for system in systems}
    for item in rated.items:
        if not item.system or item.system in related:
            continue
        score = scored.of(judge, item.id)
        if isinstance(score, str):
            left_out[score] += 1
        elif score is not None:
            by_system[item.system][item.id] = score[0]
    return by_system


def _items_means(scores: Sequence[Mapping[str, float]]) -> Array:
    ids = dict.fromkeys(item for item_scores in scores for item in item_scores)
    return np.array(
        [np.mean([by_item[i] for by_item in scores if i in by_item]) for i in ids], np.float64
    )


def better_of(scores: Sequence[Array]) -> npt.NDArray[np.bool_]:
    """Return ``better[i, j]``: whether the mean of i is significantly larger than the mean of j."""
    n = len(scores)
    chance = (1 - LEVEL) / max(1, n * (n - 1))
    better = np.zeros((n, n), np.bool_)
    for i, j in permutations(range(n), 2):
        first, second = scores[i], scores[j]
        if min(len(first), len(second)) > 1:
            better[i, j] = _chance_higher(first, second) < chance
    return better


def _chance_higher(first: Array, second: Array) -> float:
    """Return the one-sided p of a test for a higher first mean (Welch 1947); 1 without variance."""
    parts = [float(side.var(ddof=1)) / len(side) for side in (first, second)]
    variance = sum(parts)
    if variance <= NEAR**2:
        return 1.0
    pairs = zip(parts, (first, second), strict=True)
    degrees = variance**2 / sum(part**2 / (len(side) - 1) for part, side in pairs)
    return float(stdtr(degrees, -(first.mean() - second.mean()) / np.sqrt(variance)))


def _judge_data(
    judge: Rater, scores: Mapping[str, Mapping[str, float]], systems: Sequence[str]
) -> dict[str, Any]:
    means = [float(np.mean(list(v.values()))) if (v := scores[s]) else None for s in systems]
    ranks = mid_ranks([np.nan if m is None else m for m in means])
    return {
        "kind": judge.kind,
        "scores": dict(zip(systems, means, strict=True)),
        "ranks": {
            s: None if np.isnan(rank) else float(rank)
            for s, rank in zip(systems, ranks, strict=True)
        },
    }
