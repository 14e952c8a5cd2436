"""The items of a run as judges and people see them, and how its results follow from its votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from core.domain.dataset import Item
from core.domain.fitted import Fitted
from core.domain.rubric import Rubric
from core.domain.runs import Derive, Run, RunPlan
from core.services.counting import counting_of
from core.services.fitted import fitted_of
from core.services.results import NOTHING_FITTED, SettledOf, deriver, rubric_lookup, texts_lookup
from core.services.scored import scored_rubric
from core.services.truth import with_truth
from core.store.store import Store


def derive_of_run(store: Store, run: Run, items: Sequence[Item]) -> Derive:
    """The derivation of a run over these items of it, under the version that it follows."""
    return derive_for(
        run.plan, scored_rubric(store, run), items, settled_lookup(store, run.id), fitted_of(run)
    )


def derive_for(
    plan: RunPlan,
    rubric: Rubric,
    items: Sequence[Item],
    settled_of: SettledOf | None = None,
    fitted: Mapping[str, Fitted] = NOTHING_FITTED,
) -> Derive:
    """The derivation of a run's results from its votes, what people settled and fitted rules."""
    return deriver(
        plan.panel.rules,
        counting_of(plan),
        rubric_lookup(rubric, items),
        texts_lookup(items),
        settled_of,
        fitted,
    )


def settled_lookup(store: Store, run_id: int) -> SettledOf:
    """What people settled in a run, read when it is needed: inside the recording transaction."""
    return partial(store.settled.of_items, run_id)


def resolved_items(
    store: Store, version: int, ids: Sequence[str] | None, *, upto: int | None = None
) -> tuple[Item, ...]:
    """Items of a dataset version (``None``: all) with its prompt and reference filled in.

    Labels are the dataset's own and, laid over them, what people settled in any run over this
    version; ``upto`` is the last review event that may be known.
    """
    head = store.datasets.version(version).head
    truth = store.settled.truth(version, upto=upto, item_ids=ids)
    items = (head.resolved(item) for item in store.datasets.items(version, ids))
    if not truth:
        return tuple(items)
    return tuple(with_truth(item, truth.get(item.id, {})) for item in items)


def calibration_items(store: Store, plan: RunPlan) -> tuple[Item, ...]:
    """The items that a plan's judges learn from; empty where there are none.

    They know what was settled when the run was planned, so that a resumed run learns the same.
    """
    chosen = plan.calibration
    if not chosen:
        return ()
    upto = plan.details.get("truth_upto", 0)
    return resolved_items(store, chosen["dataset_version"], chosen["items"], upto=upto)
