"""From which sureness on may some judges of a run decide alone? A cascade replayed on its votes.

The judges of the first stage answer every cell; a cell goes on to the others where they abstain,
are split, failed, or are less sure than a threshold. All votes are there, so nobody is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from core.domain.panel import Cascade, Judge
from core.domain.rubric import Criterion
from core.domain.runs import Run
from core.domain.votes import BallotRow
from core.errors import InputError
from core.metrics.cascade import (
    TOLERANCE,
    CascadePoint,
    HeldOut,
    Replayed,
    cheapest,
    curve,
    held_out,
)
from core.metrics.estimate import ci_and_undefined
from core.scoring.verdict import settle
from core.services.results.scored_items import (
    effective,
    labels_of,
    resolved_items,
    scored_rubric,
)
from core.services.results.verdicts import Counting, counting_of
from core.store.store import Store
from core.text.numbers import percent


@dataclass(frozen=True)
class SweptCascade:
    """A cascade of ``first`` and then ``then`` at every threshold, over ``cells`` with a label.

    ``alone`` and ``all_of_them`` are the shares of cells on which each stage by itself is right,
    ``decided`` those on which it gives an option; ``costs`` US dollars for 1,000 cells by each,
    ``None`` where unknown. ``chosen`` is the cheapest point that is right as often as the best, but
    for the tolerance; ``tried`` what came of such a choice on items that it was not made on.
    """

    run: Run
    first: tuple[str, ...]
    then: tuple[str, ...]
    cells: int
    points: tuple[CascadePoint, ...]
    chosen: CascadePoint
    tried: HeldOut | None
    alone: float
    all_of_them: float
    decided: tuple[float, float]
    costs: tuple[float | None, float | None]
    says_how_sure: bool

    def cost(self, share: float) -> float | None:
        """What 1,000 cells cost where that share goes on; ``None`` where a price is unknown."""
        first, then = self.costs
        return None if first is None or then is None else first + share * then


def could_be_first(store: Store, run_id: int) -> list[str]:
    """The judges of a run that say how sure they are; none where it has no other judge."""
    run = store.runs.get(run_id)
    sure = {judge for _, _, judge in store.votes.confidences(run_id)}
    counted = [judge.name for judge in run.panel.judges if not judge.shadow]
    return [name for name in counted if name in sure] if len(counted) > 1 else []


def sweep(
    store: Store,
    run_id: int,
    first: Collection[str] = (),
    *,
    tolerance: float = TOLERANCE,
    seed: int = 0,
) -> SweptCascade:
    """Replay the cascade on the labelled cells of a run; ``first`` is by default its first judge.

    Raises:
        InputError: there are no two stages, or no cell has a label and votes of both.
    """
    run = store.runs.get(run_id)
    one, two = _stages(run, first)
    replayed = _replayed(store, run, one, two)
    if not len(replayed.items):
        raise InputError(
            "No cell of this run has a label, an answer of the first judges and one of the others."
        )
    points = curve(replayed)
    threshold = cheapest(replayed, tolerance)
    return SweptCascade(
        run=run,
        first=tuple(judge.name for judge in one),
        then=tuple(judge.name for judge in two),
        cells=len(replayed.items),
        points=tuple(points),
        chosen=next(point for point in points if point.threshold == threshold),
        tried=held_out(replayed, tolerance, seed=seed),
        alone=float(replayed.first.mean()),
        all_of_them=float(replayed.then.mean()),
        decided=(float(replayed.decided[:, 0].mean()), float(replayed.decided[:, 1].mean())),
        costs=(_cost(store, run, one), _cost(store, run, two)),
        says_how_sure=bool(np.isfinite(replayed.sure).any()),
    )


def _stages(run: Run, first: Collection[str]) -> tuple[list[Judge], list[Judge]]:
    judges = [judge for judge in run.panel.judges if not judge.shadow]
    strange = set(first) - {judge.name for judge in judges}
    if strange:
        raise InputError(f"{', '.join(sorted(strange))}: no judge of run {run.id} that counts.")
    if run.panel.cascade is not None or run.panel.early_stop:
        raise InputError(
            "Not every judge of this run was asked about every cell: it stopped early, or was a "
            "cascade itself. Replay a run in which all were."
        )
    named = set(first) or {judges[0].name}
    one = [judge for judge in judges if judge.name in named]
    two = [judge for judge in judges if judge.name not in named]
    if not two:
        raise InputError("Nobody comes after the first judges. Name some of its judges as first.")
    return one, two


def _replayed(store: Store, run: Run, one: Sequence[Judge], two: Sequence[Judge]) -> Replayed:
    rubric = scored_rubric(store, run)
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run.id))
    rows: dict[tuple[str, str], list[BallotRow]] = {}
    for row in store.votes.all_ballots(run.id, chances=True):
        rows.setdefault((row.item_id, row.criterion), []).append(row)
    sure = store.votes.confidences(run.id)
    # Every judge's votes count here: which of them do is what the replay decides.
    counting = replace(counting_of(run.plan), stages=None)
    cascade = Cascade()
    found = list[tuple[bool, float, bool, bool, int, tuple[bool, bool]]]()
    for at, item in enumerate(items):
        asked = effective(item, rubric)
        for name, truth in labels_of(item, asked).items():
            cell = rows.get((item.id, name), [])
            mine, others = (_by(cell, judges) for judges in (one, two))
            if not mine or not others:
                continue
            criterion = asked.criterion(name)
            says = [c for j in one for c in sure.get((item.id, name, j.name), ())]
            goes, option = _first(criterion, mine, counting, run, cascade)
            last = settle(criterion, counting.count(others).ballots, run.panel.rules)
            then = None if last is None or last.abstained else last.option
            how_sure = fmean(says) if says else np.nan
            given = (option is not None, then is not None)
            found.append((goes, how_sure, option == truth, then == truth, at, given))
    goes_on, sureness, first, second, of, decided = zip(*found, strict=True) if found else ((),) * 6
    return Replayed(
        np.array(goes_on, np.bool_),
        np.array(sureness, np.float64),
        np.array(first, np.bool_),
        np.array(second, np.bool_),
        np.array(of, np.int64),
        np.array(decided, np.bool_).reshape(-1, 2),
    )


def _by(rows: Sequence[BallotRow], judges: Sequence[Judge]) -> list[BallotRow]:
    names = {judge.name for judge in judges}
    return [row for row in rows if row.judge in names]


def _first(
    criterion: Criterion,
    rows: Sequence[BallotRow],
    counting: Counting,
    run: Run,
    cascade: Cascade,
) -> tuple[bool, int | None]:
    """Whether a cell goes on whatever the threshold, and the first stage's option."""
    verdict = settle(criterion, counting.count(rows).ballots, run.panel.rules)
    if verdict is None:
        return cascade.on_failure, None
    if verdict.abstained:
        return cascade.on_abstention, None
    return cascade.on_split and bool(verdict.entropy), verdict.option


def _cost(store: Store, run: Run, judges: Sequence[Judge]) -> float | None:
    """What 1,000 cells cost these judges, from what their calls in the run cost."""
    spent = store.votes.spent(run.id)
    total = 0.0
    for judge in judges:
        votes, cost = spent.get(judge.name, (0, None))
        if judge.offline:
            continue
        if cost is None or not votes:
            return None
        total += 1000 * run.plan.replicates * cost / votes
    return total


# In words, and as data.


def in_words(found: SweptCascade) -> str:
    """What may be decided alone, how often that is right, and what it saves."""
    names, others = ", ".join(found.first), ", ".join(found.then)
    one, two = (
        _of_decided(right, decided, "it decides")
        for right, decided in zip((found.alone, found.all_of_them), found.decided, strict=True)
    )
    first = f"{names} alone gives the label on {percent(found.alone)} of {found.cells:,} labelled "
    first += f"cells{one}, "
    together = " together" if len(found.then) > 1 else ""
    both = f"{others}{together} on {percent(found.all_of_them)}{two}."
    if not found.says_how_sure:
        none = " does not say how sure it is, so no threshold can tell which answers go on."
        return f"{first}{both} {names}{none}"
    chosen = found.chosen
    said = (
        f" Where {names} decides alone from a sureness of {chosen.threshold:.2f} on, "
        f"{percent(chosen.goes_on)} go on, and "
    )
    seen = percent(chosen.right.estimate)
    if found.tried is None:
        part = _of_decided(chosen.right.estimate, chosen.decided, "are decided")
        said += f"{seen} are right{part} on the labels that the threshold was chosen on."
    else:
        held = found.tried.right
        right = held.figure.words(percent).inline
        part = _of_decided(held.estimate, found.tried.decided, "are decided")
        said += (
            f"{right} are right{part} on items that had no say in the "
            f"threshold ({seen} on those that chose it)."
        )
    whole, here = found.cost(1.0), found.cost(chosen.goes_on)
    if whole and here is not None:
        said += f" That costs {percent(here / whole)} of asking all of them about everything."
    return f"{first}{both}{said}"


def _of_decided(right: float | None, decided: float, who: str) -> str:
    """The share of right ones of those that are decided, where not all are."""
    if right is None or decided == 1:
        return ""
    return f" ({percent(right / decided)} of the {percent(decided)} that {who})" if decided else ""


def as_data(found: SweptCascade) -> dict[str, Any]:
    """What ``cascade --json`` says."""

    def point(one: CascadePoint) -> dict[str, Any]:
        return {
            "threshold": one.threshold,
            "goes_on": one.goes_on,
            "accuracy": one.right.estimate,
            **ci_and_undefined({"accuracy": one.right.figure}),
            "decided": one.decided,
            "usd_per_thousand": found.cost(one.goes_on),
        }

    return {
        "run": found.run.id,
        "first": list(found.first),
        "then": list(found.then),
        "cells": found.cells,
        "first_alone": found.alone,
        "then_alone": found.all_of_them,
        "first_decided": found.decided[0],
        "then_decided": found.decided[1],
        "chosen": point(found.chosen),
        "held_out": _tried(found.tried) if found.tried else None,
        "points": [point(one) for one in found.points],
    }


def _tried(one: HeldOut) -> dict[str, Any]:
    return {
        "goes_on": one.goes_on,
        "right": one.right.estimate,
        "decided": one.decided,
        **ci_and_undefined({"right": one.right.figure}),
    }
