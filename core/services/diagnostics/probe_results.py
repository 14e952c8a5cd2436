"""The results of a run's probes: by judge and edit, over all criteria and on each."""

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
    detectable_shift,
    faulty_effects,
    flip_effect,
    flip_shares,
    item_shifts,
    item_slopes,
    mean_effect,
)
from core.metrics.estimate import Estimate
from core.metrics.measure import Array
from core.services.diagnostics.finding_words import interval_and_n
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
from core.services.results.grid import earned_share
from core.services.results.scored_items import rubric_in_force
from core.services.runs.questions import PROBE
from core.store.store import Store
from core.text.model_names import family_of
from core.text.numbers import percent, score

#: The measures of an effect, as shares: how far it moves answers' values, and the verdicts changed.
EARNS, CHANGES = "shift", "flips"
PROMISED = (
    f"A judge that no edit by rule moves is accused of anything in at most {FALSE_ALARMS:.0%} of "
    "whole sets of probes, however good longer answers are."
)


@dataclass(frozen=True)
class ProbeFigure:
    """The effect of one edit on one judge's answers, on one criterion or (``""``) on all.

    ``effect`` is a mean, and ``measure`` names its quantity: how much more of a criterion's best
    the same answers earn (``shift``), or how many more of them change than after a neutral line
    (``flips``). ``changed``, ``nothing`` and ``itself`` are the shares of answers that change after
    the edit, after a neutral line, and when merely repeated; ``doses`` is the shift at each dose.
    ``findable``: the smallest effect that would have been detected. ``earned``: the criterion
    rightly rewards this edit, so it is not a fault; over all criteria: every criterion does.
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
        """Return a sentence per fault: a judge and an edit, with the most affected criteria."""
        return [
            self.sentence(edited) for edited in self.whole if self.parts(edited) or edited.accused
        ]

    def parts(self, total: ProbeFigure) -> list[ProbeFigure]:
        """Return the criteria on which this edit surely affects this judge, the largest effect
        first.
        """
        accused_parts = [
            part
            for part in self.single
            if (part.judge, part.edit) == (total.judge, total.edit) and part.accused
        ]
        return sorted(accused_parts, key=lambda part: -abs(part.effect.estimate or 0.0))

    def sentence(self, figure: ProbeFigure) -> str:
        """Return a finding as a sentence."""
        return _sentence(figure, self.parts(figure))


def result(store: Store, probe_id: int) -> ProbeResult:
    """Return a probe's results so far. Raises ``NotFound`` if the run is not a probe."""
    run = store.runs.get(probe_id)
    if PROBE not in run.plan.details:
        raise NotFound(f"Run {probe_id} is not a probe.")
    items = tuple(store.datasets.items(run.dataset_version_id, store.runs.item_ids(probe_id)))
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    grid = ProbeGrid(items, rubric, houses_of(run.panel.judges))
    settings = run.plan.details[PROBE]
    edits = [EDITS[name] for name in settings["edits"]]
    replies = grid.replies(store, run)
    parts = figures(run.panel.judges, edits, replies, grid, settings.get("earns", {}))
    return ProbeResult(run, len(grid.of), *parts)


def figures(
    judges: Sequence[Judge],
    edits: Sequence[ProbeEdit],
    replies_by_judge: Mapping[str, Replies],
    grid: ProbeGrid,
    earns: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> tuple[tuple[ProbeFigure, ...], tuple[ProbeFigure, ...]]:
    """Return the effect of every edit on every judge: over all criteria and, if several, on each.

    A criterion that ``earns`` an edit is excluded from the total, and is never a fault.
    """
    totals, single = list[ProbeFigure](), list[ProbeFigure]()
    for judge in judges:
        for edit in edits:
            earned = {name for name, rewarded in earns.items() if edit.name in rewarded}
            columns = [at for name, at in grid.criteria.items() if name not in earned]
            replies = replies_by_judge[judge.name]
            total = _figure(judge, edit, "", replies.of(columns) if columns else replies, grid)
            totals.append(replace(total, earned=not columns))
            if len(grid.criteria) > 1:
                singly = _figures_by_criterion(judge, edit, replies, grid)
                single += [replace(total, earned=total.criterion in earned) for total in singly]
    return _significant(totals, single, len(grid.criteria))


def _significant(
    totals: Sequence[ProbeFigure], single: Sequence[ProbeFigure], criteria: int
) -> tuple[tuple[ProbeFigure, ...], tuple[ProbeFigure, ...]]:
    by_id = {id(edited): edited for edited in (*totals, *single) if edited.earned}
    # A model's edits may add or remove content, so they prove nothing and are tested separately.
    for written in (False, True):
        parts = [
            [edited for edited in family if edited.edit.written == written and not edited.earned]
            for family in (totals, single)
        ]
        faults = faulty_effects(*([edited.effect for edited in part] for part in parts))
        for part, fault in zip(parts, faults, strict=True):
            tests = sum(edited.effect.p is not None for edited in part)
            for edited, is_fault in zip(part, fault, strict=True):
                cells = edited.effect.n * (1 if edited.criterion else criteria)
                null = FLIPS.value if edited.measure == CHANGES else 0.0
                least = detectable_shift(edited.effect, tests, cells, null)
                by_id[id(edited)] = replace(edited, accused=is_fault, findable=least)
    return tuple(by_id[id(edited)] for edited in totals), tuple(
        by_id[id(edited)] for edited in single
    )


class ProbeGrid:
    """The position of every answer in the arrays: items, texts, criteria."""

    def __init__(self, items: Sequence[Item], rubric: Rubric, houses: Sequence[str]) -> None:
        facts = {item.id: item.meta[PROBE] for item in items}
        originals = dict.fromkeys(fact["of"] for fact in facts.values())
        self.of = {original: at for at, original in enumerate(originals)}
        names = [f"name:{house}" for house in houses]
        longer = [f"longer:{round(dose * 100)}" for dose in DOSES]
        keys = [ORIGINAL, AGAIN, NEUTRAL, *longer, *names, *EDITS]
        self.texts = {key: index for index, key in enumerate(keys)}
        self.place = {
            id_: (self.of[fact["of"]], self.texts[fact["text"]]) for id_, fact in facts.items()
        }
        self.grown = np.full((len(self.of), len(self.texts)), np.nan)
        for id_, fact in facts.items():
            self.grown[self.place[id_]] = fact["grown"]
        self.rubric_of = {item.id: rubric_in_force(item, rubric) for item in items}
        criteria = [c for r in self.rubric_of.values() for c in r.criteria]
        distinct = dict.fromkeys(c.name for c in criteria)
        self.criteria = {name: index for index, name in enumerate(distinct)}
        self.ordered = {c.name for c in criteria if c.scale != "nominal"}

    def replies(self, store: Store, run: Run) -> dict[str, Replies]:
        """Return the answers of every judge."""
        shape = (len(self.of), len(self.texts), len(self.criteria))
        by_judge = {
            judge.name: Replies(np.full(shape, np.nan), np.full(shape, -1, np.int64))
            for judge in run.panel.judges
        }
        for row in store.votes.all_ballots(run.id):
            criterion = self.rubric_of[row.item_id].criterion(row.criterion)
            place = (*self.place[row.item_id], self.criteria[row.criterion])
            answers = by_judge[row.judge]
            answers.options[place] = len(criterion.choices) if row.option is None else row.option
            if row.option is not None and row.criterion in self.ordered:
                share = earned_share(criterion, criterion.values[row.option])
                answers.earned[place] = np.nan if share is None else share
        return by_judge


def _figures_by_criterion(
    judge: Judge, edit: ProbeEdit, replies: Replies, grid: ProbeGrid
) -> Iterator[ProbeFigure]:
    for name, column in grid.criteria.items():
        yield _figure(judge, edit, name, replies.of([column]), grid)


def _figure(
    judge: Judge, edit: ProbeEdit, criterion: str, replies: Replies, grid: ProbeGrid
) -> ProbeFigure:
    columns = _columns(judge, edit, grid)
    if not columns:
        reason = "The name of this judge's model does not tell who made it."
        undefined = Estimate.undefined(reason)
        return ProbeFigure(
            judge.name, edit, criterion, EARNS, BiasEffect.undefined(reason), *(undefined,) * 3
        )
    ordered = bool(np.isfinite(replies.earned).any())
    doses: tuple[tuple[float, BiasEffect], ...] = ()
    if edit.side is None or not ordered:
        measure, result = CHANGES, flip_effect(replies.options, columns[0])
    elif edit.name == "longer":
        measure = EARNS
        places = [grid.texts[f"longer:{round(dose * 100)}"] for dose in DOSES]
        result = mean_effect(item_slopes(replies.earned, places, grid.grown[:, places]), edit.side)
        doses = tuple(
            (dose, mean_effect(item_shifts(replies.earned, [column]), edit.side))
            for dose, column in zip(DOSES, places, strict=True)
        )
    else:
        measure, minus = EARNS, columns[1:] or ORIGINALS
        result = mean_effect(item_shifts(replies.earned, columns[:1], minus), edit.side)
    return ProbeFigure(
        judge=judge.name,
        edit=edit,
        criterion=criterion,
        measure=measure,
        effect=result,
        changed=_share_changed(flip_shares(replies.options, columns[0])),
        nothing=_share_changed(flip_shares(replies.options, NOTHING)),
        itself=_share_changed(flip_shares(replies.options, ORIGINALS[1])),
        doses=doses,
    )


def _columns(judge: Judge, edit: ProbeEdit, grid: ProbeGrid) -> list[int]:
    """Return the columns of an edit: the edited text, then the texts it is compared with."""
    if edit.name == "longer":
        return [grid.texts[f"longer:{round(DOSES[-1] * 100)}"]]
    if edit.name != "name":
        neutral = [grid.texts[NEUTRAL]] if edit.name in LAST_LINES else []
        return [grid.texts[edit.name], *neutral]
    own = f"name:{family_of(judge.model or judge.name)}"
    other_names = [at for key, at in grid.texts.items() if key.startswith("name:") and key != own]
    return [grid.texts[own], *other_names] if own in grid.texts else []


def _share_changed(cells: Array) -> Estimate:
    finite = cells[np.isfinite(cells)]
    if not len(finite):
        return Estimate.undefined("No answer was asked both ways.")
    return Estimate.defined(float(finite.mean()), len(finite))


# The results of a probe as text and as data.


def _sentence(figure: ProbeFigure, parts: Sequence[ProbeFigure]) -> str:
    edit, measured = figure.edit, figure.effect
    size = measured.estimate or 0.0
    if figure.accused or not parts:
        surely = interval_and_n(measured, items="answers")
        text = f"{figure.judge} {edit.accuses}: {_effect_words(figure, size)} {surely}."
    else:
        text = f"{figure.judge} {edit.accuses} on {parts[0].criterion}."
    if parts:
        by_criterion = [f"{part.criterion} {score(part.effect.estimate)}" for part in parts[:3]]
        text += f" By criterion: {', '.join(by_criterion)}."
    if figure.doses and figure.accused:
        steps = [f"{percent(dose)} {score(e.estimate)}" for dose, e in figure.doses]
        text += f" By how much longer: {', '.join(steps)}."
    return f"{text} Earned only if {edit.unless}." if edit.unless else text


def _effect_words(figure: ProbeFigure, size: float) -> str:
    if figure.measure == CHANGES:
        return (
            f"{figure.edit.does}, {percent(figure.changed.value)} of its answers change, with a "
            f"last line that says nothing {percent(figure.nothing.value)}; the difference is "
            f"{percent(size)}"
        )
    direction = "more" if size > 0 else "less"
    return f"{figure.edit.does}, the same answers earn {score(abs(size))} {direction} of 1"


def as_text(probe: ProbeResult) -> str:
    """Return the findings or, without any, the smallest effect that would have been detected."""
    lines = probe.findings
    if not lines:
        least = f" {_detectable(probe)}" if _detectable(probe) else ""
        tested = any(figure.effect.p is not None for figure in probe.whole)
        no_effects = (
            "No edit significantly affects any of these judges." if tested else _why_nothing(probe)
        )
        lines = [no_effects + least]
    return "\n".join([*lines, PROMISED])


def _detectable(probe: ProbeResult) -> str:
    """Return the smallest effects that would have been detected, on values and on changes."""
    limits: dict[str, list[float]] = {EARNS: [], CHANGES: []}
    for figure in probe.whole:
        if figure.findable is not None:
            limits[figure.measure].append(figure.findable)
    parts = [f"a shift of {score(max(limits[EARNS]))}"] if limits[EARNS] else []
    parts += [f"{percent(max(limits[CHANGES]))} more changed answers"] if limits[CHANGES] else []
    return f"In 80% of cases {' and '.join(parts)} would have been found." if parts else ""


def _why_nothing(probe: ProbeResult) -> str:
    return next(
        (figure.effect.reason for figure in probe.whole if figure.effect.reason),
        "Nothing was asked.",
    )


def as_data(probe: ProbeResult) -> dict[str, Any]:
    """Return the data of ``probe --json``."""
    run = probe.run
    return {
        "run": run.plan.details[PROBE]["run"],
        "probe": run.id,
        "status": run.status,
        "answers": probe.answers,
        "calls": run.calls,
        "cost_usd": None if run.cost_unknown else run.cost,
        "false_alarms": FALSE_ALARMS,
        "findings": probe.findings,
        "edits": [
            {
                **_figure_data(figure),
                "criteria": {
                    part.criterion: _figure_data(part)
                    for part in probe.single
                    if (part.judge, part.edit) == (figure.judge, figure.edit)
                },
            }
            for figure in probe.whole
        ],
    }


def _figure_data(figure: ProbeFigure) -> dict[str, Any]:
    flipped: Mapping[str, float | None] = {
        "changed": figure.changed.value,
        "changed_by_nothing": figure.nothing.value,
        "changed_by_itself": figure.itself.value,
    }
    return {
        "judge": figure.judge,
        "edit": figure.edit.name,
        "measure": figure.measure,
        **_effect_data(figure.effect),
        **flipped,
        "accused": figure.accused,
        "earned": figure.earned,
        "findable": figure.findable,
        **(
            {"doses": [{"longer": d, **_effect_data(e)} for d, e in figure.doses]}
            if figure.doses
            else {}
        ),
    }


def _effect_data(measured: BiasEffect) -> dict[str, Any]:
    data = {"estimate": measured.estimate, "n": measured.n, "p": measured.p}
    interval = {"ci": measured.figure.ci, "undefined": measured.reason}
    return {**data, **{key: value for key, value in interval.items() if value}}
