"""Votes to a verdict per (item, criterion): DESIGN section 4, "Verdict" and "Agreement".

Abstentions and failures are counted separately. The other votes are settled by the criterion's
rule, or else the panel's. A rule sees only how often each option was chosen and with what weight,
and sums are exactly rounded (``fsum``): the order of the judges cannot change anything. A tie takes
the worst option for the sign of the criterion's weight. Among options of equal value it takes the
one with most votes, then the lowest index.

Two names share a rule each: ``majority`` is the mode and ``weighted`` the weighted mode of two
options; the binary ``unanimous`` (MET unless a judge voted UNMET) is the lowest value chosen and
``any`` the highest. If all votes agree, the verdict is their option under every rule, even if
another option has the same value.

``soft_mean`` uses the mean of a vote's probabilities over the options with a value (G-Eval, Liu et
al. 2023), or its option if it has none. So the verdict may differ from the option that all votes
agree on. Every other rule ignores probabilities.

A rule fitted on labelled items (``calibrated``) consists of numbers: ``settle`` gets them as
``weights`` and takes the option that is most likely given votes and weights, or, for an ordinal
criterion, the one with the smallest expected distance from the truth. A fitted rule may
reinterpret a single judge's vote if labels show what that judge means by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import fsum, log
from statistics import median
from typing import NamedTuple

from core.domain.panel import Rules
from core.domain.rubric import FITTED, Criterion
from core.domain.votes import Verdict
from core.domain.weight_fit import Weights, weights_as_shares

#: Values, and shares of weight, that differ by at most this are tied.
EPSILON = 1e-9


class Ballot(NamedTuple):
    """A vote as aggregation rules see it. ``option`` indexes ``choices``; ``weight`` is positive.

    Only fitted rules use ``judge``, only ``soft_mean`` uses ``chances`` (along ``choices``).
    """

    option: int | None
    abstained: bool
    weight: float = 1.0
    judge: str = ""
    chances: tuple[float, ...] | None = None


class _Choice(NamedTuple):
    option: int | None
    tie: bool = False
    continuous: float | None = None
    warning: str = ""


_Cast = Sequence[
    tuple[int, float, float]
]  # An option, its value (or the mean of values), and the judge's weight.
_Heads = Mapping[int, int]


def settle(
    criterion: Criterion,
    ballots: Sequence[Ballot],
    rules: Rules,
    *,
    failures: int = 0,
    planned: int | None = None,
    weights: Weights | None = None,
) -> Verdict | None:
    """Return the verdict of a cell; ``None`` without any ballot.

    ``planned`` is the number of requested votes; at least ballots plus failures, which is also the
    default. With ``weights`` the fitted rule settles, regardless of ``rules``.

    >>> yes, no = Ballot(0, False), Ballot(1, False)
    >>> verdict = settle(Criterion(name="a", requirement="Is it?"), [yes, no, yes], Rules())
    >>> verdict.value, round(verdict.agreement, 3)
    (1.0, 0.667)
    """
    if not ballots:
        return None
    plain: str = criterion.aggregation or getattr(rules, criterion.scale)
    rule = FITTED if weights else plain
    values = criterion.values
    cast: list[tuple[int, float, float]] = []
    by_option: dict[int, int] = {}
    for option, abstained, weight, _, chances in ballots:
        value = None if abstained or option is None else values[option]
        if option is None or value is None:
            continue
        soft = chances if plain == _SOFT else None
        cast.append((option, _mean_of(criterion, soft, value), weight))
        by_option[option] = by_option.get(option, 0) + 1
    n = len(cast)
    present = len(ballots) + failures
    planned = present if planned is None else max(planned, present)
    counts = (n, len(ballots) - n, failures, rule)
    coverage = len(ballots) / planned
    if not cast:
        abstention = _which_abstention(criterion, ballots)
        unknown = (None, None, None, None, None, coverage)
        return Verdict(criterion.name, abstention, True, *unknown, *counts, False, "")
    value_differs = not weights and any(value != values[option] for option, value, _ in cast)
    if len(by_option) == 1 and not value_differs and not (weights and weights.overrules):
        option = cast[0][0]
        value = values[option]
        mean = value if rule in _AVERAGES else None
        unanimous = (value, mean, 1.0, 0.0, 1.0, coverage)
        return Verdict(criterion.name, option, False, *unanimous, *counts, False, "")
    if weights:
        logs = log_weights(criterion, ballots, weights)
        option, tie, mean, warning = (
            _choice_without_weights(criterion, cast, by_option, rules)
            if logs is None
            else _choice_by_weights(criterion, logs, weights, by_option)
        )
    else:
        option, tie, mean, warning = _RULES[rule](criterion, cast, by_option)
    value = None if option is None else values[option]
    share = by_option.get(option, 0) / n if option is not None else 0.0
    top, second = [*sorted(by_option.values(), reverse=True), 0][:2]
    entropy = _vote_entropy(by_option, n, len(criterion.scored))
    margin = (top - second) / n
    doubt = (share, entropy, margin, coverage, *counts)
    return Verdict(criterion.name, option, value is None, value, mean, *doubt, tie, warning)


def _mean_of(criterion: Criterion, chances: tuple[float, ...] | None, value: float) -> float:
    """Return the mean of a vote's probabilities over the options with a value, or ``value``.

    The probability of abstaining says nothing about a level: the others are rescaled to 1.
    """
    on_values = fsum(chances[option] for option in criterion.scored) if chances else 0.0
    if not chances or on_values <= EPSILON:
        return value
    parts = (chances[option] * (criterion.values[option] or 0.0) for option in criterion.scored)
    return min(1.0, fsum(parts) / on_values)


def _which_abstention(criterion: Criterion, ballots: Sequence[Ballot]) -> int | None:
    """Return the ``na`` option that most abstentions name, by default the first."""
    named = [
        b.option for b in ballots if b.option is not None and criterion.values[b.option] is None
    ]
    if not named:
        return criterion.na_index
    return min(named, key=lambda option: (-named.count(option), option))


def _vote_entropy(counts: _Heads, n: int, options: int) -> float:
    """Return H / log(options), H = - sum p log p over the shares p (Shannon 1948), in [0, 1]."""
    total = fsum(count * log(count / n) for count in counts.values())
    return min(1.0, -total / (n * log(options)))


def _worst_of_tied(criterion: Criterion, tied: Sequence[int], counts: _Heads) -> _Choice:
    """Return the worst of tied options; among equal values the one with most votes.

    If all have the same value and most votes prefer one, it is not a tie.
    """
    if len(tied) == 1:
        return _Choice(tied[0])
    worst = criterion.values[criterion.worst_of(tuple(tied))]
    worst_options = [option for option in tied if criterion.values[option] == worst]
    most = max(counts.get(option, 0) for option in worst_options)
    top = [option for option in worst_options if counts.get(option, 0) == most]
    return _Choice(min(top), tie=len(top) > 1 or len(worst_options) < len(tied))


def _choose_mode(criterion: Criterion, cast: _Cast, counts: _Heads) -> _Choice:
    top = max(counts.values())
    return _worst_of_tied(
        criterion, [option for option, count in counts.items() if count == top], counts
    )


def _choose_weighted_mode(criterion: Criterion, cast: _Cast, counts: _Heads) -> _Choice:
    total = fsum(weight for _, _, weight in cast)
    shares = {o: fsum(w for option, _, w in cast if option == o) / total for o in counts}
    top = max(shares.values())
    return _worst_of_tied(
        criterion, [o for o, share in shares.items() if share >= top - EPSILON], counts
    )


def _choose_lowest(criterion: Criterion, cast: _Cast, counts: _Heads) -> _Choice:
    bottom = min(value for _, value, _ in cast)
    return _worst_of_tied(criterion, [o for o in counts if criterion.values[o] == bottom], counts)


def _choose_highest(criterion: Criterion, cast: _Cast, counts: _Heads) -> _Choice:
    top = max(value for _, value, _ in cast)
    return _worst_of_tied(criterion, [o for o in counts if criterion.values[o] == top], counts)


def _nearest_option(criterion: Criterion, mean: float, counts: _Heads) -> _Choice:
    by_distance = [(abs((criterion.values[o] or 0.0) - mean), o) for o in criterion.scored]
    nearest = min(by_distance)[0] + EPSILON
    tied = [option for distance, option in by_distance if distance <= nearest]
    choice = _worst_of_tied(criterion, tied, counts)
    return choice._replace(continuous=mean)


def _choose_mean(criterion: Criterion, cast: _Cast, counts: _Heads) -> _Choice:
    return _nearest_option(criterion, fsum(value for _, value, _ in cast) / len(cast), counts)


def _choose_median(criterion: Criterion, cast: _Cast, counts: _Heads) -> _Choice:
    return _nearest_option(criterion, median(value for _, value, _ in cast), counts)


def _choose_weighted_mean(criterion: Criterion, cast: _Cast, counts: _Heads) -> _Choice:
    total = fsum(weight for _, _, weight in cast)
    return _nearest_option(
        criterion, fsum(value * weight for _, value, weight in cast) / total, counts
    )


def _choose_unanimous_or_na(criterion: Criterion, cast: _Cast, counts: _Heads) -> _Choice:
    if criterion.na_index is not None:
        return _Choice(criterion.na_index)
    return _choose_mode(criterion, cast, counts)._replace(
        warning="The judges disagree and may not abstain, so the most frequent option was taken."
    )


def _choose_unanimous(criterion: Criterion, cast: _Cast, counts: _Heads) -> _Choice:
    settled = _choose_lowest if criterion.scale == "binary" else _choose_unanimous_or_na
    return settled(criterion, cast, counts)


def log_weights(
    criterion: Criterion, ballots: Sequence[Ballot], weights: Weights
) -> dict[int, float] | None:
    """Return the log-weight of every scored option, given the votes, by a fitted rule.

    ``None`` without a vote by a judge with weights. ``weights_as_shares`` of
    ``core.domain.weight_fit`` turns log-weights into probabilities.
    """
    place = {option: level for level, option in enumerate(criterion.scored)}
    votes = [
        (ballot.judge, place[ballot.option])
        for ballot in ballots
        if not ballot.abstained and ballot.option in place
    ]
    logs = weights.of(votes)
    return None if logs is None else dict(zip(criterion.scored, logs, strict=True))


def _choice_by_weights(
    criterion: Criterion, logs: Mapping[int, float], weights: Weights, counts: _Heads
) -> _Choice:
    """Return the likeliest option, or the option with the smallest expected distance."""
    if weights.nearest:
        chances = dict(zip(logs, weights_as_shares(tuple(logs.values())), strict=True))
        value = {option: criterion.values[option] or 0.0 for option in logs}
        likely = {
            option: -fsum(chances[true] * abs(value[option] - value[true]) for true in logs)
            for option in logs
        }
    else:
        likely = dict(logs)
    top = max(likely.values()) - EPSILON
    return _worst_of_tied(
        criterion, [option for option, probability in likely.items() if probability >= top], counts
    )


def _choice_without_weights(
    criterion: Criterion, cast: _Cast, counts: _Heads, rules: Rules
) -> _Choice:
    """Return the verdict by the plain rule, used if the fitted rule knows none of the judges."""
    plain = criterion.aggregation or getattr(rules, criterion.scale)
    if len(counts) == 1:
        return _Choice(cast[0][0])
    return _RULES[plain](criterion, cast, counts)._replace(
        warning="Nothing is known of these judges, so the plain rule settled this."
    )


#: A rule is called only if votes differ in their option or in their mean.
_RULES: dict[str, Callable[[Criterion, _Cast, _Heads], _Choice]] = {
    "majority": _choose_mode,
    "weighted": _choose_weighted_mode,
    "unanimous": _choose_unanimous,
    "any": _choose_highest,
    "mean": _choose_mean,
    "median": _choose_median,
    "weighted_mean": _choose_weighted_mean,
    "mode": _choose_mode,
    "weighted_mode": _choose_weighted_mode,
    "min": _choose_lowest,
    "max": _choose_highest,
    "soft_mean": _choose_mean,
}
_SOFT = "soft_mean"
_AVERAGES = frozenset({"mean", "median", "weighted_mean", _SOFT})
