"""Two runs compared: what changed, which verdicts flipped, and how far every figure moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.domain.runs import Run
from core.errors import InputError
from core.metrics.figure import Figure
from core.services.comparing_changes import Change, changes
from core.services.comparing_costs import Spent, spent
from core.services.comparing_figures import CriterionDelta, Delta, Deltas, deltas
from core.services.comparing_flips import Flip, flips
from core.services.comparing_pairs import Match, PairOf, Sides, pair_runs
from core.services.measuring import METHOD
from core.store.store import Store

RESAMPLES = 1000
#: With fewer items every figure is uncertain, and said to be.
FEW = 50


@dataclass(frozen=True)
class Comparison:
    """The second run beside the first. ``criteria`` are those of ``deltas.criteria``, in order."""

    runs: tuple[Run, Run]
    changed: tuple[Change, ...]
    match: Match
    criteria: tuple[Sides, ...]
    apart: dict[str, str]
    flips: tuple[Flip, ...]
    deltas: Deltas
    spent: tuple[Spent, Spent]
    resamples: int
    seed: int


def compare_runs(
    store: Store,
    first: int,
    second: int,
    *,
    bootstrap: int = RESAMPLES,
    seed: int = 0,
    pair: PairOf | None = None,
) -> Comparison:
    """The comparison; differences are second minus first. ``pair`` reads both where somebody did
    so before.

    Raises:
        InputError: the runs have nothing in common, or are one and the same.
        NotFound: there is no such run.
    """
    paired = pair(first, second) if pair else pair_runs(store, first, second)
    return Comparison(
        runs=paired.runs,
        changed=changes(store, *paired.runs),
        match=paired.match,
        criteria=paired.criteria,
        apart=paired.apart,
        flips=flips(paired),
        deltas=deltas(paired, bootstrap, seed),
        spent=(spent(paired.runs[0]), spent(paired.runs[1])),
        resamples=bootstrap,
        seed=seed,
    )


def run_number(text: str) -> int:
    """The run that a word of the command line names. Raises ``InputError``."""
    if not (text.isascii() and text.isdigit()) or len(text) > 15:
        raise InputError(
            f"{text!r} is no run's number. `rubric-studio runs` lists them; a folder of votes "
            "becomes a run with `rubric-studio import`."
        )
    return int(text)


def as_json(found: Comparison) -> dict[str, Any]:
    """The report of ``compare --json``; ``docs/compare.md`` says what each key holds."""
    whole: dict[str, Any] = {
        "runs": {side: _run(run) for side, run in zip("ab", found.runs, strict=True)},
        "changed": [change._asdict() for change in found.changed],
        "items": {
            "both": len(found.match.both),
            "only_a": list(found.match.only_first),
            "only_b": list(found.match.only_second),
            "reworded": list(found.match.reworded),
            "relabelled": list(found.match.relabelled),
        },
        "criteria": {
            sides.name: _criterion(sides, delta, found.flips)
            for sides, delta in zip(found.criteria, found.deltas.criteria, strict=True)
        },
        "not_comparable": found.apart,
        "overall": {
            "accuracy": _delta(found.deltas.accuracy),
            "mean_score": _delta(found.deltas.score),
        },
        "cost": _cost(*found.spent),
    }
    if found.resamples:
        whole["bootstrap"] = {
            "resamples": found.resamples,
            "seed": found.seed,
            "level": 0.95,
            "method": METHOD,
        }
    return whole


def _run(run: Run) -> dict[str, Any]:
    return {
        "run": run.id,
        "name": run.name,
        "status": run.status,
        "rubric": run.rubric_name,
        "rubric_version": run.scored_number,
        "asked_version": run.rubric_number,
        "dataset": run.dataset_name,
        "dataset_version": run.dataset_number,
        "items": run.items,
        "judges": [judge.name for judge in run.panel.judges],
        "seed": run.plan.seed,
    }


def _criterion(sides: Sides, delta: CriterionDelta, all_of: tuple[Flip, ...]) -> dict[str, Any]:
    return {
        "scale": sides.scale,
        "levels": list(sides.labels),
        "decided": delta.decided,
        "same": delta.same,
        "flips": [
            {**flip._asdict(), "items": list(flip.items)}
            for flip in all_of
            if flip.criterion == sides.name
        ],
        "only_a_right": delta.only_first,
        "only_b_right": delta.only_second,
        "accuracy": _delta(delta.accuracy),
        "kappa": {"weights": sides.weights, **_delta(delta.kappa)},
        "agreement": _delta(delta.agreement),
    }


def _delta(delta: Delta) -> dict[str, Any]:
    figures = {"a": delta.first, "b": delta.second, "difference": delta.difference, "p": delta.p}
    found: dict[str, Any] = {name: figure.value for name, figure in figures.items()}
    found |= {"n": delta.n, "test": delta.test}
    if delta.p_holm is not None:
        found["p_holm"] = delta.p_holm
    low, high = delta.interval.low, delta.interval.high
    found["ci"] = None if low is None else [low, high]
    reasons = _reasons(figures)
    if low is None and delta.interval.reason:
        reasons["ci"] = delta.interval.reason
    return {**found, "undefined": reasons} if reasons else found


def _reasons(figures: dict[str, Figure]) -> dict[str, str]:
    return {name: figure.reason for name, figure in figures.items() if figure.value is None}


def _cost(first: Spent, second: Spent) -> dict[str, Any]:
    def gap(one: float | None, other: float | None) -> float | None:
        return None if one is None or other is None else other - one

    return {
        "a": _spent(first),
        "b": _spent(second),
        "difference": {
            "cost_usd": gap(first.now, second.now),
            "whole_usd": gap(first.whole, second.whole),
            "calls": second.calls - first.calls,
        },
    }


def _spent(one: Spent) -> dict[str, Any]:
    found = {
        "cost_usd": one.now,
        "saved_usd": one.saved,
        "whole_usd": one.whole,
        "calls": one.calls,
        "cached": one.cached,
        "seconds": round(one.seconds, 3),
    }
    return {**found, "undefined": {"whole_usd": one.reason}} if one.reason else found
