"""Replay a cascade on a run's votes, to find the confidence above which the judges of the first
stage may decide alone.

These judges answer every cell. A cell escalates to the other judges if they abstain, are split,
fail, or are less confident than a threshold. All votes exist, so no calls are made.
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
from core.metrics.bias.effects import BiasEffect
from core.metrics.cascade import (
    TOLERANCE,
    CascadePoint,
    ReplayedCells,
    cascade_curve,
    cheapest_threshold,
    held_out_result,
)
from core.metrics.estimate import ci_and_undefined
from core.scoring.verdict import settle
from core.services.results.scored_items import (
    labels_of,
    resolved_items,
    rubric_in_force,
    scored_rubric,
)
from core.services.results.verdicts import VoteCounting, counting_of
from core.store.store import Store
from core.text.numbers import percent


@dataclass(frozen=True)
class SweptCascade:
    """A cascade of ``first`` and then ``then`` at every threshold, over ``cells`` with a label.

    ``alone`` and ``all_of_them`` are the shares of cells on which each stage alone is right,
    ``decided`` the shares that it decides, ``costs`` US dollars per 1,000 cells (``None``:
    unknown). ``chosen`` is the cheapest point whose accuracy is within the tolerance of the best;
    ``tried`` is the result of such a choice on items that did not influence it: the shares of cells
    that escalate, are right, and are decided.
    """

    run: Run
    first: tuple[str, ...]
    then: tuple[str, ...]
    cells: int
    points: tuple[CascadePoint, ...]
    chosen: CascadePoint
    tried: tuple[float, BiasEffect, float] | None
    alone: float
    all_of_them: float
    decided: tuple[float, float]
    costs: tuple[float | None, float | None]
    says_how_sure: bool

    def cost(self, share: float) -> float | None:
        """Return the cost of 1,000 cells if this share escalates; ``None`` if a price is
        unknown.
        """
        first, then = self.costs
        return None if first is None or then is None else first + share * then


def possible_first_judges(store: Store, run_id: int) -> list[str]:
    """Return a run's judges that state a confidence; empty if the run has a single judge."""
    run = store.runs.get(run_id)
    confident_judges = {judge for _, _, judge in store.votes.confidences(run_id)}
    counted = [judge.name for judge in run.panel.judges if not judge.shadow]
    return [name for name in counted if name in confident_judges] if len(counted) > 1 else []


def sweep_cascade(
    store: Store,
    run_id: int,
    first: Collection[str] = (),
    *,
    tolerance: float = TOLERANCE,
) -> SweptCascade:
    """Replay the cascade on a run's labelled cells; ``first`` is by default its first judge.

    Raises:
        InputError: there is only one stage, or no cell has a label and votes of both stages.
    """
    run = store.runs.get(run_id)
    first_stage, then_stage = _judges_of_stages(run, first)
    replayed = _replayed_cells(store, run, first_stage, then_stage)
    if not len(replayed.items):
        raise InputError(
            "No cell of this run has a label, an answer of the first judges and one of the others."
        )
    points = cascade_curve(replayed)
    threshold = cheapest_threshold(replayed, tolerance)
    return SweptCascade(
        run=run,
        first=tuple(judge.name for judge in first_stage),
        then=tuple(judge.name for judge in then_stage),
        cells=len(replayed.items),
        points=tuple(points),
        chosen=next(point for point in points if point.threshold == threshold),
        tried=held_out_result(replayed, tolerance),
        alone=float(replayed.first.mean()),
        all_of_them=float(replayed.then.mean()),
        decided=(float(replayed.decided[:, 0].mean()), float(replayed.decided[:, 1].mean())),
        costs=(_cost_of_judges(store, run, first_stage), _cost_of_judges(store, run, then_stage)),
        says_how_sure=bool(np.isfinite(replayed.sure).any()),
    )


def _judges_of_stages(run: Run, first: Collection[str]) -> tuple[list[Judge], list[Judge]]:
    judges = [judge for judge in run.panel.judges if not judge.shadow]
    unknown = set(first) - {judge.name for judge in judges}
    if unknown:
        raise InputError(f"{', '.join(sorted(unknown))}: no judge of run {run.id} that counts.")
    if run.panel.cascade is not None or run.panel.early_stop:
        raise InputError(
            "Not every judge of this run was asked about every cell: it stopped early, or was a "
            "cascade itself. Replay a run in which all were."
        )
    named = set(first) or {judges[0].name}
    first_stage = [judge for judge in judges if judge.name in named]
    then_stage = [judge for judge in judges if judge.name not in named]
    if not then_stage:
        raise InputError("No judge comes after the first judges. Name some of its judges as first.")
    return first_stage, then_stage


def _replayed_cells(
    store: Store, run: Run, leading: Sequence[Judge], following: Sequence[Judge]
) -> ReplayedCells:
    rubric = scored_rubric(store, run)
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run.id))
    rows: dict[tuple[str, str], list[BallotRow]] = {}
    for row in store.votes.all_ballots(run.id, chances=True):
        rows.setdefault((row.item_id, row.criterion), []).append(row)
    confidences = store.votes.confidences(run.id)
    # All votes count here: the replay decides which judges are used.
    counting = replace(counting_of(run.plan), stages=None)
    cascade = Cascade()
    rows_of_cells = list[tuple[bool, float, bool, bool, int, tuple[bool, bool]]]()
    for index, item in enumerate(items):
        rubric_of_item = rubric_in_force(item, rubric)
        for name, truth in labels_of(item, rubric_of_item).items():
            cell = rows.get((item.id, name), [])
            leading_rows, following_rows = (
                _rows_of(cell, judges) for judges in (leading, following)
            )
            if not leading_rows or not following_rows:
                continue
            criterion = rubric_of_item.criterion(name)
            stated = [c for j in leading for c in confidences.get((item.id, name, j.name), ())]
            goes, option = _first_stage_result(criterion, leading_rows, counting, run, cascade)
            last = settle(criterion, counting.count(following_rows), run.panel.rules)
            final = None if last is None or last.abstained else last.option
            how_sure = fmean(stated) if stated else np.nan
            answered = (option is not None, final is not None)
            rows_of_cells.append((goes, how_sure, option == truth, final == truth, index, answered))
    goes_on, sureness, first, second, of, decided = (
        zip(*rows_of_cells, strict=True) if rows_of_cells else ((),) * 6
    )
    return ReplayedCells(
        np.array(goes_on, np.bool_),
        np.array(sureness, np.float64),
        np.array(first, np.bool_),
        np.array(second, np.bool_),
        np.array(of, np.int64),
        np.array(decided, np.bool_).reshape(-1, 2),
    )


def _rows_of(rows: Sequence[BallotRow], judges: Sequence[Judge]) -> list[BallotRow]:
    names = {judge.name for judge in judges}
    return [row for row in rows if row.judge in names]


def _first_stage_result(
    criterion: Criterion,
    rows: Sequence[BallotRow],
    counting: VoteCounting,
    run: Run,
    cascade: Cascade,
) -> tuple[bool, int | None]:
    """Return whether a cell escalates whatever the threshold, and the first stage's option."""
    verdict = settle(criterion, counting.count(rows), run.panel.rules)
    if verdict is None:
        return cascade.on_failure, None
    if verdict.abstained:
        return cascade.on_abstention, None
    return cascade.on_split and bool(verdict.entropy), verdict.option


def _cost_of_judges(store: Store, run: Run, judges: Sequence[Judge]) -> float | None:
    """Return the cost of 1,000 cells by these judges, from their calls; ``None`` if unknown."""
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


# As text, and as data.


def sweep_words(swept: SweptCascade) -> str:
    """Return the share of cells that the first judges may decide alone, their accuracy, and the
    savings.
    """
    names, second_names = ", ".join(swept.first), ", ".join(swept.then)
    first_part, then_part = (
        _share_of_decided(right, decided, "it decides")
        for right, decided in zip((swept.alone, swept.all_of_them), swept.decided, strict=True)
    )
    first = f"{names} alone gives the label on {percent(swept.alone)} of {swept.cells:,} labelled "
    first += f"cells{first_part}, "
    together = " together" if len(swept.then) > 1 else ""
    together_right = f"{second_names}{together} on {percent(swept.all_of_them)}{then_part}."
    if not swept.says_how_sure:
        note = " does not say how sure it is, so no threshold can tell which answers go on."
        return f"{first}{together_right} {names}{note}"
    chosen = swept.chosen
    text = (
        f" Where {names} decides alone from a confidence of {chosen.threshold:.2f} on, "
        f"{percent(chosen.goes_on)} go on, and "
    )
    right_share = percent(chosen.right.estimate)
    if swept.tried is None:
        part = _share_of_decided(chosen.right.estimate, chosen.decided, "are decided")
        text += f"{right_share} are right{part} on the labels that the threshold was chosen on."
    else:
        _, tried_right, decided = swept.tried
        right = tried_right.figure.words(percent).inline
        part = _share_of_decided(tried_right.estimate, decided, "are decided")
        text += (
            f"{right} are right{part} on items that were not used to choose the threshold "
            f"({right_share} on those that were)."
        )
    full_cost, part_cost = swept.cost(1.0), swept.cost(chosen.goes_on)
    if full_cost and part_cost is not None:
        text += (
            f" That costs {percent(part_cost / full_cost)} of asking all of them about everything."
        )
    return f"{first}{together_right}{text}"


def _share_of_decided(right_share: float | None, decided: float, judges: str) -> str:
    """Return the share of right answers among decided cells, if some cells are undecided."""
    if right_share is None or decided == 1:
        return ""
    return (
        f" ({percent(right_share / decided)} of the {percent(decided)} that {judges})"
        if decided
        else ""
    )


def sweep_data(swept: SweptCascade) -> dict[str, Any]:
    """Return the data of ``cascade --json``."""

    def point_data(swept_point: CascadePoint) -> dict[str, Any]:
        return {
            "threshold": swept_point.threshold,
            "goes_on": swept_point.goes_on,
            "accuracy": swept_point.right.estimate,
            **ci_and_undefined({"accuracy": swept_point.right.figure}),
            "decided": swept_point.decided,
            "usd_per_thousand": swept.cost(swept_point.goes_on),
        }

    return {
        "run": swept.run.id,
        "first": list(swept.first),
        "then": list(swept.then),
        "cells": swept.cells,
        "first_alone": swept.alone,
        "then_alone": swept.all_of_them,
        "first_decided": swept.decided[0],
        "then_decided": swept.decided[1],
        "chosen": point_data(swept.chosen),
        "held_out": _held_out_as_data(*swept.tried) if swept.tried else None,
        "points": [point_data(swept_point) for swept_point in swept.points],
    }


def _held_out_as_data(goes_on: float, right: BiasEffect, decided: float) -> dict[str, Any]:
    return {
        "goes_on": goes_on,
        "right": right.estimate,
        "decided": decided,
        **ci_and_undefined({"right": right.figure}),
    }
