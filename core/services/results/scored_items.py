"""A run's items with their settled labels, and the rubric and rules that score their votes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from core.domain.base import build_model
from core.domain.dataset import Item, Label
from core.domain.rubric import Rubric
from core.domain.runs import Derive, Run, RunItemRow, RunPlan, RunRow
from core.domain.weight_fit import Fitted
from core.rubric_diff.edits import question_hash
from core.scoring import ItemScore, needs_texts, score_item
from core.services.results.verdicts import (
    NOTHING_FITTED,
    SettledOf,
    counting_of,
    result_deriver,
    rubric_lookup,
    texts_lookup,
    texts_of_item,
)
from core.store.database.content import dump
from core.store.store import Store


def rubric_in_force(item: Item, rubric: Rubric) -> Rubric:
    """Return the rubric in force for an item: its own if it has one."""
    return item.rubric or rubric


def labels_of(item: Item, rubric: Rubric) -> dict[str, int]:
    """Return the labelled choice per criterion of the rubric, for labels that are one of its
    options.
    """
    labels = {c.name: item.truth(c) for c in rubric.criteria}
    return {name: index for name, index in labels.items() if index is not None}


def score_by_labels(item: Item, rubric: Rubric) -> ItemScore | None:
    """Return the score that the item's labels give; ``None`` unless every criterion has a label."""
    labels = labels_of(item, rubric)
    if len(labels) < len(rubric.criteria):
        return None
    texts = texts_of_item(item) if needs_texts(rubric) else None
    return score_item(rubric, labels, texts=texts)


def score_in_place(row: RunItemRow, item: Item, rubric: Rubric) -> float | None:
    """Return the score by a person's labels if all judges abstained on the item; otherwise
    ``None``.
    """
    if row.score is not None or not row.votes or row.failures:
        return None
    score = score_by_labels(item, rubric)
    return None if score is None else score.score


def with_settled_labels(item: Item, settled: Mapping[str, Label | None]) -> Item:
    """Return the item with people's settled labels, by criterion, instead of its own.

    ``None`` removes a label: people could not assess it.
    """
    if not settled:
        return item
    labels = {**item.labels, **settled}
    labelled = {name: label for name, label in labels.items() if label is not None}
    return item.model_copy(update={"labels": labelled})


def scored_rubric(store: Store, run: RunRow) -> Rubric:
    """Return the rubric that the run's scores follow now. Items may have their own
    (``rubric_in_force``).
    """
    return store.rubrics.version(run.scored_version_id).rubric


# Where a run stores its fitted rules: beside the plan, which never changes.

NOTE = "fitted"


def fitted_of(run: Run) -> dict[str, Fitted]:
    """Return the fitted rules that settle a run's criteria, by criterion name."""
    rules: Mapping[str, object] = run.notes.get(NOTE, {})
    return {name: build_model(Fitted, data, "fitted rule") for name, data in rules.items()}


def keep_fitted(store: Store, run_id: int, fitted: Iterable[Fitted]) -> None:
    """Make exactly these rules settle the run's criteria. It does not derive any verdicts yet."""
    store.runs.set_notes(run_id, {NOTE: {rule.criterion: dump(rule) for rule in fitted}})


def derive_of_run(store: Store, run: Run, items: Sequence[Item]) -> Derive:
    """Return the derivation of a run for these of its items, under the rubric version it
    follows.
    """
    return derivation_for(
        run.plan, scored_rubric(store, run), items, settled_lookup(store, run.id), fitted_of(run)
    )


def derivation_for(
    plan: RunPlan,
    rubric: Rubric,
    items: Sequence[Item],
    settled_of: SettledOf | None = None,
    fitted: Mapping[str, Fitted] = NOTHING_FITTED,
) -> Derive:
    """Return the derivation of a run's results from its votes, settlements and fitted rules."""
    return result_deriver(
        plan.panel.rules,
        counting_of(plan),
        rubric_lookup(rubric, items),
        texts_lookup(items),
        settled_of,
        fitted,
    )


def settled_lookup(store: Store, run_id: int) -> SettledOf:
    """Return a run's settlements, read when needed: inside the recording transaction."""
    return partial(store.settled.of_items, run_id)


def resolved_items(
    store: Store, version: int, ids: Sequence[str] | None, *, upto: int | None = None
) -> tuple[Item, ...]:
    """Return items of a dataset version (``None``: all) with prompt and reference filled in.

    Labels are the dataset's own, overridden by people's settlements in any run on this version;
    ``upto`` is the last review event to use.
    """
    head = store.datasets.version(version).head
    truth = store.settled.truth(version, upto=upto, item_ids=ids)
    items = (head.resolved(item) for item in store.datasets.items(version, ids))
    if not truth:
        return tuple(items)
    return tuple(with_settled_labels(item, truth.get(item.id, {})) for item in items)


def calibration_items(store: Store, plan: RunPlan) -> tuple[Item, ...]:
    """Return the items from which a plan's judges learn; may be empty.

    Their labels are those settled when the run was planned, so that a resumed run learns the same.
    """
    chosen = plan.calibration
    if not chosen:
        return ()
    last_event = plan.details.get("truth_upto", 0)
    return resolved_items(store, chosen["dataset_version"], chosen["items"], upto=last_event)


def _stale_questions(store: Store, run: RunRow) -> tuple[dict[str, str], list[str]]:
    """Return by criterion the hash of the question that scores follow now, and the criteria whose
    votes answer another question, which no person has accepted.
    """
    current = hashes_of_questions(store.rubrics.version(run.scored_version_id).rubric)
    if run.scored_version_id == run.rubric_version_id:
        return current, []
    asked = hashes_of_questions(store.rubrics.version(run.rubric_version_id).rubric)
    agreed = {hash_ for change in store.scored.changes(run.id) for hash_ in change.kept}
    return current, [n for n, now in current.items() if now not in agreed | {asked.get(n)}]


def hashes_of_questions(rubric: Rubric) -> dict[str, str]:
    """Return the hash of each criterion's question, by name."""
    return {c.name: question_hash(rubric, c) for c in rubric.criteria}


def stale_cells(store: Store, run_id: int) -> frozenset[tuple[str, str]]:
    """Return the cells of a run whose question has changed, for ``queueing.make_queue(stale=...)``.

    It excludes items with their own rubric, criteria whose answers a person accepted, and cells
    that people settled under the new question.
    """
    run = store.runs.row(run_id)
    current, stale = _stale_questions(store, run)
    if not stale:
        return frozenset()
    own_rubrics = store.vote_statistics.own_rubrics(run_id)
    ids = [item_id for item_id in store.runs.item_ids(run_id) if item_id not in own_rubrics]
    cells = {(item_id, name) for item_id in ids for name in stale}
    return frozenset(cells - settled_alike(store, run_id, current))


def settled_alike(store: Store, run_id: int, now: dict[str, str]) -> set[tuple[str, str]]:
    """Return the cells that people settled, in any state, when asked the current question."""
    by_version: dict[int, dict[str, str]] = {}
    same_settled = set[tuple[str, str]]()
    for (item_id, name), version_id in store.scored.settled_under(run_id):
        if version_id not in by_version:
            by_version[version_id] = hashes_of_questions(store.rubrics.version(version_id).rubric)
        if by_version[version_id].get(name) == now.get(name):
            same_settled.add((item_id, name))
    return same_settled


def set_decisions_aside(
    store: Store, run_id: int, now: dict[str, str], kept: Collection[str]
) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Return people's decisions on questions other than ``now``, and those on the same questions.

    The first become stale, the second may count again. Items with their own rubric are in neither.
    """
    own_rubrics = store.vote_statistics.own_rubrics(run_id)
    same_settled = settled_alike(store, run_id, now)
    places = {
        (item_id, name)
        for (item_id, name), _ in store.scored.settled_under(run_id)
        if item_id not in own_rubrics
    }
    kept_places = same_settled & places | {
        (item_id, name) for item_id, name in places if now.get(name) in kept
    }
    return places - kept_places, kept_places
