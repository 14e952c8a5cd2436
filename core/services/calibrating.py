"""The rule ``calibrated``: fitted on a run's labelled items, and used by it without a call.

The fit of a criterion is offered only where it is ahead of the rule in force on labels that it had
not seen: right more often, or nearer where the levels have an order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.aggregate import log_weights
from core.domain.fitted import Fitted, shares
from core.domain.rubric import Criterion
from core.domain.runs import RESTING
from core.domain.votes import BallotRow
from core.errors import Conflict, InputError, Problem
from core.judging.twins import group_numbers
from core.services.counting import counting_of
from core.services.fitted import fitted_of, keep
from core.services.fitting import fit_criterion, in_words
from core.services.fitting_kinds import Labelled
from core.services.preparing import derive_of_run, resolved_items
from core.services.scored import scored_rubric
from core.services.truth import effective, labels_of
from core.store.store import Store


@dataclass(frozen=True)
class Offer:
    """What fitting a criterion came to. ``fitted`` is ``None`` where there was too little.

    ``used``: it settles the run's verdicts now. ``words`` says it all in a sentence or two.
    """

    criterion: str
    fitted: Fitted | None
    used: bool
    words: str

    @property
    def offered(self) -> bool:
        """Whether it may be used instead of the rule in force."""
        return self.fitted is not None and self.fitted.better


def offers(store: Store, run_id: int) -> list[Offer]:
    """A fit per criterion of a run, from all of its items whose truth is known by now."""
    run = store.runs.get(run_id)
    used = fitted_of(run)
    rubric = scored_rubric(store, run)
    cells = labelled_cells(store, run_id)
    found = []
    for criterion in rubric.criteria:
        result = fit_criterion(criterion, cells.get(criterion.name, ()), run.plan.panel.rules)
        fitted = result if isinstance(result, Fitted) else None
        words = in_words(result) if isinstance(result, Fitted) else result
        found.append(Offer(criterion.name, fitted, criterion.name in used, words))
    return found


def use(store: Store, run_id: int, fitted: Sequence[Fitted]) -> int:
    """Settle these criteria of a run by their fitted rules, all others by the panel's rules.

    Everything that follows from the verdicts is derived anew, without a call; an empty sequence
    goes back to the plain rules. Returns how many items there are.

    Raises:
        InputError: a fit did not beat the plain rule, or is of another criterion.
        Conflict: the run is being worked off.
    """
    run = store.runs.get(run_id)
    rubric = scored_rubric(store, run)
    by_name = {c.name: c for c in rubric.criteria}
    problems = tuple(
        problem for each in fitted if (problem := _problem(each, by_name.get(each.criterion)))
    )
    if problems:
        raise InputError("These rules cannot be used for this run.", problems)
    if run.status not in RESTING:
        raise Conflict("The run is being graded. Change its rules when it is done.")
    with store.write():
        keep(store, run_id, fitted)
        run = store.runs.get(run_id)
        items = resolved_items(store, run.plan.dataset_version_id, store.runs.item_ids(run_id))
        return store.results.rebuild(run_id, derive_of_run(store, run, items))


def _problem(fitted: Fitted, criterion: Criterion | None) -> Problem | None:
    if criterion is None or not fitted.fits(criterion):
        return Problem(
            f"The rule for {fitted.criterion!r} was fitted on other options.",
            "Fit it on this run.",
        )
    if not fitted.better:
        return Problem(f"{fitted.criterion!r}: {in_words(fitted)}", "Label more items.")
    return None


def labelled_cells(store: Store, run_id: int) -> dict[str, list[Labelled]]:
    """The cells of a run whose truth is known, by criterion, with the votes that count.

    An item with a rubric of its own takes part where its criterion has the same options.
    """
    run = store.runs.get(run_id)
    plan = run.plan
    rubric = scored_rubric(store, run)
    counting = counting_of(plan)
    ids = store.runs.item_ids(run_id)
    by_item = {found.item_id: found for found in store.votes.ballots(run_id)}
    cells: dict[str, list[Labelled]] = {c.name: [] for c in rubric.criteria}
    items = resolved_items(store, plan.dataset_version_id, ids)
    for item, group in zip(items, group_numbers(items), strict=True):
        own, found = effective(item, rubric), by_item.get(item.id)
        truths = labels_of(item, own)
        if found is None or not truths:
            continue
        rows: dict[str, list[BallotRow]] = {}
        for row in found.ballots:
            rows.setdefault(row.criterion, []).append(row)
        for criterion in rubric.criteria:
            name = criterion.name
            if name in truths and name in rows and _alike(own.criterion(name), criterion):
                ballots = counting.count(rows[name]).ballots
                cells[name].append(Labelled(item.id, ballots, truths[name], str(group)))
    return cells


def _alike(one: Criterion, other: Criterion) -> bool:
    return [o.label for o in one.choices] == [o.label for o in other.choices]


def likely(store: Store, run_id: int) -> dict[tuple[str, str], dict[int, float]]:
    """How likely each scored option of a cell is, by (item id, criterion), from what is settled.

    For criteria only whose fit beats the rule in force, and cells with a vote of a judge that it
    knows; whether the run uses the fit does not matter. An order of review made with it
    (``impact.WhatIf.impact``) finds more errors than one made of votes alone
    (docs/adjudication.md).
    """
    run = store.runs.get(run_id)
    rubric = scored_rubric(store, run)
    counting = counting_of(run.plan)
    fits = {o.criterion: o.fitted for o in offers(store, run_id) if o.fitted and o.offered}
    found: dict[tuple[str, str], dict[int, float]] = {}
    for votes in store.votes.ballots(run_id) if fits else ():
        rows: dict[str, list[BallotRow]] = {}
        for row in votes.ballots:
            rows.setdefault(row.criterion, []).append(row)
        for name in fits.keys() & rows.keys():
            criterion, ballots = rubric.criterion(name), counting.count(rows[name]).ballots
            weights = fits[name].for_item(votes.item_id)
            logs = log_weights(criterion, ballots, weights) if weights else None
            if logs is not None:
                chances = shares(tuple(logs.values()))
                found[votes.item_id, name] = dict(zip(logs, chances, strict=True))
    return found
