"""What a report says of every criterion, and of every rater over the whole rubric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.domain.rubric import Criterion
from core.metrics.abstention import State
from core.metrics.ratings import Means, majority
from core.services import agreeing
from core.services.agreeing import LABELS, PANEL, Asked, Sheet
from core.services.measuring import HUMAN
from core.services.measuring_scores import Scorer
from core.services.rated_matrix import ABSTAINED, Rated, RatedCriterion
from core.services.reporting_scores import Mean
from core.services.reporting_values import CriterionLine, Estimate, RaterLine

#: Items with rubrics of their own can have thousands of criteria; as many are in the report.
MOST_CRITERIA = 60
NO_REFERENCE = "No item has a label by a person."
NO_WHOLE = "This rater did not answer every criterion of any item."


@dataclass(frozen=True)
class Compared:
    """The ratings of a run beside what they are compared with.

    ``reference`` is ``labels``, ``people`` (their majority, where there are no labels but people
    rated beside judges), or empty. ``members`` are the columns whose agreement is looked at.
    """

    rated: Rated
    sheet: Sheet
    reference: str
    members: tuple[str, ...]
    more: int

    @property
    def labelled_items(self) -> int:
        """How many items the reference has an answer for, on any criterion."""
        known = [asked.columns[LABELS] >= 0 for asked in self.sheet.criteria]
        return int(np.any(known, axis=0).sum()) if self.reference and known else 0


def compared(rated: Rated) -> Compared:
    """The ratings of a run with the best reference they have."""
    sheet = agreeing.sheet(rated)
    more = max(0, len(sheet.criteria) - MOST_CRITERIA)
    kept = rated.criteria[:MOST_CRITERIA]
    rated = replace(rated, criteria=kept)
    sheet = replace(sheet, criteria=sheet.criteria[:MOST_CRITERIA])
    judges = [r for r in rated.raters if r.kind != HUMAN]
    reference = "labels" if sheet.labelled else ""
    if not reference and judges and len(judges) < len(rated.raters):
        people = tuple(
            _with_people(asked, c) for asked, c in zip(sheet.criteria, kept, strict=True)
        )
        sheet, reference = replace(sheet, criteria=people), "people"
    # Columns of the sheet and raters come in the same order.
    members = [
        column
        for column, rater in zip(sheet.judges, rated.raters, strict=True)
        if rater.kind != HUMAN or not judges
    ]
    return Compared(rated, sheet, reference, tuple(members), more)


def _with_people(asked: Asked, criterion: RatedCriterion) -> Asked:
    levels = criterion.levels[:, criterion.of_kind(HUMAN)]
    return replace(
        asked, columns={**asked.columns, LABELS: majority(levels, len(criterion.labels))}
    )


def criterion_lines(
    found: Compared,
    values: Mapping[tuple[str, str], float | None],
    mean: Mean,
    *,
    resamples: int,
    seed: int,
) -> tuple[CriterionLine, ...]:
    """A line per criterion; ``values`` are the verdicts' values by (item, criterion)."""
    sheet = found.sheet
    members = replace(sheet, judges=found.members)
    alphas = agreeing.alphas(members, resamples=resamples, seed=seed)
    lines = agreeing.compare(sheet, LABELS, PANEL, resamples=resamples, seed=seed)
    made = []
    for asked, alpha, line in zip(sheet.criteria, alphas, lines, strict=True):
        question = _question(found.rated, asked)
        panel = asked.columns[PANEL]
        given = np.bincount(panel[panel >= 0], minlength=len(asked.labels)).tolist()
        gone = int((panel == ABSTAINED).sum())
        asked_of = _asked_of(found.rated, question)
        there = [values.get((sheet.items[at], question.name)) for at in np.flatnonzero(panel >= 0)]
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
                mean=mean([value for value in there if value is not None]),
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
    known: dict[int, bool] = {}
    count = 0
    for item in rated.items:
        rubric = rated.rubric_of(item.id)
        if id(rubric) not in known:
            known[id(rubric)] = any(
                c.name == question.name
                and c.scale == question.scale
                and c.choices == question.choices
                for c in rubric.criteria
            )
        count += known[id(rubric)]
    return count


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


def _mean(scores: Sequence[float], mean: Mean) -> Estimate:
    return mean(scores) if scores else Estimate(None, reason=NO_WHOLE)
