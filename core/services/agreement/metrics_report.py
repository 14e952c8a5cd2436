"""The figures of ``metrics`` on trust in judges: groups, raters, panel and scores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import InputError
from core.metrics.agreement.kappa import pair_cells
from core.metrics.agreement.ratings import (
    Means,
    Patterns,
    label_entropy,
    majority,
    majority_of_others,
    mean_level,
    mean_of_others,
    patterns,
)
from core.metrics.agreement.scores import pair_up
from core.metrics.estimate import USUAL, Confidence, Estimate
from core.metrics.intervals.bootstrap import SMALL
from core.metrics.measure import weight_sums
from core.services.agreement import calibration, conclusion, load_ratings
from core.services.agreement.calibration import RaterConfidence
from core.services.agreement.group_figures import Draws, group_figures
from core.services.agreement.load_ratings import Tell, ignore_remark
from core.services.agreement.overall import overall_data, trust_against
from core.services.agreement.pair_figures import (
    abstention_figures,
    mean_level_figures,
    pair_figures,
)
from core.services.agreement.rater_pairs import positive_level
from core.services.agreement.rating_sheet import rater_table
from core.services.agreement.ratings import (
    ABSTAINED,
    FAILED,
    JUDGE_KINDS,
    LABELS,
    MAJORITY,
    NOT_ASKED,
    OWN_LABELS,
    PANEL,
    PEOPLE,
    REVIEWED,
    CriterionRatings,
    Levels,
    Rated,
    Rater,
    columns_of,
)
from core.services.agreement.score_agreement import score_report
from core.services.rating_models import severity, variance
from core.services.review import corrected_estimates
from core.store.store import Store
from core.text.numbers import count, plural, score

HUMAN, GOLD = "human", "gold"
#: The rater name of the panel's majority on items that have a unique one.
MOST = "majority where there is one"
METHOD = (
    f"items resampled; BCa below {SMALL} observations (means of scores, the mean kappa and "
    "differences of runs: Student's t), percentile from there on; two levels: Dirichlet of the "
    "counts and a few further ratings, by two priors; accuracy: Wilson's with t over items"
)


def metrics_source(
    open_store: Callable[[], Store],
    source: str,
    reference: str | None = None,
    bootstrap: int = 0,
    seed: int = 0,
    tell: Tell = ignore_remark,
    confidence: Confidence = USUAL,
) -> dict[str, Any]:
    """Return the report of ``metrics --json`` for a run's number or a folder in the common layout.

    Args:
        open_store: opens the data file; only called for a run.
        source: a run's number, or a folder.
        reference: ``human`` or ``gold`` for only these comparisons, a rater's name for comparisons
            with that rater (``vs_reference``), ``None`` for all in the contract.
        bootstrap: the number of resamples behind intervals; 0 for no intervals.
        seed: the seed of the resamples.
        tell: receives remarks about the source.
        confidence: the level of intervals, and the method.
    """
    if (run_id := load_ratings.run_number_of(source)) is None:
        rated = load_ratings.folder_ratings(Path(source), tell)
        return metrics_report(rated, reference, bootstrap, seed, confidence)
    store = open_store()
    rated = load_ratings.run_ratings(store, run_id)
    data = metrics_report(rated, reference, bootstrap, seed, confidence)
    review = corrected_estimates.selection_of(store, run_id, confidence.level)
    if review is not None:
        tell(corrected_estimates.selection_warning(review))
        data["review"] = corrected_estimates.selection_data(review)
    corrected = corrected_estimates.corrected_data(store, run_id, confidence.level)
    if corrected is not None:
        data["corrected"] = corrected
        if sentence := _corrected_words(corrected):
            tell(sentence)
    return data


def _corrected_words(corrected: Mapping[str, Any]) -> str:
    """Return the mean score corrected by people's random labels; empty without random labels."""
    corrected_score = corrected["score"]
    estimate = corrected_score["corrected"]
    if estimate is None or estimate["value"] is None:
        return ""
    mean = Estimate(estimate["value"], *estimate["ci"]).words(score).inline
    sentence = (
        f"Corrected by people's labels of {plural(corrected_score['labelled'], 'cell')}, the mean "
        f"score of all {count(corrected_score['cells'])} is {mean}; the votes alone say "
        f"{score(corrected_score['raw'])}."
    )
    declared = corrected.get("declared")
    return sentence if declared is None else f"{sentence} {declared['in_words']}"


def metrics_report(
    rated: Rated,
    reference: str | None = None,
    bootstrap: int = 0,
    seed: int = 0,
    confidence: Confidence = USUAL,
    *,
    models: bool = True,
) -> dict[str, Any]:
    """Return the report for given ratings; see ``metrics_source``.

    Without ``models`` it omits severity and variance components, which take the longest.
    """
    _require_reference(rated, reference)
    draws = Draws(len(rated.of.ids), bootstrap, seed, confidence) if bootstrap else None
    items, confidences = rated.of.ids, rated.sure()
    trusted = trust_against(rated, reference, confidence.level)
    data: dict[str, Any] = {
        **({} if trusted is None else {"trust": trusted.as_data()}),
        "criteria": {
            c.name: _Measured(c, _column_names(rated, c), rated.members, reference, draws).report(
                calibration.stated_confidences(c, items, confidences)
            )
            for c in rated.criteria
        },
        "score": score_report(rated, reference, draws),
        "overall": overall_data(rated, reference, bootstrap, seed, confidence),
    }
    alt_test = calibration.alt_test_data(load_ratings.sheet_of_ratings(rated))
    if alt_test is not None and reference in (None, HUMAN):
        data["alt_test"] = alt_test
    if reference is not None:
        data["reference"] = reference
    if bootstrap:
        concluded = _conclusion_data(rated, reference, bootstrap, seed)
        if concluded is not None:
            data["conclusion"] = concluded
        data |= _rating_model_data(rated, confidence.level) if models else {}
        data["bootstrap"] = {
            "resamples": bootstrap,
            "seed": seed,
            "level": confidence.level,
            "method": METHOD if confidence.method == "auto" else confidence.method,
        }
    return data


def _rating_model_data(rated: Rated, level: float) -> dict[str, Any]:
    """Return the severity of all raters, and the variance components of judges or, with fewer than
    two, of people.
    """
    sheet = load_ratings.sheet_of_ratings(rated)
    columns = sheet.judges if len(sheet.judges) > 1 else sheet.people
    if len(sheet.everybody) < 2 or not sheet.criteria:
        return {}
    data = {"severity": severity.severity_data(rater_table(sheet, sheet.everybody), level)}
    if len(columns) > 1:
        data["variance"] = variance.variance_data(rater_table(sheet, columns), level)
    return data


def _conclusion_data(
    rated: Rated, reference: str | None, resamples: int, seed: int
) -> dict[str, Any] | None:
    """Return which criteria can be trusted, measured by the reference; ``None`` if it cannot be."""
    sheet = load_ratings.sheet_of_ratings(rated)
    if not sheet.criteria:
        return None
    if reference is None:
        return conclusion.conclusion_on(sheet, resamples=resamples, seed=seed).as_data()
    people = PEOPLE if len(sheet.people) > 1 else "".join(sheet.people)
    references = {HUMAN: people, GOLD: LABELS}
    references |= {rater.name: column for rater, column in columns_of(rated.raters).items()}
    column = references[reference]
    if column in sheet.judges or PANEL not in sheet.raters(column):
        return None
    return conclusion.conclusion_on(sheet, column, PANEL, resamples=resamples, seed=seed).as_data()


def _require_reference(rated: Rated, reference: str | None) -> None:
    names = [rater.name for rater in rated.raters]
    if reference in (None, HUMAN, GOLD) or reference in names:
        return
    known_names = ", ".join(names[:10]) + (" ..." if len(names) > 10 else "")
    names_of = f" Its raters are {known_names}." if names else " It has no raters."
    raise InputError(
        f"--reference {reference!r} is not a rater. Use human, gold or a rater.{names_of}"
    )


def _column_names(rated: Rated, criterion: CriterionRatings) -> list[str]:
    """Return the columns' names; a name shared by people and judges gets its kind appended."""
    kinds: dict[str, set[str]] = {}
    for rater in rated.raters:
        kinds.setdefault(rater.name, set()).add(rater.kind)
    return [r.name if len(kinds[r.name]) == 1 else f"{r.name} ({r.kind})" for r in criterion.raters]


class _Measured:
    """A criterion's figures. Patterns are distinct rows of levels, including ``more`` columns."""

    def __init__(
        self,
        criterion: CriterionRatings,
        names: Sequence[str],
        members: Collection[Rater],
        reference: str | None,
        draws: Draws | None,
    ) -> None:
        self._criterion, self._names, self._reference = criterion, names, reference
        self._k = len(criterion.labels)
        self._humans = criterion.of_kind(HUMAN)
        self._of_people = any(rater.kind == HUMAN for rater in members)
        derived = (LABELS, PANEL, MAJORITY, OWN_LABELS)
        columns = {name: column for name, column in criterion.columns.items() if name in derived}
        self._patterns: Patterns = patterns(np.column_stack([criterion.coded, *columns.values()]))
        rows = self._patterns.rows
        self._levels = rows[:, : -len(columns)]
        self._more = dict(zip(columns, rows[:, -len(columns) :].T, strict=True))
        self._gold = self._more[LABELS]
        self._majority = majority(self._levels[:, self._humans], self._k)
        self._draws, self._confidence = draws, USUAL if draws is None else draws.confidence
        self._drawn = (
            draws.sums(self._patterns.of_item, self._patterns.times) if draws is not None else None
        )

    def report(self, confidence_by_rater: Mapping[str, RaterConfidence]) -> dict[str, Any]:
        criterion = self._criterion
        kinds = sorted({rater.kind for rater in criterion.raters}, key=_kind_order)
        return {
            "scale": criterion.scale,
            "levels": list(criterion.labels),
            "groups": {kind: self._group_data(kind) for kind in kinds},
            "raters": self._rater_figures(confidence_by_rater),
            "panel": self._column_figures(PANEL),
        }

    def _column_figures(self, column: str) -> dict[str, Any]:
        """Return the figures of a column of the panel; people are no reference for themselves."""
        nobody = np.full_like(self._majority, NOT_ASKED)
        return self._versus(self._more[column], nobody if self._of_people else self._majority, None)

    def _group_data(self, kind: str) -> dict[str, Any]:
        criterion, members = self._criterion, self._criterion.of_kind(kind)
        levels = criterion.coded[:, members]
        number = (levels >= 0).sum(axis=1)
        mode = majority(self._levels[:, members], self._k)
        times = self._patterns.times
        counts = np.bincount(levels[levels >= 0], minlength=self._k)
        figures = group_figures(
            self._levels[:, members],
            times,
            self._drawn,
            self._k,
            ordered=criterion.ordered,
            confidence=self._confidence,
        )
        spread = label_entropy(counts)
        if spread is None:
            figures.setdefault("undefined", {})["label_entropy"] = "No rater chose any option."
        return {
            "items": int((number > 0).sum()),
            "raters": int(((levels != NOT_ASKED).any(axis=0)).sum()),
            "ratings": int(number.sum()),
            "items_with_2plus": int((number >= 2).sum()),
            **figures,
            "label_distribution": dict(zip(criterion.labels, counts.tolist(), strict=True)),
            "label_entropy": spread,
            "abstained": int((levels == ABSTAINED).sum()),
            "failed": int((levels == FAILED).sum()),
            "majority": {
                "items": int(times[mode >= 0].sum()),
                "label_distribution": self._level_distribution(np.repeat(mode, times)),
                "vs_gold": self._pair_data(self._gold, mode),
            },
        }

    def _level_distribution(self, levels: Levels) -> dict[str, int]:
        counts = np.bincount(levels[levels >= 0], minlength=self._k)
        return dict(zip(self._criterion.labels, counts.tolist(), strict=True))

    def _rater_figures(self, confidence_by_rater: Mapping[str, RaterConfidence]) -> dict[str, Any]:
        """Return every rater's figures; a person's reference is the other people."""
        humans = self._levels[:, self._humans]
        others = majority_of_others(humans, self._k) if len(self._humans) else humans
        others_mean = mean_of_others(humans)
        everyone_mean = mean_level(humans)
        place = {column: index for index, column in enumerate(self._humans)}
        keys = list(self._criterion.columns)
        data = {}
        for column, name in enumerate(self._names):
            index = place.get(column)
            major = self._majority if index is None else others[:, index]
            mean = everyone_mean
            if index is not None:
                mean = Means(others_mean.values[:, index], others_mean.known[:, index])
            reviewed = self._criterion.raters[column].kind == REVIEWED
            gold = self._more[OWN_LABELS if reviewed else LABELS]
            if name != self._reference:
                data[name] = self._versus(self._levels[:, column], major, mean, gold)
                if stated := confidence_by_rater.get(keys[column]):
                    rated = self._levels[:, column]
                    data[name]["calibration"] = self._calibration(rated, major, stated)
        if MAJORITY in self._more:
            data[MOST] = self._column_figures(MAJORITY)
        return data

    def _calibration(self, rated: Levels, major: Levels, sure: RaterConfidence) -> dict[str, Any]:
        """Return the calibration against the reference, or labels, else people's majority."""
        reference = self._reference or (GOLD if (self._gold >= 0).any() else HUMAN)
        truth = {GOLD: self._gold, HUMAN: major}.get(reference)
        if truth is None:
            truth = self._reference_levels()
        of_item = self._patterns.of_item
        calibrated = calibration.calibrate(truth[of_item], rated[of_item], sure, self._draws)
        return calibration.calibration_data(calibrated, reference, drawn=self._draws is not None)

    def _versus(
        self, rated: Levels, major: Levels, mean: Means | None, gold: Levels | None = None
    ) -> dict[str, Any]:
        data: dict[str, Any] = {}
        if self._reference in (None, HUMAN):
            data["vs_human_majority"] = self._pair_data(major, rated)
            if mean is not None:
                data["vs_human_mean_level"] = self._figures_against_mean(mean, rated)
        if self._reference in (None, GOLD):
            gold = self._gold if gold is None else gold
            data["vs_gold"] = self._pair_with_abstentions(gold, rated)
        if self._reference not in (None, HUMAN, GOLD):
            data["vs_reference"] = self._pair_with_abstentions(self._reference_levels(), rated)
        return data

    def _pair_with_abstentions(self, reference: Levels, rated: Levels) -> dict[str, Any]:
        """Return the figures of a pair, including abstentions of the reference."""
        data = self._pair_data(reference, rated)
        times = self._patterns.times.astype(np.float64)
        data["more"]["abstention"] = abstention_figures(
            reference, rated, times, self._drawn, self._confidence
        )
        return data

    def _reference_levels(self) -> Levels:
        for column, rater in enumerate(self._criterion.raters):
            if rater.name == self._reference:
                return self._levels[:, column]
        return np.full(len(self._levels), -1)

    def _pair_data(self, reference: Levels, rated: Levels) -> dict[str, Any]:
        k = self._k
        cells = pair_cells(reference, rated, k)
        weights = self._patterns.times[:, None].astype(np.float64)
        table = weight_sums(cells, k * k, weights).reshape(k, k)
        drawn = None if self._drawn is None else self._drawn.tally(cells, k * k).reshape(k, k, -1)
        return pair_figures(
            table,
            drawn,
            self._criterion.labels,
            ordered=self._criterion.ordered,
            positive=positive_level(self._criterion.labels),
            confidence=self._confidence,
        )

    def _figures_against_mean(self, mean: Means, rated: Levels) -> dict[str, Any]:
        of_item = self._patterns.of_item
        answered = (mean.known & (rated >= 0))[of_item]
        pairs = pair_up(mean.values[of_item], rated[of_item].astype(np.float64), answered)
        return mean_level_figures(pairs, self._draws, ordered=self._criterion.ordered)


def _kind_order(kind: str) -> tuple[int, str]:
    order = (HUMAN, *JUDGE_KINDS, REVIEWED)
    return (order.index(kind) if kind in order else len(order), kind)
