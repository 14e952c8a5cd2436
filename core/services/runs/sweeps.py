"""Sweeps: one run for every combination of varied settings, on the same items and seed.

Items that any run learns from, or shows as an example, are excluded from grading in all runs, so
that their differences are paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

from core import clock
from core.domain.panel import Panel
from core.domain.runs import Run
from core.errors import InputError
from core.identity import content_hash, seeded_random
from core.services.access.allowing import allowed
from core.services.datasets.twins import twin_groups
from core.services.runs.candidates import Candidate, Candidates
from core.services.runs.cost_estimate import CostEstimate, estimate_request
from core.services.runs.lifecycle import start
from core.services.runs.planning import RunRequest, take_items, teaching_candidates
from core.store.store import Store
from core.text.numbers import percent

#: A larger number of runs at once is surely a mistake.
MOST_RUNS = 60
MODE_WORDS = {
    "criterion": "one criterion a call",
    "rubric": "whole rubric",
    "two_step": "two steps",
}
Judging = Literal["together", "alone", "both"]


@dataclass(frozen=True)
class SweepAxes:
    """The values to vary; an empty axis keeps the request's value.

    ``judging``: the whole panel, each of its judges alone, or both.
    """

    few_shot: tuple[int, ...] = ()
    judging: Judging = "together"
    modes: tuple[Literal["criterion", "rubric", "two_step"], ...] = ()
    layouts: tuple[Literal["auto", "item_first", "criterion_first"], ...] = ()
    replicates: tuple[int, ...] = ()
    label_shares: tuple[float, ...] = ()


@dataclass(frozen=True)
class Sweep:
    """The runs of a sweep. All grade ``items`` and leave ``teaching`` ungraded.

    The details of each, under ``sweep``, have its ``values`` of the varied axes in words. ``same``
    counts combinations dropped as repeats of another.
    """

    name: str
    variants: tuple[RunRequest, ...]
    items: tuple[str, ...]
    teaching: tuple[str, ...]
    same: int = 0


def plan_sweep(store: Store, request: RunRequest, axes: SweepAxes) -> Sweep:
    """Return the runs that the values combine to.

    Raises:
        InputError: nothing varies, too much varies, or no items are left to learn from or grade.
    """
    rubric = store.rubrics.version(request.rubric_version).rubric
    seed = clock.draw_seed() if request.seed is None else request.seed
    variants, same = _distinct_runs(list(_all_combinations(replace(request, seed=seed), axes)))
    pool = Candidates(store, request.dataset_version, rubric)
    everything = pool.everyone
    ranked = _ranked_groups(pool, everything, seed) if any(map(_uses_learners, variants)) else []
    lessons = [_items_of_lesson(v, ranked) for v in variants]
    if any(_uses_learners(v) and not of for v, of in zip(variants, lessons, strict=True)):
        raise InputError(_NO_LABELS)
    examples = {item.id for lesson in lessons for item in lesson}
    items = [item for item in everything if item.id not in examples and item.text]
    chosen = tuple(item.id for item in take_items(items, request, seed))
    if not chosen:
        raise InputError(_NOTHING_LEFT)
    name = request.name or "Sweep"
    runs = (_fixed_run(v, name, chosen, of) for v, of in zip(variants, lessons, strict=True))
    teaching = tuple(item.id for item in everything if item.id in examples)
    return Sweep(name, tuple(runs), chosen, teaching, same)


_NO_LABELS = (
    "Examples and offline judges need labelled items, and there are none whose labels fit this "
    "rubric. Label some items, or vary something else."
)
_ALL_TWINS = (
    "Every labelled item has the text of one that is graded: judges would know its label "
    "beforehand. Label other texts."
)
_NOTHING_LEFT = (
    "There is nothing to grade: the judges would learn from every item. Use a smaller label share."
)


def _distinct_runs(variants: Sequence[RunRequest]) -> tuple[tuple[RunRequest, ...], int]:
    """Return the combinations without repeats, and the number of repeats."""
    first: dict[str, RunRequest] = {}
    for variant in variants:
        first.setdefault(content_hash(_determining_settings(variant)), variant)
    if len(first) < 2:
        raise InputError("A sweep needs two runs or more. Choose two values or more to vary.")
    if len(first) > MOST_RUNS:
        raise InputError(f"These are {len(first)} runs; at most {MOST_RUNS} are made at once.")
    return tuple(first.values()), len(variants) - len(first)


def _fixed_run(
    variant: RunRequest, name: str, items: tuple[str, ...], lesson: tuple[Candidate, ...]
) -> RunRequest:
    return replace(
        variant,
        name=f"{name}: {variant_words(variant)}"[:200],
        items=items,
        limit=None,
        learn_items=tuple(item.id for item in lesson),
    )


def variant_words(variant: RunRequest) -> str:
    """Return a run's values of the varied axes in one line."""
    return ", ".join(variant.details["sweep"]["values"].values())


def estimate_sweep(store: Store, sweep: Sweep) -> list[CostEstimate]:
    """Return the estimates of all runs; cached answers may reduce the real cost."""
    return [estimate_request(store, variant) for variant in sweep.variants]


@allowed("write")
def start_sweep(store: Store, sweep: Sweep) -> tuple[int, ...]:
    """Create and queue all runs, or none; return their ids in the order of the variants."""
    mark = content_hash([sweep.name, list(sweep.items), clock.now()]).rpartition(":")[2][:12]
    with store.write():
        run_ids = tuple(
            start(
                store,
                replace(
                    variant,
                    details={"sweep": {"id": mark, "name": sweep.name, **variant.details["sweep"]}},
                ),
            )
            for variant in sweep.variants
        )
        store.settings.put(f"sweep/{mark}", list(run_ids))
    return run_ids


def runs_of_sweep(store: Store, run: Run) -> tuple[int, ...]:
    """Return all runs of this run's sweep, itself included; empty if it belongs to no sweep."""
    sweep = run.plan.details.get("sweep")
    return () if not sweep else tuple(store.settings.get(f"sweep/{sweep['id']}", []))


def _all_combinations(request: RunRequest, axes: SweepAxes) -> Iterator[RunRequest]:
    asking = request.panel.asking
    panels = dict(_panels_of(request.panel, axes.judging))
    axis: dict[str, Sequence[Any]] = {
        "judges": list(panels),
        "examples": axes.few_shot or (asking.few_shot,),
        "mode": axes.modes or (asking.mode,),
        "layout": axes.layouts or (asking.layout,),
        "replicates": axes.replicates or (request.replicates,),
        "label share": axes.label_shares or (request.label_share,),
    }
    varied = [name for name, values in axis.items() if len(values) > 1]
    for judges, k, mode, layout, times, share in product(*axis.values()):
        setting = asking.model_copy(update={"few_shot": k, "mode": mode, "layout": layout})
        panel = panels[judges].model_copy(update={"asking": setting})
        labels = {
            "judges": judges,
            "examples": f"{k} examples" if k != 1 else "1 example",
            "mode": MODE_WORDS[mode],
            "layout": str(layout).replace("_", " "),
            "replicates": f"asked {times}x",
            "label share": f"{percent(share)} of labels",
        }
        details = {"sweep": {"values": {name: labels[name] for name in varied}}}
        yield replace(request, panel=panel, replicates=times, label_share=share, details=details)


def _panels_of(panel: Panel, judging: Judging) -> Iterator[tuple[str, Panel]]:
    if judging != "alone":
        yield "all judges", panel
    if judging != "together":
        for judge in panel.judges:
            # A judge alone cannot be a shadow or have a next stage.
            seat = judge.model_copy(update={"shadow": False, "stage": 0})
            changes = {"judges": (seat,), "cascade": None, "early_stop": False}
            yield judge.name, panel.model_copy(update={**changes, "name": judge.name[:200]})


def _uses_models(request: RunRequest) -> bool:
    return any(not judge.offline for judge in request.panel.judges)


def _uses_learners(request: RunRequest) -> bool:
    learns = any(judge.learns for judge in request.panel.judges)
    return learns or (_uses_models(request) and request.panel.asking.few_shot > 0)


def _determining_settings(request: RunRequest) -> list[Any]:
    """Return what determines a run's answers, to find repeated combinations."""
    panel = request.panel.model_dump(mode="json", exclude={"name"})
    if not _uses_models(request):
        panel.pop("asking")
    share = request.label_share if _uses_learners(request) else None
    if not any(judge.offline for judge in request.panel.judges) and len(panel["judges"]) == 1:
        panel["rules"] = None
    return [panel, request.replicates, share]


def _ranked_groups(
    pool: Candidates, items: Sequence[Candidate], seed: int
) -> list[list[Candidate]]:
    """Return the items to learn from, grouped by text, in a seeded order.

    A smaller share is part of every larger share. A marked calibration split is used whole. Items
    with a twin among the graded items are excluded.
    """
    labelled = teaching_candidates(items)
    marked = [item for item in labelled if item.split == "calibration"]
    order, _ = twin_groups(marked or labelled, items, pool.twins)
    if labelled and not order:
        raise InputError(_ALL_TWINS)
    seeded_random("sweep", seed).shuffle(order)
    return order


def _items_of_lesson(
    request: RunRequest, ranked: Sequence[Sequence[Candidate]]
) -> tuple[Candidate, ...]:
    if not _uses_learners(request):
        return ()
    everyone = [item for group in ranked for item in group]
    if everyone and everyone[0].split == "calibration":
        return tuple(everyone)
    size = round(request.label_share * len(everyone))
    lesson = list[Candidate]()
    for group in ranked:
        if not lesson or len(lesson) + len(group) <= size:
            lesson += group
    return tuple(lesson)
