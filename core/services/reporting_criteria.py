"""What a report says of every criterion, and of every rater over the whole rubric."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.domain.rubric import Criterion
from core.domain.runs import CellResult
from core.metrics.abstention import State
from core.metrics.estimate import Estimate
from core.metrics.ratings import Means
from core.services import agreeing_groups, agreeing_load, agreeing_pairs
from core.services.agreeing_sheet import LABELS, PANEL, PEOPLE, Asked, Sheet
from core.services.measuring import HUMAN
from core.services.measuring_scores import Scorer
from core.services.rated_matrix import ABSTAINED, NOT_ASKED, Levels, Rated
from core.services.reporting_scores import Mean
from core.services.reporting_values import CriterionLine, RaterLine

Verdicts = Mapping[tuple[str, str], CellResult]
#: Items with rubrics of their own can have thousands of criteria; as many are in the report.
MOST_CRITERIA = 60
NO_REFERENCE = "No item has a label by a person."
NO_VALUE = "No verdict has a value."
NO_WHOLE = "This rater gave a verdict on every criterion of no item."


@dataclass(frozen=True)
class Compared:
    """The ratings of a run beside what they are compared with.

    ``column`` of the sheet is the reference: labels, else the majority of people (or the one
    person) who rated beside judges; empty where there is none. ``verdicts`` has every criterion's
    verdicts, settled ones among them; agreement is of what the sheet calls the panel, as on the
    Agreement page and in ``metrics``. ``more`` criteria were left out.
    """

    rated: Rated
    sheet: Sheet
    verdicts: tuple[Levels, ...]
    column: str
    more: int

    @property
    def reference(self) -> str:
        """``labels``, ``people`` or nothing."""
        return "people" if self.column and self.column != LABELS else self.column

    @property
    def labelled_items(self) -> int:
        """How many items the reference has an answer for, on any criterion."""
        items = len(self.sheet.items)
        known = [asked.column(self.column, items) >= 0 for asked in self.sheet.criteria]
        return int(np.any(known, axis=0).sum()) if self.column and known else 0


def compared(rated: Rated, cells: Verdicts) -> Compared:
    """The ratings of a run with its verdicts and the best reference they have."""
    whole = agreeing_load.sheet(rated)
    more = max(0, len(whole.criteria) - MOST_CRITERIA)
    sheet = replace(whole, criteria=whole.criteria[:MOST_CRITERIA])
    verdicts = tuple(_verdicts(one, rated, cells) for one in sheet.criteria)
    column = LABELS if sheet.labelled else ""
    if not column and sheet.judges and sheet.people:
        column = PEOPLE if len(sheet.people) > 1 else sheet.people[0]
    kept = replace(rated, criteria=rated.criteria[:MOST_CRITERIA])
    return Compared(kept, sheet, verdicts, column, more)


def _verdicts(asked: Asked, rated: Rated, cells: Verdicts) -> Levels:
    question = _question(rated, asked)
    level = {option: at for at, option in enumerate(question.scored)}
    column = np.full(len(rated.items), NOT_ASKED)
    asks = _asking(rated, lambda criterion: _is(criterion, asked))
    for at, (item, asked_here) in enumerate(zip(rated.items, asks, strict=True)):
        cell = cells.get((item.id, question.name))
        if cell is None or not asked_here:
            continue
        option = None if cell.abstained else cell.option
        column[at] = ABSTAINED if option is None else level.get(option, ABSTAINED)
    return column


def criterion_lines(
    found: Compared,
    cells: Verdicts,
    mean: Mean,
    *,
    resamples: int,
    seed: int,
) -> tuple[CriterionLine, ...]:
    """A line per criterion; ``cells`` are the verdicts by (item, criterion)."""
    sheet = found.sheet
    whom = "" if sheet.judges else HUMAN
    alphas = agreeing_groups.alphas(sheet, whom, resamples=resamples, seed=seed)
    reference = found.column or LABELS
    rater = PANEL if sheet.panel else PEOPLE
    lines = agreeing_pairs.compare(sheet, reference, rater, resamples=resamples, seed=seed)
    made = []
    every = zip(sheet.criteria, found.verdicts, alphas, lines, strict=True)
    for asked, verdicts, alpha, line in every:
        question = _question(found.rated, asked)
        given = np.bincount(verdicts[verdicts >= 0], minlength=len(asked.labels)).tolist()
        gone = int((verdicts == ABSTAINED).sum())
        asked_of = _asked_of(found.rated, question)
        there = [
            cells[sheet.items[at], question.name].value for at in np.flatnonzero(verdicts >= 0)
        ]
        known = bool(found.reference)
        made.append(
            CriterionLine(
                name=asked.name,
                question=question.name,
                scale=asked.scale,
                weight=question.weight,
                labels=asked.labels,
                options=question.scored,
                values=tuple(question.value_of(i) or 0.0 for i in question.scored),
                verdicts=tuple(given),
                abstained=gone,
                missing=asked_of - sum(given) - gone,
                mean=_mean([one for one in there if one is not None], mean, NO_VALUE),
                alpha=alpha,
                labelled=line.n if known else 0,
                accuracy=line.accuracy if known else Estimate(None, reason=NO_REFERENCE),
                commonest=line.commonest if known else Estimate(None, reason=NO_REFERENCE),
                kappa=line.kappa if known else Estimate(None, reason=NO_REFERENCE),
                kappa_weights=line.weights,
            )
        )
    return tuple(made)


def _question(rated: Rated, asked: Asked) -> Criterion:
    """The criterion behind a sheet; one whose name was numbered has the labels to know it by."""
    for item in rated.items:
        for criterion in rated.rubric_of(item.id).criteria:
            if _is(criterion, asked):
                return criterion
    raise KeyError(asked.name)


def _is(criterion: Criterion, asked: Asked) -> bool:
    same = asked.name == criterion.name or asked.name.startswith(f"{criterion.name} (")
    labels = tuple(criterion.choices[i].label for i in criterion.scored)
    return same and criterion.scale == asked.scale and labels == asked.labels


def _asked_of(rated: Rated, question: Criterion) -> int:
    """How many items ask that question."""
    return sum(
        _asking(
            rated,
            lambda criterion: (
                criterion.name == question.name
                and criterion.scale == question.scale
                and criterion.choices == question.choices
            ),
        )
    )


def _asking(rated: Rated, is_it: Callable[[Criterion], bool]) -> Iterator[bool]:
    """Whether each item asks a question; looked at once per rubric, as most items share one."""
    known: dict[int, bool] = {}
    for item in rated.items:
        rubric = rated.rubric_of(item.id)
        if id(rubric) not in known:
            known[id(rubric)] = any(map(is_it, rubric.criteria))
        yield known[id(rubric)]


def rater_lines(found: Compared, mean: Mean) -> tuple[RaterLine, ...]:
    """A line per rater, with the mean score that its own answers give."""
    scorer = Scorer(found.rated)
    lines = []
    for rater in found.rated.raters:
        counts = dict.fromkeys(State, 0)
        for criterion in found.rated.criteria:
            if rater in criterion.raters:
                states = criterion.states[:, criterion.raters.index(rater)]
                for state in counts:
                    counts[state] += int((states == state).sum())
        scored = _scored(scorer.column(found.rated.answers[rater]))
        lines.append(
            RaterLine(
                name=rater.name,
                kind=rater.kind,
                answers=counts[State.ANSWERED],
                abstained=counts[State.ABSTAINED],
                failed=counts[State.FAILED],
                scored=len(scored),
                mean=_mean(scored, mean),
            )
        )
    return tuple(lines)


def reference_line(found: Compared, mean: Mean) -> RaterLine | None:
    """The mean score of the labels themselves, over the items labelled on every criterion."""
    if found.reference != "labels":
        return None
    scorer = Scorer(found.rated)
    scored = _scored(scorer.column(scorer.labels()))
    answers = sum(int((c.gold >= 0).sum()) for c in found.rated.criteria)
    gone = sum(int((c.gold_states == State.ABSTAINED).sum()) for c in found.rated.criteria)
    return RaterLine("Labels", "reference", answers, gone, 0, len(scored), _mean(scored, mean))


def _scored(column: Means) -> Sequence[float]:
    return [float(value) for value in column.values[column.known]]


def _mean(scores: Sequence[float], mean: Mean, empty: str = NO_WHOLE) -> Estimate:
    return mean(scores) if scores else Estimate(None, reason=empty)
