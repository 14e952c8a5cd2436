"""How far to rely on a rater: whether its confidence matches its accuracy, and whether it may
replace a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from core.metrics.agreement.alt_test import (
    EPSILON,
    AltTest,
    Kind,
    Q,
    Wins,
    alt_test,
    combine_criteria,
    wins,
)
from core.metrics.calibration import Calibration, calibration, sure_answers
from core.metrics.estimate import USUAL, Confidence, Estimate, Interval
from core.metrics.measure import Array
from core.services.agreement.group_figures import Draws, figures_data
from core.services.agreement.load_ratings import votes_with_confidence
from core.services.agreement.rater_pairs import RESAMPLES, SEED
from core.services.agreement.rating_sheet import Sheet, levels_of_sides, name_of
from core.services.agreement.ratings import PANEL, CriterionRatings, Levels, SureVote
from core.store.store import Store
from core.text.numbers import percent, plural, score

#: A rater's confidence by item, NaN if unknown, and its probability of each level of the item.
RaterConfidence = tuple[Array, Array]


def calibrations_of_run(
    store: Store,
    run_id: int,
    sheet: Sheet,
    criterion: str,
    reference: str,
    *,
    confidence: Confidence = USUAL,
) -> dict[str, Calibration]:
    """Return the calibration of each rater in a run's sheet that states its confidence."""
    ratings = sheet.criterion(criterion)
    votes = votes_with_confidence(store, run_id, ratings.source)
    by_column = stated_confidences(ratings, sheet.items, votes)
    draws = Draws(len(sheet.items), RESAMPLES, SEED, confidence)
    return {
        column: calibrate(
            *levels_of_sides(sheet, ratings, reference, column), rater_confidence, draws
        )
        for column, rater_confidence in by_column.items()
        if column != reference
    }


def stated_confidences(
    ratings: CriterionRatings, items: Iterable[str], votes: Sequence[SureVote]
) -> dict[str, RaterConfidence]:
    """Return the confidence of answers by column, without raters that state none.

    A vote's confidence is the stated one, or else the probability of the chosen option.
    """
    if not votes:
        return {}
    place = {item: index for index, item in enumerate(items)}
    columns = dict(zip(ratings.raters, ratings.columns, strict=False))
    by_column: dict[str, RaterConfidence] = {}
    for vote in votes:
        column, index = columns.get(vote.rater), place.get(vote.item)
        if vote.criterion != ratings.source or column is None or index is None:
            continue
        level = int(ratings.columns[column][index])
        if level < 0:
            continue
        if column not in by_column:
            unknown = np.full((len(place), len(ratings.options)), np.nan)
            by_column[column] = np.full(len(place), np.nan), unknown
        _record_vote(by_column[column], index, level, ratings.options, vote)
    return by_column


def _record_vote(
    stated: RaterConfidence, at: int, level: int, options: tuple[int, ...], vote: SureVote
) -> None:
    sure, chances = stated
    confidence = vote.confidence
    # An item's own rubric may have a different criterion of the same name.
    if vote.chances is not None and max(options) < len(vote.chances):
        along = [vote.chances[option] for option in options]
        confidence = along[level] if confidence is None else confidence
        if sum(along) > 0:
            chances[at] = along
    sure[at] = np.nan if confidence is None else confidence


def calibrate(
    truth: Levels, rated: Levels, stated: RaterConfidence, draws: Draws | None
) -> Calibration:
    """Return how well a rater's confidence predicts whether its answers are right."""
    sure, chances = stated
    answers = sure_answers(sure, chances, rated, truth)
    without = int(((rated >= 0) & (truth >= 0) & np.isnan(sure)).sum())
    drawn = None
    if draws is not None and len(answers.times):
        # Items that lack an answer with a confidence are resampled as well, but do not count.
        kinds, without_pair = len(answers.times), int((answers.of_item < 0).sum())
        of_item = np.where(answers.of_item < 0, kinds, answers.of_item)
        times = np.append(answers.times, without_pair)[: kinds + (without_pair > 0)]
        drawn = draws.of(of_item, times)[:kinds]
    confidence = USUAL if draws is None else draws.confidence
    return calibration(answers, drawn, confidence=confidence)._replace(without=without)


def calibration_data(calibrated: Calibration, reference: str, *, drawn: bool) -> dict[str, Any]:
    """Return the key ``calibration`` of a rater in ``metrics --json``; intervals only if
    ``drawn``.
    """
    zeros, confidences = (
        Estimate.undefined(calibrated.ece.reason, calibrated.n),
        calibrated.sure,
    )
    figures = {
        "ece": calibrated.ece,
        "brier": calibrated.brier,
        "accuracy": calibrated.right if calibrated.n else zeros,
        "confidence": zeros if confidences is None else Estimate.defined(confidences, calibrated.n),
    }
    ci: Mapping[str, Interval] = {}
    if drawn:
        ci = {
            name: Interval(figure.low, figure.high, "percentile", figure.reason)
            for name, figure in figures.items()
            if name != "confidence"
        }
    return {
        "reference": reference,
        "n": calibrated.n,
        "without": calibrated.without,
        **figures_data(figures, ci),
        **({} if calibrated.by_chance is None else {"ece_by_chance": calibrated.by_chance}),
        "bins": [
            {
                "from": b.low,
                "to": b.high,
                "n": b.right.n,
                "confidence": b.sure,
                "accuracy": b.right.value,
                "ci": b.right.ci,
            }
            for b in calibrated.bins
        ],
    }


# May a judge replace a person? Only people are the standard here, not labels.


def stand_in_test(
    sheet: Sheet,
    column: str,
    epsilon: float,
    criterion: str | None = None,
    level: float = USUAL.level,
) -> AltTest:
    """Return the alternative annotator test of a judge or the panel against the people of the
    sheet.

    Abstentions and failures are missing answers; items without the judge's answer do not count.
    Ordinal levels differ by their squared distance, others by 0 or 1.

    Args:
        sheet: the ratings.
        column: the judge's, or ``PANEL``.
        epsilon: the lead that people may have (``core.metrics.agreement.alt_test.EPSILON``).
        criterion: a single one; ``None`` for all, with each item counted once.
        level: the level of intervals of gaps; it does not affect the test.

    Raises:
        ValueError: ``epsilon`` is outside [0, 1].
    """
    return alt_test(_wins_of_column(sheet, column, criterion), epsilon, level)


def _wins_of_column(sheet: Sheet, column: str, criterion: str | None) -> Wins:
    criterion_ratings = sheet.criteria if criterion is None else (sheet.criterion(criterion),)
    each = [
        wins(
            ratings.column(column, len(sheet.items)),
            sheet.matrix(ratings, sheet.people),
            len(ratings.labels),
            ordered=ratings.scale == "ordinal",
        )
        for ratings in criterion_ratings
    ]
    return combine_criteria(each)


def alt_test_data(sheet: Sheet) -> dict[str, Any] | None:
    """Return the key ``alt_test`` of ``metrics --json``; ``None`` without a judge, people or
    criteria.
    """
    if not (sheet.judges and sheet.people and sheet.criteria):
        return None

    def tested_data(criterion: str | None) -> dict[str, Any]:
        return {
            "panel": _tested_column_data(sheet, PANEL, criterion),
            "raters": {
                name_of(judge): _tested_column_data(sheet, judge, criterion)
                for judge in sheet.judges
            },
        }

    overall = tested_data(None)
    name, part = _PANEL, overall["panel"]
    if len(sheet.judges) == 1:
        name, part = next(iter(overall["raters"].items()))
    return {
        "q": Q,
        "epsilon": dict(EPSILON),
        "overall": overall,
        "criteria": {ratings.name: tested_data(ratings.name) for ratings in sheet.criteria},
        "in_words": stand_in_words(name, part),
    }


def stand_in_of_panel(sheet: Sheet) -> dict[str, Any] | None:
    """Return the panel's part of ``alt_test`` over all criteria, with a sentence; ``None`` if
    undefined.
    """
    if not (sheet.judges and sheet.people and sheet.criteria):
        return None
    tested = _tested_column_data(sheet, PANEL, None)
    return {**tested, "in_words": stand_in_words(_PANEL, tested)}


_PANEL = "The panel"
#: The kinds of people in words, in decreasing order of the gap that they allow a judge.
PEOPLE_ARE: dict[Kind, str] = {
    "expert": "experts",
    "skilled": "trained people",
    "crowd": "crowd workers",
}
#: The people whom a judge may replace if it passes with this kind's epsilon, but with no smaller
#: one.
_WHOM: dict[Kind, str] = {
    "expert": " if they are experts, but not cheaper people (it may fall behind those less)",
    "skilled": " if they are experts or trained people, but not if they are crowd workers",
    "crowd": ", whoever they are",
}


def stand_in_words(name: str, tested: Mapping[str, Any]) -> str:
    """Return whether a judge may stand in for one of the people, from its part of ``alt_test``."""
    rho = tested["advantage"]
    if rho is None:
        reason = tested["undefined"]["advantage"]
        name = "the panel" if name == _PANEL else name
        return f"Whether {name} may stand in for a person is unknown: {reason}"
    kind: Kind = next(
        (candidate for candidate in reversed(tuple(EPSILON)) if tested[candidate]["passes"]),
        "expert",
    )
    outcome = tested[kind]
    may = f"may stand in for one of these people{_WHOM[kind]}"
    if not outcome["passes"]:
        may = "may not stand in for one of these people, whoever they are"
    sentence = (
        f"{name} {may}: {keeping_up_words(people_beaten_words(tested, kind), EPSILON[kind])} "
        "It is as near as a person "
        f"or nearer on {percent(rho)} of the items."
    )
    needed = outcome["items_needed"]
    if not outcome["passes"] and needed is not None:
        sentence += f" If they are experts it would from about {plural(needed, 'item')} on."
    return sentence


def keeping_up_words(people: str, epsilon: float) -> str:
    """Return how many people a judge keeps up with, how many are needed, and what keeping up means.

    >>> keeping_up_words("2 of 3", 0.1).partition(". ")[0]
    'it surely keeps up with 2 of 3 of them, and at least half are needed'
    """
    return (
        f"it surely keeps up with {people} of them, and at least half are needed. To keep up is to "
        "be as near to what the others say as that person is, or to fall behind on less than "
        f"{percent(epsilon)} of the items."
    )


def people_beaten_words(tested: Mapping[str, Any], kind: Kind) -> str:
    """Return how many people the judge beats if they are of this kind."""
    return f"{round(tested[kind]['winning_rate'] * tested['people'])} of {tested['people']}"


def stand_in_lines(report: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the lines of ``alt_test``: for all criteria together, then for each if there are
    several.
    """
    yield "May a judge stand in for a person? (alternative annotator test)"
    if report is None:
        yield "  Unknown: that takes ratings by people as well as by judges."
        return
    yield f"  {report['in_words']}"
    parts = {"All criteria": report["overall"]}
    if len(report["criteria"]) > 1:
        parts |= report["criteria"]
    for name, part in parts.items():
        panel = {"panel": part["panel"]} if len(part["raters"]) > 1 else {}
        for rater, tested in {**part["raters"], **panel}.items():
            if tested["advantage"] is not None:
                beats = (
                    f"{people_beaten_words(tested, kind)} as {people}"
                    for kind, people in PEOPLE_ARE.items()
                )
                advantage = score(tested["advantage"])
                yield f"  {name}, {rater}: as near {advantage}; beats {', '.join(beats)}"


def _tested_column_data(sheet: Sheet, column: str, criterion: str | None) -> dict[str, Any]:
    wins = _wins_of_column(sheet, column, criterion)
    kinds = {kind: alt_test(wins, epsilon) for kind, epsilon in EPSILON.items()}
    first = next(iter(kinds.values()))
    return {
        "people": first.advantage.n,
        **figures_data({"advantage": first.advantage}, {}),
        **{kind: _outcome_data(outcome) for kind, outcome in kinds.items()},
        "annotators": {
            name_of(person): {
                "n": first.annotators[index].n,
                "judge": first.annotators[index].judge,
                "person": first.annotators[index].person,
                "p": {kind: outcome.annotators[index].p for kind, outcome in kinds.items()},
            }
            for index, person in enumerate(sheet.people)
            if first.annotators[index].p is not None
        },
    }


def _outcome_data(outcome: AltTest) -> dict[str, Any]:
    figures = {
        "winning_rate": outcome.winning_rate.value,
        "passes": outcome.passes,
        "items_needed": outcome.items_needed,
    }
    reason = outcome.winning_rate.reason or "Too many people are further ahead: no number would do."
    missing = {name: reason for name, value in figures.items() if value is None}
    return {**figures, **({"undefined": missing} if missing else {})}
