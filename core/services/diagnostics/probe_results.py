"""What probes of a run found: by judge and edit, over all criteria and on each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Rubric
from core.domain.runs import Run
from core.errors import NotFound
from core.metrics.bias.effects import BiasEffect
from core.metrics.bias.probes import (
    FALSE_ALARMS,
    FLIPS,
    NOTHING,
    ORIGINALS,
    Replies,
    accused,
    effect,
    findable,
    flip_effect,
    flips,
    shifts,
    slopes,
)
from core.metrics.estimate import Estimate
from core.metrics.measure import Array
from core.services.diagnostics.finding_words import sure
from core.services.diagnostics.probe_edits import (
    AGAIN,
    DOSES,
    EDITS,
    LAST_LINES,
    NEUTRAL,
    ORIGINAL,
    ProbeEdit,
)
from core.services.diagnostics.probes import houses_of
from core.services.results.grid import earned
from core.services.results.scored_items import effective
from core.services.runs.questions import PROBE
from core.store.store import Store
from core.text.model_names import family_of
from core.text.numbers import percent, score

#: What of a share of 0.1 an effect is measured in: what answers earn, or how many of them change.
EARNS, CHANGES = "shift", "flips"
PROMISED = (
    f"A judge that no edit by rule moves is accused of anything in at most {FALSE_ALARMS:.0%} of "
    "whole sets of probes, however good longer answers are."
)


@dataclass(frozen=True)
class ProbeFigure:
    """What one edit does to one judge's answers, on one criterion or (``""``) on all.

    ``measure`` says of what ``effect`` is the mean: of how much more of a criterion's best the same
    answers earn (``shift``), or of how many more of them change than by a line that says nothing
    (``flips``). ``changed``, ``nothing`` and ``itself`` are the shares of answers that change under
    the edit, by such a line, and when merely asked again; ``doses`` the shift at each dose.
    ``findable``: what would have been found. ``earned``: the criterion rightly rewards this edit,
    so that nobody is accused of it; over all criteria, on every one of them.
    """

    judge: str
    edit: ProbeEdit
    criterion: str
    measure: str
    effect: BiasEffect
    changed: Estimate
    nothing: Estimate
    itself: Estimate
    doses: tuple[tuple[float, BiasEffect], ...] = ()
    accused: bool = False
    findable: float | None = None
    earned: bool = False


@dataclass(frozen=True)
class ProbeResult:
    """All figures of a probe: ``whole`` over all criteria, ``single`` on each."""

    run: Run
    answers: int
    whole: tuple[ProbeFigure, ...]
    single: tuple[ProbeFigure, ...]

    @property
    def findings(self) -> list[str]:
        """A sentence for each fault: a judge and an edit, with the criteria where it shows most."""
        return [self.sentence(one) for one in self.whole if self.parts(one) or one.accused]

    def parts(self, one: ProbeFigure) -> list[ProbeFigure]:
        """The criteria on which this edit surely moves this judge, the most first."""
        found = [
            part
            for part in self.single
            if (part.judge, part.edit) == (one.judge, one.edit) and part.accused
        ]
        return sorted(found, key=lambda part: -abs(part.effect.estimate or 0.0))

    def sentence(self, one: ProbeFigure) -> str:
        """What a finding says, in words."""
        return _sentence(one, self.parts(one))


def result(store: Store, probe_id: int) -> ProbeResult:
    """What a probe found so far. Raises ``NotFound`` where the run is no probe."""
    run = store.runs.get(probe_id)
    if PROBE not in run.plan.details:
        raise NotFound(f"Run {probe_id} is no probe.")
    items = tuple(store.datasets.items(run.dataset_version_id, store.runs.item_ids(probe_id)))
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    grid = ProbeGrid(items, rubric, houses_of(run.panel.judges))
    asked = run.plan.details[PROBE]
    edits = [EDITS[name] for name in asked["edits"]]
    given = grid.replies(store, run)
    found = figures(run.panel.judges, edits, given, grid, asked.get("earns", {}))
    return ProbeResult(run, len(grid.of), *found)


def figures(
    judges: Sequence[Judge],
    edits: Sequence[ProbeEdit],
    given: Mapping[str, Replies],
    grid: ProbeGrid,
    earns: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[tuple[ProbeFigure, ...], tuple[ProbeFigure, ...]]:
    """What every edit does to every judge: over all criteria, and on each where there are more.

    A criterion that ``earns`` an edit is left out of all, and nobody is accused on it.
    """
    whole, single = list[ProbeFigure](), list[ProbeFigure]()
    for judge in judges:
        for edit in edits:
            earned = {name for name, some in earns.items() if edit.name in some}
            asked = [at for name, at in grid.criteria.items() if name not in earned]
            replies = given[judge.name]
            one = _figure(judge, edit, "", replies.of(asked) if asked else replies, grid)
            whole.append(replace(one, earned=not asked))
            if len(grid.criteria) > 1:
                singly = _singly(judge, edit, replies, grid)
                single += [replace(one, earned=one.criterion in earned) for one in singly]
    return _accused(whole, single, len(grid.criteria))


def _accused(
    whole: Sequence[ProbeFigure], single: Sequence[ProbeFigure], criteria: int
) -> tuple[tuple[ProbeFigure, ...], tuple[ProbeFigure, ...]]:
    found = {id(one): one for one in (*whole, *single) if one.earned}
    # What a model wrote may say more or less: nothing is promised of it, and it is by itself.
    for written in (False, True):
        parts = [
            [one for one in some if one.edit.written == written and not one.earned]
            for some in (whole, single)
        ]
        faults = accused(*([one.effect for one in part] for part in parts))
        for part, fault in zip(parts, faults, strict=True):
            tests = sum(one.effect.p is not None for one in part)
            for one, is_fault in zip(part, fault, strict=True):
                cells = one.effect.n * (1 if one.criterion else criteria)
                null = FLIPS.value if one.measure == CHANGES else 0.0
                least = findable(one.effect, tests, cells, null)
                found[id(one)] = replace(one, accused=is_fault, findable=least)
    return tuple(found[id(one)] for one in whole), tuple(found[id(one)] for one in single)


class ProbeGrid:
    """Where every answer stands: items, texts, criteria."""

    def __init__(self, items: Sequence[Item], rubric: Rubric, houses: Sequence[str]) -> None:
        facts = {item.id: item.meta[PROBE] for item in items}
        originals = dict.fromkeys(fact["of"] for fact in facts.values())
        self.of = {of: at for at, of in enumerate(originals)}
        names = [f"name:{house}" for house in houses]
        longer = [f"longer:{round(dose * 100)}" for dose in DOSES]
        self.texts = {
            key: at for at, key in enumerate([ORIGINAL, AGAIN, NEUTRAL, *longer, *names, *EDITS])
        }
        self.place = {
            id_: (self.of[fact["of"]], self.texts[fact["text"]]) for id_, fact in facts.items()
        }
        self.grown = np.full((len(self.of), len(self.texts)), np.nan)
        for id_, fact in facts.items():
            self.grown[self.place[id_]] = fact["grown"]
        self.rubric_of = {item.id: effective(item, rubric) for item in items}
        every = [c for r in self.rubric_of.values() for c in r.criteria]
        self.criteria = {name: at for at, name in enumerate(dict.fromkeys(c.name for c in every))}
        self.ordered = {c.name for c in every if c.scale != "nominal"}

    def replies(self, store: Store, run: Run) -> dict[str, Replies]:
        """The answers of every judge."""
        shape = (len(self.of), len(self.texts), len(self.criteria))
        found = {
            judge.name: Replies(np.full(shape, np.nan), np.full(shape, -1, np.int64))
            for judge in run.panel.judges
        }
        for row in store.votes.all_ballots(run.id):
            criterion = self.rubric_of[row.item_id].criterion(row.criterion)
            at = (*self.place[row.item_id], self.criteria[row.criterion])
            given = found[row.judge]
            given.options[at] = len(criterion.choices) if row.option is None else row.option
            if row.option is not None and row.criterion in self.ordered:
                share = earned(criterion, criterion.values[row.option])
                given.earned[at] = np.nan if share is None else share
        return found


def _singly(
    judge: Judge, edit: ProbeEdit, given: Replies, grid: ProbeGrid
) -> Iterator[ProbeFigure]:
    for name, at in grid.criteria.items():
        yield _figure(judge, edit, name, given.of([at]), grid)


def _figure(
    judge: Judge, edit: ProbeEdit, criterion: str, given: Replies, grid: ProbeGrid
) -> ProbeFigure:
    columns = _columns(judge, edit, grid)
    if not columns:
        why = "The maker of this judge's model is not known by its name."
        nothing = Estimate.undefined(why)
        return ProbeFigure(
            judge.name, edit, criterion, EARNS, BiasEffect.undefined(why), *(nothing,) * 3
        )
    ordered = bool(np.isfinite(given.earned).any())
    doses: tuple[tuple[float, BiasEffect], ...] = ()
    if edit.side is None or not ordered:
        measure, found = CHANGES, flip_effect(given.options, columns[0])
    elif edit.name == "longer":
        measure = EARNS
        places = [grid.texts[f"longer:{round(dose * 100)}"] for dose in DOSES]
        found = effect(slopes(given.earned, places, grid.grown[:, places]), edit.side)
        doses = tuple(
            (dose, effect(shifts(given.earned, [at]), edit.side))
            for dose, at in zip(DOSES, places, strict=True)
        )
    else:
        measure = EARNS
        found = effect(shifts(given.earned, columns[:1], columns[1:] or ORIGINALS), edit.side)
    return ProbeFigure(
        judge=judge.name,
        edit=edit,
        criterion=criterion,
        measure=measure,
        effect=found,
        changed=_share(flips(given.options, columns[0])),
        nothing=_share(flips(given.options, NOTHING)),
        itself=_share(flips(given.options, ORIGINALS[1])),
        doses=doses,
    )


def _columns(judge: Judge, edit: ProbeEdit, grid: ProbeGrid) -> list[int]:
    """The texts of an edit: the one that is looked at, then those it is held against."""
    if edit.name == "longer":
        return [grid.texts[f"longer:{round(DOSES[-1] * 100)}"]]
    if edit.name != "name":
        beside = [grid.texts[NEUTRAL]] if edit.name in LAST_LINES else []
        return [grid.texts[edit.name], *beside]
    own = f"name:{family_of(judge.model or judge.name)}"
    others = [at for key, at in grid.texts.items() if key.startswith("name:") and key != own]
    return [grid.texts[own], *others] if own in grid.texts else []


def _share(cells: Array) -> Estimate:
    known = cells[np.isfinite(cells)]
    if not len(known):
        return Estimate.undefined("No answer was asked both ways.")
    return Estimate.defined(float(known.mean()), len(known))


# In words, and as data.


def _sentence(one: ProbeFigure, parts: Sequence[ProbeFigure]) -> str:
    edit, found = one.edit, one.effect
    size = found.estimate or 0.0
    if one.accused or not parts:
        what = f"{one.judge} {edit.accuses}: {_does(one, size)} {sure(found, of='answers')}."
    else:
        what = f"{one.judge} {edit.accuses} on {parts[0].criterion}."
    if parts:
        said = [f"{part.criterion} {score(part.effect.estimate)}" for part in parts[:3]]
        what += f" By criterion: {', '.join(said)}."
    if one.doses and one.accused:
        steps = [f"{percent(dose)} {score(e.estimate)}" for dose, e in one.doses]
        what += f" By how much longer: {', '.join(steps)}."
    return f"{what} Earned only if {edit.unless}." if edit.unless else what


def _does(one: ProbeFigure, size: float) -> str:
    if one.measure == CHANGES:
        return (
            f"{one.edit.does}, {percent(one.changed.value)} of its answers change, with a last "
            f"line that says nothing {percent(one.nothing.value)}; the difference is "
            f"{percent(size)}"
        )
    more = "more" if size > 0 else "less"
    return f"{one.edit.does}, the same answers earn {score(abs(size))} {more} of 1"


def as_text(found: ProbeResult) -> str:
    """The findings, or that there are none and how small a shift would have been found."""
    lines = found.findings
    if not lines:
        least = f" {_least(found)}" if _least(found) else ""
        asked = any(one.effect.p is not None for one in found.whole)
        none = "No edit surely moves any of these judges." if asked else _why_nothing(found)
        lines = [none + least]
    return "\n".join([*lines, PROMISED])


def _least(found: ProbeResult) -> str:
    """How small an effect would have been found: of what is earned, and of answers that change."""
    known: dict[str, list[float]] = {EARNS: [], CHANGES: []}
    for one in found.whole:
        if one.findable is not None:
            known[one.measure].append(one.findable)
    parts = [f"a shift of {score(max(known[EARNS]))}"] if known[EARNS] else []
    parts += [f"{percent(max(known[CHANGES]))} more changed answers"] if known[CHANGES] else []
    return f"In 80% of cases {' and '.join(parts)} would have been found." if parts else ""


def _why_nothing(found: ProbeResult) -> str:
    return next(
        (one.effect.reason for one in found.whole if one.effect.reason), "Nothing was asked."
    )


def as_data(found: ProbeResult) -> dict[str, Any]:
    """What ``probe --json`` says of a probe."""
    run = found.run
    return {
        "run": run.plan.details[PROBE]["run"],
        "probe": run.id,
        "status": run.status,
        "answers": found.answers,
        "calls": run.calls,
        "cost_usd": None if run.cost_unknown else run.cost,
        "false_alarms": FALSE_ALARMS,
        "findings": found.findings,
        "edits": [
            {
                **_data(one),
                "criteria": {
                    part.criterion: _data(part)
                    for part in found.single
                    if (part.judge, part.edit) == (one.judge, one.edit)
                },
            }
            for one in found.whole
        ],
    }


def _data(one: ProbeFigure) -> dict[str, Any]:
    flipped: Mapping[str, float | None] = {
        "changed": one.changed.value,
        "changed_by_nothing": one.nothing.value,
        "changed_by_itself": one.itself.value,
    }
    return {
        "judge": one.judge,
        "edit": one.edit.name,
        "measure": one.measure,
        **_effect(one.effect),
        **flipped,
        "accused": one.accused,
        "earned": one.earned,
        "findable": one.findable,
        **({"doses": [{"longer": d, **_effect(e)} for d, e in one.doses]} if one.doses else {}),
    }


def _effect(found: BiasEffect) -> dict[str, Any]:
    data = {"estimate": found.estimate, "n": found.n, "p": found.p}
    others = {"ci": found.figure.ci, "undefined": found.reason}
    return {**data, **{key: value for key, value in others.items() if value}}
