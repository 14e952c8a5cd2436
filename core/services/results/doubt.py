"""The cells of a run that a person should look at: those without a clear answer by the votes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from core.domain.runs import Run
from core.domain.votes import ADJUDICATED, BallotRow, Verdict
from core.services.results.item_view import choice_label
from core.services.results.scored_items import scored_rubric
from core.services.results.verdicts import counting_of, rubric_lookup
from core.store.store import Store
from core.text import numbers as say


class DoubtfulCell(NamedTuple):
    """A cell, its verdict by the votes, and why it is in doubt: failed, split or abstained."""

    item: str
    criterion: str
    why: str
    verdict: str | None
    agreement: float | None
    entropy: float | None
    votes: int
    abstentions: int
    failures: int


def doubtful_cells(store: Store, run_id: int) -> list[DoubtfulCell]:
    """Return failed cells first, then those with the least agreement, then abstentions.

    A cell is in doubt if a call failed and was not repeated, if judges chose different options, or
    if a judge abstained that was not switched off there. Cells settled by people are not. Ties are
    ordered by entropy, then by the run's order. Raises ``NotFound``.
    """
    run = store.runs.get(run_id)
    failures: dict[tuple[str, str], int] = {}
    for failure in store.votes.failed(run_id):
        place = (failure.item, failure.criterion)
        failures[place] = failures.get(place, 0) + 1
    cells = {(item, cell.criterion): cell for item, cell in store.results.verdicts(run_id)}
    ids = store.runs.item_ids(run_id)
    items = store.datasets.load(run.dataset_version_id).items
    rubric_of = rubric_lookup(scored_rubric(store, run), items)
    unasked = only_switched_off(store, run)
    doubtful = list[DoubtfulCell]()
    for item in ids:
        for criterion in rubric_of(item).criteria:
            cell, failed = (
                cells.get((item, criterion.name)),
                failures.get((item, criterion.name), 0),
            )
            reason = _doubt_reason(cell, failed, away=(item, criterion.name) in unasked)
            if not reason:
                continue
            label = choice_label(criterion, cell.option, cell.abstained) if cell else None
            figures = (cell.agreement, cell.entropy, cell.votes, cell.abstentions) if cell else None
            agreement, entropy, votes, abstentions = figures or (None, None, 0, 0)
            doubtful.append(
                DoubtfulCell(
                    item,
                    criterion.name,
                    reason,
                    label,
                    agreement,
                    entropy,
                    votes,
                    abstentions,
                    failed,
                )
            )
    return sorted(doubtful, key=_doubt_order)


def _doubt_reason(cell: Verdict | None, failed: int, *, away: bool) -> str:
    if cell is not None and cell.rule == ADJUDICATED:
        return ""
    if failed:
        return "failed"
    if cell is None:
        return ""
    # ``agreement`` is the agreement with the verdict. If all judges chose another option than the
    # verdict, they do not disagree.
    if cell.entropy:
        return "split"
    return "abstained" if (cell.abstained or cell.abstentions) and not away else ""


def only_switched_off(store: Store, run: Run) -> frozenset[tuple[str, str]]:
    """Return the cells (item, criterion) on which only switched-off judges abstained.

    An offline judge that could not learn a criterion abstains on every item (docs/decisions/0003),
    which says nothing about the items.
    """
    switched_off: dict[str, set[str]] = {}
    for judge, reports in run.notes.get("training", {}).items():
        for criterion, report in reports.items():
            if not report.get("trained"):
                switched_off.setdefault(criterion, set()).add(judge)
    counting, doubtful = counting_of(run.plan), set[tuple[str, str]]()
    for criterion, judges in switched_off.items():
        rows: dict[str, list[BallotRow]] = {}
        for row in store.votes.all_ballots(run.id, criterion):
            rows.setdefault(row.item_id, []).append(row)
        for item, ballots in rows.items():
            abstaining = {b.judge for b in counting.count(ballots) if b.abstained}
            if abstaining and abstaining <= judges:
                doubtful.add((item, criterion))
    return frozenset(doubtful)


def _doubt_order(cell: DoubtfulCell) -> tuple[int, float, float]:
    rank = ("failed", "split", "abstained").index(cell.why)
    agreement = 1.0 if cell.agreement is None else cell.agreement
    return rank, agreement, -(cell.entropy or 0.0)


#: The number of cells in doubt that are printed; ``--json`` has all.
_SHOWN_DOUBT = 50


def doubt_data(store: Store, run_id: int, item: str | None = None) -> dict[str, Any]:
    """Return the data of ``show --doubt --json``: the cells in doubt of one item, or of all."""
    if item is not None:
        store.results.item(run_id, item)  # Raises ``NotFound`` for an unknown item.
    cells = [cell for cell in doubtful_cells(store, run_id) if item in (None, cell.item)]
    return {"run": run_id, "cells": [cell._asdict() for cell in cells]}


def doubt_text(doubt: Mapping[str, Any]) -> str:
    """Return the cells as lines."""
    cells = doubt["cells"]
    if not cells:
        return "No cell is in doubt: all calls came through, and all judges agree."
    lines = [
        f"{cell['item']}  {cell['criterion']}  {_doubt_line(cell)}" for cell in cells[:_SHOWN_DOUBT]
    ]
    unlisted = len(cells) - _SHOWN_DOUBT
    return "\n".join(
        [*lines, *([f"and {unlisted:,} more; --json has all"] if unlisted > 0 else [])]
    )


def _doubt_line(cell: Mapping[str, Any]) -> str:
    if cell["why"] == "failed":
        return f"failed: {say.plural(cell['failures'], 'call')} gave no vote"
    if cell["why"] == "split":
        return f"split: {cell['verdict']}, agreement {say.score(cell['agreement'])}"
    return f"abstained: {say.plural(cell['abstentions'], 'vote')}"
