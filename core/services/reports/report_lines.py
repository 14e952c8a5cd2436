"""Criteria, raters and gates of a run, as lines of its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from core.domain.rubric import Criterion, Rubric
from core.metrics.agreement.ratings import Means
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.metrics.measure import Array
from core.scoring.trace import Trace
from core.services.agreement import load_ratings, rater_pairs, reliability
from core.services.agreement.metrics_report import HUMAN
from core.services.agreement.rating_sheet import Sheet
from core.services.agreement.rating_tables import as_levels
from core.services.agreement.ratings import (
    ABSTAINED,
    FAILED,
    LABELS,
    NOT_ASKED,
    PANEL,
    PEOPLE,
    CriterionRatings,
    Levels,
    Rated,
    RatedItems,
)
from core.services.agreement.score_agreement import Scorer
from core.services.reports.report_values import (
    CriterionLine,
    GateLine,
    RaterLine,
)
from core.services.reports.score_lines import Mean
from core.services.results.run_columns import CellColumn, ScoreColumns
from core.store.store import Store


def gate_lines(
    store: Store, run_id: int, scores: ScoreColumns, items: RatedItems
) -> tuple[GateLine, ...]:
    """Return the results of every gate and pre-check, over the items with a score."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    if not any(map(_has_gates, items.rubrics)):
        return ()
    gated: dict[int, bool] = {}
    for item_id, votes in zip(items.ids, scores.votes.tolist(), strict=True):
        rubric = items.rubric_of(item_id)
        if not gated.setdefault(id(rubric), _has_gates(rubric)) or not votes:
            continue
        trace = store.results.item(run_id, item_id).trace
        for key, marks in _marks_by_gate(trace).items():
            counts.setdefault(key, Counter()).update(marks)
    return tuple(
        GateLine(name, kind, marks["fired"], marks["moved"], marks["undecided"])
        for (name, kind), marks in counts.items()
    )


def _has_gates(rubric: Rubric) -> bool:
    return bool(rubric.gates or rubric.prechecks)


def _marks_by_gate(trace: Mapping[str, object] | None) -> dict[tuple[str, str], Counter[str]]:
    if trace is None:
        return {}
    item_trace = Trace.from_dict(dict(trace))
    counts = {}
    for gate in item_trace.gates:
        counts[gate.name, "gate"] = Counter(
            fired=gate.state == "fired", moved=gate.binding, undecided=gate.state == "indeterminate"
        )
    for check in item_trace.checks:
        counts[check.name, "pre-check"] = Counter(
            fired=bool(check.found), moved=check.binding, undecided=False
        )
    return counts


#: The most criteria in a report; items with their own rubrics can have thousands.
MOST_CRITERIA = 60
NO_REFERENCE = "No item has a label."
NO_VALUE = "No verdict has a value."
NO_WHOLE = "This rater gave a verdict on every criterion of no item."


@dataclass(frozen=True)
class ComparedRatings:
    """The ratings of a run with their reference.

    ``column`` of the sheet is the reference: labels, else the majority of the people (or the single
    person) who also rated; empty without a reference. ``labelled_items`` have an answer by it, on
    any criterion. ``verdicts`` has the verdicts on every criterion of the sheet, including settled
    ones, and ``values`` their values; agreement is about the sheet's panel, as on the Agreement
    page and in ``metrics``. ``more`` criteria are not in the sheet.
    """

    rated: Rated
    sheet: Sheet
    verdicts: tuple[Levels, ...]
    values: tuple[Array, ...]
    column: str
    labelled_items: int
    more: int

    @property
    def reference(self) -> str:
        """Return the reference: ``labels``, ``people`` or "" if there is none."""
        return "people" if self.column and self.column != LABELS else self.column


def compared_ratings(rated: Rated, cells: Sequence[CellColumn]) -> ComparedRatings:
    """Return the ratings of a run with its verdicts and their best reference."""
    by_name = {column.criterion: column for column in cells}
    full_sheet = load_ratings.sheet_of_ratings(rated)
    left_out = max(0, len(full_sheet.criteria) - MOST_CRITERIA)
    sheet = replace(full_sheet, criteria=full_sheet.criteria[:MOST_CRITERIA])
    sheets = [
        _verdict_levels(criterion, rated, by_name.get(criterion.source))
        for criterion in sheet.criteria
    ]
    column = LABELS if full_sheet.labelled else ""
    if not column and full_sheet.judges and full_sheet.people:
        column = PEOPLE if len(full_sheet.people) > 1 else full_sheet.people[0]
    verdicts, values = tuple(zip(*sheets, strict=True)) or ((), ())
    labelled = _answered_items(full_sheet, column) if column else 0
    return ComparedRatings(rated, sheet, verdicts, values, column, labelled, left_out)


def _answered_items(sheet: Sheet, column: str) -> int:
    """Return the number of items with an answer in a column, on any criterion."""
    answered = [criterion.column(column, len(sheet.items)) >= 0 for criterion in sheet.criteria]
    return int(np.any(answered, axis=0).sum()) if answered else 0


def _verdict_levels(
    ratings: CriterionRatings, rated: Rated, cells: CellColumn | None
) -> tuple[Levels, Array]:
    """Return the verdicts on a criterion as levels, and their values; NaN without one."""
    items = len(rated.of.ids)
    column, values = np.full(items, NOT_ASKED), np.full(items, np.nan)
    if cells is None:
        return column, values
    rows_of_question = _asks_question(rated, lambda criterion: _has_question(criterion, ratings))[
        cells.rows
    ]
    rows, abstained = cells.rows[rows_of_question], cells.abstained[rows_of_question] > 0
    options = np.where(abstained, ABSTAINED, cells.option[rows_of_question])
    column[rows] = as_levels(options, ratings.options)
    values[rows] = cells.value[rows_of_question]
    return column, values


def criterion_lines(
    compared_run: ComparedRatings,
    mean: Mean,
    *,
    resamples: int,
    seed: int,
    confidence: Confidence = USUAL,
) -> tuple[CriterionLine, ...]:
    """Return a line per criterion."""
    sheet = compared_run.sheet
    whom = "" if sheet.judges else HUMAN
    alphas = reliability.alphas_of_kind(
        sheet, whom, resamples=resamples, seed=seed, confidence=confidence
    )
    reference = compared_run.column or LABELS
    lines = rater_pairs.compare_pair(
        sheet, reference, PANEL, confidence=confidence, resamples=resamples, seed=seed
    )
    result_lines = []
    columns = zip(
        sheet.criteria, compared_run.verdicts, compared_run.values, alphas, lines, strict=True
    )
    for ratings, verdicts, values, alpha, line in columns:
        question = _question_behind(compared_run.rated, ratings)
        counts = np.bincount(verdicts[verdicts >= 0], minlength=len(ratings.labels)).tolist()
        abstained = int((verdicts == ABSTAINED).sum())
        asked_of = _items_asked(compared_run.rated, question)
        known = values[(verdicts >= 0) & ~np.isnan(values)]
        has_reference = bool(compared_run.reference)
        result_lines.append(
            CriterionLine(
                name=ratings.name,
                question=question.name,
                scale=ratings.scale,
                weight=question.weight,
                labels=ratings.labels,
                options=question.scored,
                values=tuple(question.value_of(i) or 0.0 for i in question.scored),
                verdicts=tuple(counts),
                abstained=abstained,
                missing=asked_of - sum(counts) - abstained,
                mean=_mean_estimate(known, mean, NO_VALUE),
                alpha=alpha,
                labelled=line.n if has_reference else 0,
                accuracy=line.accuracy if has_reference else Estimate(None, reason=NO_REFERENCE),
                commonest=line.commonest if has_reference else Estimate(None, reason=NO_REFERENCE),
                kappa=line.kappa if has_reference else Estimate(None, reason=NO_REFERENCE),
                kappa_weights=line.weights,
            )
        )
    return tuple(result_lines)


def _question_behind(rated: Rated, ratings: CriterionRatings) -> Criterion:
    """Return the criterion behind a sheet's; labels identify one with a numbered name."""
    for rubric in rated.of.rubrics:
        for criterion in rubric.criteria:
            if _has_question(criterion, ratings):
                return criterion
    raise KeyError(ratings.name)


def _has_question(criterion: Criterion, ratings: CriterionRatings) -> bool:
    same = ratings.name == criterion.name or ratings.name.startswith(f"{criterion.name} (")
    labels = tuple(criterion.choices[i].label for i in criterion.scored)
    return same and criterion.scale == ratings.scale and labels == ratings.labels


def _items_asked(rated: Rated, question: Criterion) -> int:
    """Return the number of items that were asked this question."""
    asking = _asks_question(
        rated,
        lambda criterion: (
            criterion.name == question.name
            and criterion.scale == question.scale
            and criterion.choices == question.choices
        ),
    )
    return int(asking.sum())


def _asks_question(rated: Rated, is_it: Callable[[Criterion], bool]) -> npt.NDArray[np.bool_]:
    """Return whether each item has a question; checked once per rubric, as most items share one."""
    mask = np.full(len(rated.of.ids), any(map(is_it, rated.of.rubric.criteria)))
    for item_id, rubric in rated.of.own.items():
        mask[rated.of.place[item_id]] = any(map(is_it, rubric.criteria))
    return mask


def rater_lines(compared_run: ComparedRatings, mean: Mean) -> tuple[RaterLine, ...]:
    """Return a line per rater, with the mean score by its own answers."""
    scorer = Scorer(compared_run.rated.of)
    lines = []
    for rater in compared_run.rated.raters:
        answers = _stacked_levels(
            criterion.coded[:, criterion.raters.index(rater)]
            for criterion in compared_run.rated.criteria
            if rater in criterion.raters
        )
        scored = _column_scores(scorer.column(compared_run.rated.given[rater]))
        lines.append(
            RaterLine(
                name=rater.name,
                kind=rater.kind,
                answers=int((answers >= 0).sum()),
                abstained=int((answers == ABSTAINED).sum()),
                failed=int((answers == FAILED).sum()),
                scored=len(scored),
                mean=_mean_estimate(scored, mean),
            )
        )
    return tuple(lines)


def reference_line(compared_run: ComparedRatings, mean: Mean) -> RaterLine | None:
    """Return the mean score by the labels themselves, over the items labelled on every criterion.

    ``None`` if the reference is not the labels.
    """
    if compared_run.reference != "labels":
        return None
    scorer = Scorer(compared_run.rated.of)
    scored = _column_scores(scorer.column(compared_run.rated.labelled))
    labels = _stacked_levels(criterion.columns[LABELS] for criterion in compared_run.rated.criteria)
    answers, abstained = int((labels >= 0).sum()), int((labels == ABSTAINED).sum())
    return RaterLine(
        "Labels", "reference", answers, abstained, 0, len(scored), _mean_estimate(scored, mean)
    )


def _stacked_levels(columns: Iterable[Levels]) -> Levels:
    return np.concatenate([np.empty(0, np.int64), *columns])


def _column_scores(column: Means) -> Array:
    return column.values[column.known]


def _mean_estimate(scores: Array, mean: Mean, empty: str = NO_WHOLE) -> Estimate:
    return mean(scores) if len(scores) else Estimate(None, reason=empty)
