"""GROUP of the contract: how far raters of one kind agree with each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from core.metrics import agreement, group, rare, reliability
from core.metrics import smoothed as smooth
from core.metrics.bootstrap import Bundle, Interval, intervals
from core.metrics.figure import Figure
from core.metrics.measure import Array, GroupMeasure, Ratings, tally
from core.metrics.pairwise import mean_kappas, mean_pairwise_cohen
from core.metrics.ratings import patterns
from core.services.measuring_figures import NO_ORDER, UNORDERED, rendered

#: A share of pairs and coefficients that rare options do not sway (bench/coverage.py).
PLAIN = frozenset({"percent_agreement", "gwet_ac1", "gwet_ac2_quadratic"})
GROUP: dict[str, GroupMeasure] = {
    "percent_agreement": group.item_agreement,
    "krippendorff_alpha_nominal": group.alpha_nominal,
    "krippendorff_alpha_ordinal": group.alpha_ordinal,
    "krippendorff_alpha_interval": group.alpha_interval,
    "fleiss_kappa": group.fleiss_kappa,
    "gwet_ac1": group.gwet_ac1,
    "gwet_ac2_quadratic": group.gwet_ac2,
    **{f"mean_pairwise_cohen.{name}": mean_pairwise_cohen(name) for name in agreement.WEIGHTS},
    "icc_2_1": reliability.icc_2_1,
    "icc_2_k": reliability.icc_2_k,
    "kendall_w": reliability.kendall_w,
}


def group_figures(
    levels: npt.NDArray[np.int64],
    number: npt.NDArray[np.int64],
    draws: Array | None,
    k: int,
    *,
    ordered: bool,
) -> dict[str, Any]:
    """The coefficients of GROUP of the contract.

    ``levels`` of the group's raters have shape (patterns, raters); ``number`` is how many items
    have each pattern, ``draws`` how many are drawn, shape (patterns, resamples).
    """
    # Rows that differ in other raters only are one here.
    rows, _, of_pattern = patterns(np.maximum(levels, -1))
    times = tally(of_pattern, len(rows), number[:, None].astype(np.float64))[:, 0]
    figures: dict[str, Figure] = {}
    defined: dict[str, GroupMeasure] = {}
    for name, measure in GROUP.items():
        if name not in UNORDERED and not ordered:
            figures[name] = Figure.undefined(NO_ORDER)
            continue
        figures[name] = measure(rows, k, times)
        if figures[name].value is not None:
            defined[name] = measure
    ci: dict[str, Interval] = {}
    if draws is not None and defined:
        ci = group_intervals(defined, rows, times, tally(of_pattern, len(rows), draws), k)
    return _nested(rendered(figures, ci))


def group_intervals(
    measures: Mapping[str, GroupMeasure], rows: Ratings, times: Array, drawn: Array, k: int
) -> dict[str, Interval]:
    """The intervals of figures of a group; the one place that makes them, for every surface.

    Rows are the raters' levels, ``times`` how many items have each, ``drawn`` how many are drawn.
    Alpha knows only of items rated twice; so does its interval, whoever else rated.
    """
    twice = (rows >= 0).sum(axis=1) >= 2
    alphas = {name: one for name, one in measures.items() if "alpha" in name}
    others = {name: one for name, one in measures.items() if name not in alphas}
    found = _intervals(alphas, rows[twice], times[twice], drawn[twice], k)
    return found | _intervals(others, rows, times, drawn, k)


def _intervals(
    measures: Mapping[str, GroupMeasure], rows: Ratings, times: Array, drawn: Array, k: int
) -> dict[str, Interval]:
    if not measures:
        return {}
    n = int(times[(rows >= 0).sum(axis=1) >= 2].sum())
    found = intervals(_group_bundle(measures, rows, k, times), drawn, times, n=n)
    rated = rows[:, (rows >= 0).any(axis=0)]
    beyond = [name for name in measures if name not in PLAIN]
    if smooth.fits(k, rated.shape[1]):
        every, counts = smooth.every_pattern(rated, times, k)
        bundle = _group_bundle({name: measures[name] for name in beyond}, every, k, counts)
        complete = (every >= 0).all(axis=1)
        return found | smooth.smoothed(bundle, counts, drawn.shape[1], rated.shape[1], complete)
    why = rare.off_commonest(rare.level_counts_of(rows, times, k), n)
    return found | {name: rare.withheld(why, found[name]) for name in beyond}


def _group_bundle(
    measures: Mapping[str, GroupMeasure], rows: npt.NDArray[np.int64], k: int, times: Array
) -> Bundle:
    kappas = [w for w in agreement.WEIGHTS if f"mean_pairwise_cohen.{w}" in measures]
    prepared = {
        name: measure.over(rows, k, times)
        for name, measure in measures.items()
        if not name.startswith("mean_pairwise_cohen.")
    }
    pairwise = mean_kappas(rows, k, times, kappas)

    def bundle(weights: Array) -> Mapping[str, Array]:
        found = {name: of(weights) for name, of in prepared.items()}
        return found | {f"mean_pairwise_cohen.{w}": v for w, v in pairwise(weights).items()}

    return bundle


def _nested(flat: dict[str, Any]) -> dict[str, Any]:
    """``mean_pairwise_cohen.none`` and its kin in a mapping of their own."""
    found: dict[str, Any] = {}
    for name, value in flat.items():
        head, dot, tail = name.partition(".")
        if dot:
            found.setdefault(head, {})[tail] = value
        else:
            found[name] = value
    return found
