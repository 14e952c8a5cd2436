"""Systems whose answers share no task: ranked by the mean of their judges' scores.

Every system is scored on items of its own, so a difference may lie in the items. That is said, and
nothing that needs two answers to the same task (win rates, strengths) is given.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from core.blocks.blocks import Section, Sentences, TableBlock, Words
from core.blocks.estimates import measured
from core.errors import InputError
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.metrics.intervals.means import mean_of
from core.metrics.measure import NEAR, Array
from core.metrics.ranking.ranks import competition_ranks, mid_ranks, rank_ranges
from core.services.agreement.ratings import Rated, Rater
from core.services.pairwise.pointwise_ranks import LeftOut, SystemScores, left_out_words
from core.text.model_names import related
from core.text.numbers import DASH, count, level_words, score

#: At this level differences of means order the systems, whichever level intervals have.
LEVEL = 0.95


def unmatched_report(
    rated: Rated,
    why: str,
    exclude: Container[str],
    models: Mapping[str, str],
    seed: int = 0,
    resamples: int = 1000,
    level: float = USUAL.level,
) -> dict[str, Any]:
    """The pointwise report where systems answered different items.

    An item's score is the mean of its judges' scores (people's, where nobody else judged); a
    judge's scores of its own and its family's answers are left out, and so are scores with a
    missing vote. ``why`` says what kept the items from being joined to tasks. Rank ranges come
    from differences of means that are larger than chance (Welch 1947, Bonferroni over the
    pairs).

    Raises:
        InputError: fewer than two systems are named.
    """
    systems = tuple(dict.fromkeys(item.system for item in rated.items if item.system))
    if len(systems) < 2:
        raise InputError("Items must name at least two systems to be ranked. " + why)
    judges = [r for r in rated.graders if r.kind != "human"] or list(rated.graders)
    left_out: dict[LeftOut, int] = {"incomplete": 0, "ungraded": 0}
    by_judge = {j: _scores(rated, j, systems, exclude, models, left_out) for j in judges}
    whole = [_items_means([by_judge[j][s] for j in judges]) for s in systems]
    ends = (0.0, 1.0) if rated.of.rubric.scoring.normalize else (-np.inf, np.inf)
    means = [
        mean_of(values, resamples=resamples or 1, seed=seed, how=Confidence(level), ends=ends)
        for values in whole
    ]
    if not resamples:
        means = [m if m.value is None else Estimate(m.value) for m in means]
    ranks = competition_ranks([np.nan if m.value is None else m.value for m in means])
    ranges = rank_ranges(better_of(whole))
    return {
        "kind": "pointwise",
        "matched": False,
        "level": level,
        "systems": list(systems),
        "standings": [
            {
                "system": system,
                "rank": ranks[at],
                "range": str(ranges[at]) if ranks[at] is not None else None,
                "items": len(whole[at]),
                "score": means[at].data,
            }
            for at, system in enumerate(systems)
        ],
        "judges": {j.name: _judge(j, by_judge[j], systems) for j in judges},
        "notes": [
            "The systems answered different items, so a difference may lie in the items. " + why,
            *left_out_words(left_out),
        ],
    }


def unmatched_sections(report: Mapping[str, Any]) -> tuple[Section, ...]:
    """The standings, what limits them, and how every judge sees them."""
    standings = sorted(report["standings"], key=lambda one: (one["rank"] is None, one["rank"]))
    order = [one["system"] for one in standings]
    whole = TableBlock(
        "Systems by their judges' mean score",
        ("System", "Ranks", "Mean of the judges' scores", "Items"),
        tuple(
            (
                Words(one["system"]),
                Words(one["range"] or DASH),
                measured(_estimate(one["score"])),
                Words(count(one["items"])),
            )
            for one in standings
        ),
        numbers=(1, 2, 3),
        note="An item's score is the mean of what its judges' own answers come to, not that of "
        "the panel's verdicts, whose mean a report gives. Ranks: those that differences of means "
        "larger than chance allow (Welch 1947, corrected for the number of pairs). Intervals: "
        f"{level_words(report['level'])}, by resampling items.",
    )
    each = TableBlock(
        "Mean scores by every judge",
        ("Judge", *order),
        tuple(
            (Words(judge), *(Words(score(one["scores"][name])) for name in order))
            for judge, one in report["judges"].items()
        ),
        numbers=tuple(range(1, len(order) + 1)),
    )
    notes = Sentences(tuple(report["notes"]), listed=True, kind="warning")
    return (Section("", (notes,)), Section(whole.name, (whole,)), Section(each.name, (each,)))


def _estimate(score_data: Mapping[str, Any]) -> Estimate:
    low, high = score_data["ci"] or (None, None)
    return Estimate(score_data["value"], low, high, reason=score_data.get("reason", ""))


def _scores(
    rated: Rated,
    judge: Rater,
    systems: Sequence[str],
    exclude: Container[str],
    models: Mapping[str, str],
    left_out: dict[LeftOut, int],
) -> dict[str, dict[str, float]]:
    """A judge's scores by system and item id; counts in ``left_out`` those that have none."""
    scored = SystemScores(rated)
    model = models.get(judge.name.partition("|")[0], judge.name)
    kin = {s for s in systems if related(model, s) in exclude}
    found: dict[str, dict[str, float]] = {system: {} for system in systems}
    for item in rated.items:
        if not item.system or item.system in kin:
            continue
        score = scored.of(judge, item.id)
        if isinstance(score, str):
            left_out[score] += 1
        elif score is not None:
            found[item.system][item.id] = score[0]
    return found


def _items_means(scores: Sequence[Mapping[str, float]]) -> Array:
    ids = dict.fromkeys(item for one in scores for item in one)
    return np.array([np.mean([one[i] for one in scores if i in one]) for i in ids], np.float64)


def better_of(whole: Sequence[Array]) -> npt.NDArray[np.bool_]:
    """``better[i, j]``: the mean of i is larger than that of j by more than chance."""
    n = len(whole)
    chance = (1 - LEVEL) / max(1, n * (n - 1))
    better = np.zeros((n, n), np.bool_)
    for i, j in permutations(range(n), 2):
        one, other = whole[i], whole[j]
        if min(len(one), len(other)) > 1:
            better[i, j] = _chance_higher(one, other) < chance
    return better


def _chance_higher(one: Array, other: Array) -> float:
    """The one-sided p of a mean that is no higher (Welch 1947); 1 where scores do not vary."""
    parts = [float(each.var(ddof=1)) / len(each) for each in (one, other)]
    whole = sum(parts)
    if whole <= NEAR**2:
        return 1.0
    each = zip(parts, (one, other), strict=True)
    degrees = whole**2 / sum(part**2 / (len(side) - 1) for part, side in each)
    return float(stdtr(degrees, -(one.mean() - other.mean()) / np.sqrt(whole)))


def _judge(
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
