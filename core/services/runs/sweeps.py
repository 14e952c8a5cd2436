"""A sweep: one run for every combination of values to vary, on the same items with the same seed.

Whatever any of the runs learns from, or shows as an example, is left out of the evaluation of all
of them, so that their differences are paired.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, NamedTuple

from core import clock
from core.domain.panel import Panel
from core.domain.runs import Run
from core.errors import InputError
from core.identity import content_hash, seeded
from core.services.access.allowing import allowed
from core.services.datasets.twins import apart
from core.services.runs.candidates import Candidate, Candidates
from core.services.runs.cost_estimate import CostEstimate, estimate
from core.services.runs.lifecycle import start
from core.services.runs.planning import RunRequest, limited, teachers
from core.store.store import Store
from core.text.numbers import percent

#: More runs than this at once are surely a mistake.
MOST_RUNS = 60
MODE_WORDS = {
    "criterion": "one criterion a call",
    "rubric": "whole rubric",
    "two_step": "two steps",
}
Judging = Literal["together", "alone", "both"]


@dataclass(frozen=True)
class Axes:
    """The values to vary; an empty one leaves what the request says.

    ``judging``: the whole panel, each of its judges alone, or both.
    """

    few_shot: tuple[int, ...] = ()
    judging: Judging = "together"
    modes: tuple[Literal["criterion", "rubric", "two_step"], ...] = ()
    layouts: tuple[Literal["auto", "item_first", "criterion_first"], ...] = ()
    replicates: tuple[int, ...] = ()
    label_shares: tuple[float, ...] = ()


class Variant(NamedTuple):
    """One run of a sweep: what it has of each axis that varies, in words, and its request."""

    values: Mapping[str, str]
    request: RunRequest

    @property
    def name(self) -> str:
        """The values in one line."""
        return ", ".join(self.values.values())


@dataclass(frozen=True)
class Sweep:
    """The runs of a sweep. All grade ``items``; ``teaching`` are left out of all of them.

    ``same`` counts combinations that would only have repeated another one.
    """

    name: str
    variants: tuple[Variant, ...]
    items: tuple[str, ...]
    teaching: tuple[str, ...]
    same: int = 0


@dataclass(frozen=True)
class SweepEstimate:
    """What all runs of a sweep will take, one ``Estimate`` each. ``cost``: ``None`` if unknown."""

    runs: tuple[CostEstimate, ...]

    @property
    def votes(self) -> int:
        """Votes of all runs."""
        return sum(one.votes for one in self.runs)

    @property
    def calls(self) -> int:
        """Calls to models of all runs."""
        return sum(one.calls for one in self.runs)

    @property
    def cost(self) -> float | None:
        """US dollars of all runs, or ``None`` where a price is unknown."""
        costs = [one.cost for one in self.runs]
        return None if None in costs else sum(c for c in costs if c is not None)


def plan_sweep(store: Store, request: RunRequest, axes: Axes) -> Sweep:
    """The runs that the values make.

    Raises:
        InputError: nothing varies, too much does, or there is nothing to learn from or to grade.
    """
    rubric = store.rubrics.version(request.rubric_version).rubric
    seed = clock.draw_seed() if request.seed is None else request.seed
    kept, same = _distinct(list(_combinations(replace(request, seed=seed), axes)))
    pool = Candidates(store, request.dataset_version, rubric)
    everything = pool.everyone
    ranked = _ranked(pool, everything, seed) if any(_learns(v.request) for v in kept) else []
    lessons = [_lesson(v.request, ranked) for v in kept]
    if any(_learns(v.request) and not of for v, of in zip(kept, lessons, strict=True)):
        raise InputError(_NO_LABELS)
    taught = {item.id for of in lessons for item in of}
    items = [item for item in everything if item.id not in taught and item.text]
    chosen = tuple(item.id for item in limited(items, request, seed))
    if not chosen:
        raise InputError(_NOTHING_LEFT)
    name = request.name or "Sweep"
    runs = (_fixed(v, name, chosen, of) for v, of in zip(kept, lessons, strict=True))
    whole = tuple(item.id for item in everything if item.id in taught)
    return Sweep(name, tuple(runs), chosen, whole, same)


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


def _distinct(made: Sequence[Variant]) -> tuple[tuple[Variant, ...], int]:
    """The combinations that are not the same run as an earlier one, and how many are."""
    first: dict[str, Variant] = {}
    for one in made:
        first.setdefault(content_hash(_matters(one.request)), one)
    if len(first) < 2:
        raise InputError("A sweep needs two runs or more. Choose two values or more to vary.")
    if len(first) > MOST_RUNS:
        raise InputError(f"These are {len(first)} runs; at most {MOST_RUNS} are made at once.")
    return tuple(first.values()), len(made) - len(first)


def _fixed(
    one: Variant, name: str, items: tuple[str, ...], lesson: tuple[Candidate, ...]
) -> Variant:
    request = replace(
        one.request,
        name=f"{name}: {one.name}"[:200],
        items=items,
        limit=None,
        learn_items=tuple(item.id for item in lesson),
    )
    return Variant(one.values, request)


def estimate_sweep(store: Store, sweep: Sweep) -> SweepEstimate:
    """The estimate of all runs; answers kept from earlier runs may make it less."""
    return SweepEstimate(tuple(estimate(store, one.request) for one in sweep.variants))


@allowed("write")
def start_sweep(store: Store, sweep: Sweep) -> tuple[int, ...]:
    """Makes and queues all runs, or none; returns their ids in the order of the variants."""
    mark = content_hash([sweep.name, list(sweep.items), clock.now()]).rpartition(":")[2][:12]
    with store.write():
        made = tuple(
            start(
                store,
                replace(
                    one.request,
                    details={"sweep": {"id": mark, "name": sweep.name, "values": dict(one.values)}},
                ),
            )
            for one in sweep.variants
        )
        store.settings.put(f"sweep/{mark}", list(made))
    return made


def runs_of_sweep(store: Store, run: Run) -> tuple[int, ...]:
    """The runs made together with this one, itself among them; empty where it is of no sweep."""
    sweep = run.plan.details.get("sweep")
    return () if not sweep else tuple(store.settings.get(f"sweep/{sweep['id']}", []))


def _combinations(request: RunRequest, axes: Axes) -> Iterator[Variant]:
    asking = request.panel.asking
    panels = dict(_panels(request.panel, axes.judging))
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
        asked = asking.model_copy(update={"few_shot": k, "mode": mode, "layout": layout})
        panel = panels[judges].model_copy(update={"asking": asked})
        words = {
            "judges": judges,
            "examples": f"{k} examples" if k != 1 else "1 example",
            "mode": MODE_WORDS[mode],
            "layout": str(layout).replace("_", " "),
            "replicates": f"asked {times}x",
            "label share": f"{percent(share)} of labels",
        }
        yield Variant(
            {name: words[name] for name in varied},
            replace(request, panel=panel, replicates=times, label_share=share),
        )


def _panels(panel: Panel, judging: Judging) -> Iterator[tuple[str, Panel]]:
    if judging != "alone":
        yield "all judges", panel
    if judging != "together":
        for judge in panel.judges:
            # Alone, nobody is a shadow and there is no stage to go on to.
            seat = judge.model_copy(update={"shadow": False, "stage": 0})
            rest = {"judges": (seat,), "cascade": None, "early_stop": False}
            yield judge.name, panel.model_copy(update={**rest, "name": judge.name[:200]})


def _models(request: RunRequest) -> bool:
    return any(not judge.offline for judge in request.panel.judges)


def _learns(request: RunRequest) -> bool:
    learns = any(judge.learns for judge in request.panel.judges)
    return learns or (_models(request) and request.panel.asking.few_shot > 0)


def _matters(request: RunRequest) -> list[Any]:
    """What decides a run's answers, so that combinations which only repeat another are found."""
    panel = request.panel.model_dump(mode="json", exclude={"name"})
    if not _models(request):
        panel.pop("asking")
    share = request.label_share if _learns(request) else None
    if not any(judge.offline for judge in request.panel.judges) and len(panel["judges"]) == 1:
        panel["rules"] = None
    return [panel, request.replicates, share]


def _ranked(pool: Candidates, items: Sequence[Candidate], seed: int) -> list[list[Candidate]]:
    """Who may teach, twins together, in a seeded order: a smaller share is a part of a larger one.

    Where the dataset marks a calibration part, that is it, whatever the share. None has a twin
    among the others, which are graded.
    """
    found = teachers(items)
    marked = [item for item in found if item.split == "calibration"]
    order, _ = apart(marked or found, items, pool.twins)
    if found and not order:
        raise InputError(_ALL_TWINS)
    seeded("sweep", seed).shuffle(order)
    return order


def _lesson(request: RunRequest, ranked: Sequence[Sequence[Candidate]]) -> tuple[Candidate, ...]:
    if not _learns(request):
        return ()
    everyone = [item for group in ranked for item in group]
    if everyone and everyone[0].split == "calibration":
        return tuple(everyone)
    wanted = round(request.label_share * len(everyone))
    lesson = list[Candidate]()
    for group in ranked:
        if not lesson or len(lesson) + len(group) <= wanted:
            lesson += group
    return tuple(lesson)
