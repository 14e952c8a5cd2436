"""Compare a rubric with one overall mark: the same answers, the same models.

The models of a run give one overall mark to some of its answers. Both scores of every answer are
compared by how much of their variance is due to answers, to judges, and to neither. A rubric is
worth its calls if its scores say more about the answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.domain.dataset import Dataset
from core.domain.panel import Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import Run, RunRow
from core.errors import InputError, NotFound
from core.identity import seeded_random
from core.metrics.agreement.scores import score_agreement
from core.metrics.bias.effects import FEW
from core.metrics.estimate import Estimate, ci_and_undefined
from core.metrics.measure import Array
from core.metrics.variance_components import (
    GROUPS,
    ITEM,
    JUDGE,
    Components,
    StudyDesign,
    jackknife_estimate,
    reliability_of_mean,
    variance_components,
)
from core.services.access.allowing import allowed
from core.services.agreement.load_ratings import run_ratings
from core.services.agreement.score_agreement import Scorer
from core.services.results.scored_items import resolved_items
from core.services.runs.cost_estimate import CostEstimate
from core.services.spot import trials
from core.services.spot.trials import HELP, Trial
from core.store.store import Store
from core.text.numbers import percent, score

#: The detail of the runs that ask for an overall mark, and the beginning of the setting in which a
#: run lists them.
IMPRESSION, _PLACE = "impression", "impression/"
ANSWERS, MARKS = 100, 10


@dataclass(frozen=True)
class ScoredWay:
    """One way to score: the parts of its variance, and the reliability of one judge's score.

    ``share`` has the variance's shares by ``item``, ``judge`` and ``rest`` (a judge's view of one
    answer, and chance). ``spread`` is the standard deviation of all scores. ``worth`` is the share,
    in [0, 1], of the variance of single judges' scores that is due to the answers (phi, an absolute
    intraclass correlation).
    """

    spread: float
    share: Mapping[str, float]
    worth: Estimate


@dataclass(frozen=True)
class OneImpression:
    """Grading by the rubric and by one overall mark, on the same answers and judges.

    ``gap`` is the ``worth`` of the rubric minus that of the overall mark. ``rubric`` and
    ``impression`` are ``None`` if they cannot be compared, for this ``reason``.

    ``alike`` is the rank correlation of the judges' mean scores.
    """

    run: Run
    answers: int
    judges: tuple[str, ...]
    rubric: ScoredWay | None
    impression: ScoredWay | None
    gap: Estimate
    alike: Estimate
    reason: str = ""


def overall_rubric(rubric: Rubric) -> Rubric:
    """Return a rubric with one question and ten marks, and the guidelines of the original."""
    marks = tuple(Option(label=str(index + 1), value=index / (MARKS - 1)) for index in range(MARKS))
    question = Criterion(
        name="Overall",
        requirement=f"How good is this answer as a whole, from 1 (worst) to {MARKS} (best)?",
        scale="ordinal",
        options=marks,
    )
    name = f"One impression: {rubric.name}"[:200]
    return Rubric(name=name, guidelines=rubric.guidelines, criteria=(question,))


def estimate(store: Store, run_id: int, answers: int = ANSWERS, seed: int = 0) -> CostEstimate:
    """Return the estimate without storing anything; raise ``InputError`` if no model can be
    called.
    """
    return trials.estimate_trial(store, _impression_trial(store, run_id, answers, seed))


@allowed("write")
def start(
    store: Store,
    run_id: int,
    answers: int = ANSWERS,
    seed: int = 0,
    budget: float | None = None,
) -> int:
    """Start the hidden run for the overall marks of some answers; return its id."""
    asked_id = trials.begin(
        store, replace(_impression_trial(store, run_id, answers, seed), budget=budget)
    )
    store.settings.add(f"{_PLACE}{run_id}", asked_id)
    return asked_id


def _impression_trial(store: Store, run_id: int, answers: int, seed: int) -> Trial:
    run = store.runs.get(run_id)
    return Trial(
        name=f"One impression: {run.name}",
        rubric=overall_rubric(store.rubrics.version(run.rubric_version_id).rubric),
        panel=_panel_of_run(run),
        texts=_texts_to_mark(store, run, answers, seed),
        source=IMPRESSION,
        seed=run.plan.seed,
        replicates=run.plan.replicates,
        details={HELP: {IMPRESSION: run_id}, IMPRESSION: run_id},
    )


def latest(store: Store, run_id: int) -> RunRow | None:
    """Return the newest run that requested overall marks of this run's answers, or ``None``."""
    asked_ids = store.settings.get(f"{_PLACE}{run_id}", [])
    return store.runs.row(asked_ids[-1]) if asked_ids else None


def _panel_of_run(run: Run) -> Panel:
    models = tuple(judge for judge in run.panel.judges if judge.kind == "llm")
    if not models:
        raise InputError(f"No model judged in run {run.id}: only models can say one impression.")
    asking = run.panel.asking.model_copy(update={"flip": "off", "few_shot": 0})
    return trials.panel_of("One impression", models, asking)


def _texts_to_mark(store: Store, run: Run, answers: int, seed: int) -> Dataset:
    ids = store.runs.item_ids(run.id)
    chosen = set(seeded_random(IMPRESSION, seed).sample(ids, min(answers, len(ids))))
    items = resolved_items(
        store, run.dataset_version_id, [item_id for item_id in ids if item_id in chosen]
    )
    plain: dict[str, Any] = {"rubric": None, "labels": {}, "split": None}
    return Dataset(
        name=f"One impression of run {run.id}",
        items=tuple(item.model_copy(update=plain) for item in items),
    )


def result(store: Store, asked_id: int) -> OneImpression:
    """Return both ways on the answers that both scored. Raises ``NotFound`` for another run."""
    mark_run = store.runs.get(asked_id)
    if IMPRESSION not in mark_run.plan.details:
        raise NotFound(f"Run {asked_id} did not ask for one impression.")
    original = store.runs.get(int(mark_run.plan.details[IMPRESSION]))
    names = tuple(judge.name for judge in mark_run.panel.judges)
    by_rubric, by_mark = (
        _judge_scores(store, original, names),
        _judge_scores(store, mark_run, names),
    )
    common = [key for key in by_rubric if key in by_mark]
    items = list(dict.fromkeys(item for item, _, _ in common))
    place = {item: index for index, item in enumerate(items)}
    facets = {ITEM: np.array([place[item] for item, _, _ in common], np.int64)}
    if len(names) > 1:
        facets[JUDGE] = np.array([names.index(judge) for _, judge, _ in common], np.int64)
    values = [np.array([side[key] for key in common]) for side in (by_rubric, by_mark)]
    compared = side_by_side(values[0], values[1], facets)
    if isinstance(compared, str):
        undefined = Estimate.undefined(compared, len(items))
        return OneImpression(
            mark_run, len(items), names, None, None, undefined, undefined, compared
        )
    first, second, gap = compared
    means = [np.bincount(facets[ITEM], side) / np.bincount(facets[ITEM]) for side in values]
    correlation = score_agreement(*means)["spearman"]
    return OneImpression(mark_run, len(items), names, first, second, gap, correlation)


def _judge_scores(
    store: Store, run: Run, names: tuple[str, ...]
) -> dict[tuple[str, str, int], float]:
    """Return each judge's own score of each answer, by item, judge and replicate."""
    rated, has_replicates = run_ratings(store, run.id), run.plan.replicates > 1
    scorer, scores = Scorer(rated.of), dict[tuple[str, str, int], float]()
    for rater in rated.graders:
        judge, _, replicate = (
            rater.name.rpartition("|") if has_replicates else (rater.name, "", "0")
        )
        if judge not in names:
            continue
        column = scorer.column(rated.given[rater])
        for index in np.flatnonzero(column.known):
            scores[rated.of.ids[index], judge, int(replicate)] = float(column.values[index])
    return scores


#: The answer and the judge of each score, as numbers.
Facets = Mapping[str, npt.NDArray[np.int64]]


def side_by_side(
    first: Array, second: Array, facets: Facets
) -> tuple[ScoredWay, ScoredWay, Estimate] | str:
    """Return both ways, and the first's worth minus the second's; or why they are undefined.

    ``first`` and ``second`` are scores of the same answers by the same judges, shape (scores,).
    Intervals leave out groups of answers in turn: they generalise to other answers, not judges.
    """
    number = len(np.unique(facets[ITEM]))
    if number < FEW:
        return f"Only {number} answers have both scores; {FEW} are needed."
    parts = [variance_components(side, facets) for side in (first, second)]
    reason = next((part.reason for part in parts if part.reason), "")
    if reason or not all(part.total for part in parts):
        return reason or "All scores are the same."
    without = np.array(
        [
            [
                _phi_coefficient(
                    variance_components(
                        side[kept_items], {n: column[kept_items] for n, column in facets.items()}
                    )
                )
                for side in (first, second)
            ]
            for kept_items in (facets[ITEM] % GROUPS != group for group in range(GROUPS))
        ]
    )
    values = [
        jackknife_estimate(_phi_coefficient(part), without[:, index], number)
        for index, part in enumerate(parts)
    ]
    gap = jackknife_estimate(
        _phi_coefficient(parts[0]) - _phi_coefficient(parts[1]),
        without[:, 0] - without[:, 1],
        number,
    )
    ways = [_scored_way(*args) for args in zip((first, second), parts, values, strict=True)]
    return ways[0], ways[1], gap


def _scored_way(values: Array, parts: Components, worth_: Estimate) -> ScoredWay:
    share = {name: parts.of(name) / parts.total for name in (ITEM, JUDGE)}
    share["rest"] = 1 - sum(share.values())
    low, high = max(0.0, worth_.low or 0.0), min(1.0, worth_.high or 0.0)
    return ScoredWay(float(np.std(values, ddof=1)), share, worth_._replace(low=low, high=high))


def _phi_coefficient(parts: Components) -> float:
    return reliability_of_mean(parts, StudyDesign(judges=1)).absolute


# As text, and as data.


def impression_words(result: OneImpression) -> str:
    """Return which way says more about the answers, and how similar both are."""
    if result.rubric is None or result.impression is None:
        return f"The two ways cannot be compared: {result.reason}"
    rubric_way, mark = result.rubric, result.impression
    low, high = result.gap.low, result.gap.high
    text = (
        f"On the same {result.answers} answers, {percent(rubric_way.share[ITEM])} of the variance "
        f"of the rubric's scores lies in the answers, {percent(mark.share[ITEM])} of one "
        "impression's. "
    )
    differs_from_zero = low is not None and high is not None and (low > 0 or high < 0)
    better = "The rubric's" if (result.gap.value or 0.0) > 0 else "One impression's"
    ends = result.gap.words(score).ends
    size = score(abs(result.gap.value or 0.0)) + (f" (95% interval {ends})" if ends else "")
    verdict = f"{better} score of one judge tells more about an answer, by {size}."
    open_ = f"Which way tells more about an answer is unknown: the difference is {size}."
    correlation = result.alike.value
    together = (
        ""
        if correlation is None
        else f" They put the answers in a like order (rank correlation {score(correlation)})."
    )
    return f"{text}{verdict if differs_from_zero else open_}{together}"


def impression_data(result: OneImpression) -> dict[str, Any]:
    """Return the data of ``impression --json``."""

    def way_data(scored: ScoredWay | None) -> dict[str, Any] | None:
        if scored is None:
            return None
        variance = scored.spread**2
        return {
            "variance": variance,
            "shares": dict(scored.share),
            "worth": scored.worth.value,
            **ci_and_undefined({"worth": scored.worth}),
        }

    return {
        "run": result.run.plan.details[IMPRESSION],
        "asked": result.run.id,
        "answers": result.answers,
        "judges": list(result.judges),
        "rubric": way_data(result.rubric),
        "impression": way_data(result.impression),
        "gap": result.gap.value,
        **ci_and_undefined({"gap": result.gap}),
        "rank_correlation": result.alike.value,
        "sentence": impression_words(result),
    }
