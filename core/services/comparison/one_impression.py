"""One overall impression beside the rubric: the same answers, the same models, and what differs.

The models of a run are asked for one overall mark of some of its answers. Both scores of every
answer stand side by side, and of each how much of the variance lies in answers, in judges, and in
neither: a rubric is worth its calls where its scores say more of the answers.
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
from core.identity import seeded
from core.metrics.agreement.scores import score_agreement
from core.metrics.bias.effects import FEW
from core.metrics.estimate import Estimate, ci_and_undefined
from core.metrics.measure import Array
from core.metrics.variance_components import (
    GROUPS,
    ITEM,
    JUDGE,
    Components,
    Ways,
    components,
    jackknife,
    worth,
)
from core.services.access.allowing import allowed
from core.services.agreement.load_ratings import of_run
from core.services.agreement.score_agreement import Scorer
from core.services.results.scored_items import resolved_items
from core.services.runs.cost_estimate import CostEstimate
from core.services.spot import trials
from core.services.spot.trials import HELP, Trial
from core.store.store import Store
from core.text.numbers import percent, score

#: The detail of the runs that ask, and where a run keeps them.
IMPRESSION, _PLACE = "impression", "impression/"
ANSWERS, MARKS = 100, 10


@dataclass(frozen=True)
class ScoredWay:
    """One way to score: the variance of its scores, in parts, and what one judge's score is worth.

    ``share`` of the variance by ``item``, ``judge`` and ``rest`` (what a judge makes of one answer,
    and chance); ``spread`` is the standard deviation of all scores. ``worth``: of the differences
    between scores of one judge each, the share that lies in answers (phi, an absolute intraclass
    correlation), in [0, 1].
    """

    spread: float
    share: Mapping[str, float]
    worth: Estimate


@dataclass(frozen=True)
class OneImpression:
    """Both ways on the same answers and judges; ``gap`` is how much more the rubric's is worth.

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
    """One question, ten marks; the rubric's guidelines stay, its criteria do not."""
    marks = tuple(Option(label=str(at + 1), value=at / (MARKS - 1)) for at in range(MARKS))
    asked = Criterion(
        name="Overall",
        requirement=f"How good is this answer as a whole, from 1 (worst) to {MARKS} (best)?",
        scale="ordinal",
        options=marks,
    )
    name = f"One impression: {rubric.name}"[:200]
    return Rubric(name=name, guidelines=rubric.guidelines, criteria=(asked,))


def estimate(store: Store, run_id: int, answers: int = ANSWERS, seed: int = 0) -> CostEstimate:
    """What asking will take; nothing is kept. ``InputError`` where no model can be asked."""
    return trials.estimate(store, _trial(store, run_id, answers, seed))


@allowed("write")
def start(
    store: Store,
    run_id: int,
    answers: int = ANSWERS,
    seed: int = 0,
    budget: float | None = None,
) -> int:
    """Ask for one overall mark of some answers; returns the id of a run that no list shows."""
    made = trials.begin(store, replace(_trial(store, run_id, answers, seed), budget=budget))
    store.settings.add(f"{_PLACE}{run_id}", made)
    return made


def _trial(store: Store, run_id: int, answers: int, seed: int) -> Trial:
    run = store.runs.get(run_id)
    return Trial(
        name=f"One impression: {run.name}",
        rubric=overall_rubric(store.rubrics.version(run.rubric_version_id).rubric),
        panel=_panel(run),
        texts=_texts(store, run, answers, seed),
        source=IMPRESSION,
        seed=run.plan.seed,
        replicates=run.plan.replicates,
        details={HELP: {IMPRESSION: run_id}, IMPRESSION: run_id},
    )


def latest(store: Store, run_id: int) -> RunRow | None:
    """The newest run that asked for one mark of this run's answers."""
    made = store.settings.get(f"{_PLACE}{run_id}", [])
    return store.runs.row(made[-1]) if made else None


def _panel(run: Run) -> Panel:
    models = tuple(judge for judge in run.panel.judges if judge.kind == "llm")
    if not models:
        raise InputError(f"No model judged in run {run.id}: only models can say one impression.")
    asking = run.panel.asking.model_copy(update={"flip": "off", "few_shot": 0})
    return trials.panel_of("One impression", models, asking)


def _texts(store: Store, run: Run, answers: int, seed: int) -> Dataset:
    ids = store.runs.item_ids(run.id)
    chosen = set(seeded(IMPRESSION, seed).sample(ids, min(answers, len(ids))))
    items = resolved_items(store, run.dataset_version_id, [one for one in ids if one in chosen])
    plain: dict[str, Any] = {"rubric": None, "labels": {}, "split": None}
    return Dataset(
        name=f"One impression of run {run.id}",
        items=tuple(item.model_copy(update=plain) for item in items),
    )


def result(store: Store, asked_id: int) -> OneImpression:
    """Both ways side by side, on the answers that both scored. ``NotFound`` for another run."""
    asked = store.runs.get(asked_id)
    if IMPRESSION not in asked.plan.details:
        raise NotFound(f"Run {asked_id} did not ask for one impression.")
    of = store.runs.get(int(asked.plan.details[IMPRESSION]))
    names = tuple(judge.name for judge in asked.panel.judges)
    one, two = _scores(store, of, names), _scores(store, asked, names)
    common = [key for key in one if key in two]
    items = list(dict.fromkeys(item for item, _, _ in common))
    place = {item: at for at, item in enumerate(items)}
    facets = {ITEM: np.array([place[item] for item, _, _ in common], np.int64)}
    if len(names) > 1:
        facets[JUDGE] = np.array([names.index(judge) for _, judge, _ in common], np.int64)
    values = [np.array([side[key] for key in common]) for side in (one, two)]
    both = side_by_side(values[0], values[1], facets)
    if isinstance(both, str):
        nothing = Estimate.undefined(both, len(items))
        return OneImpression(asked, len(items), names, None, None, nothing, nothing, both)
    first, second, gap = both
    means = [np.bincount(facets[ITEM], side) / np.bincount(facets[ITEM]) for side in values]
    alike = score_agreement(*means)["spearman"]
    return OneImpression(asked, len(items), names, first, second, gap, alike)


def _scores(store: Store, run: Run, names: tuple[str, ...]) -> dict[tuple[str, str, int], float]:
    """Each judge's own score of each answer, by item, judge and replicate."""
    rated, several = of_run(store, run.id), run.plan.replicates > 1
    scorer, found = Scorer(rated.of), dict[tuple[str, str, int], float]()
    for rater in rated.graders:
        judge, _, replicate = rater.name.rpartition("|") if several else (rater.name, "", "0")
        if judge not in names:
            continue
        column = scorer.column(rated.given[rater])
        for at in np.flatnonzero(column.known):
            found[rated.of.ids[at], judge, int(replicate)] = float(column.values[at])
    return found


#: Which answer and judge each score is of.
Facets = Mapping[str, npt.NDArray[np.int64]]


def side_by_side(
    first: Array, second: Array, facets: Facets
) -> tuple[ScoredWay, ScoredWay, Estimate] | str:
    """Two scores of the same answers by the same judges, shape (scores,) each, and the first's
    worth less the second's; or why there is no such thing.

    Intervals leave groups of answers out in turn: they speak of other answers and these judges.
    """
    number = len(np.unique(facets[ITEM]))
    if number < FEW:
        return f"Only {number} answers have both scores; {FEW} are needed."
    found = [components(side, facets) for side in (first, second)]
    reason = next((one.reason for one in found if one.reason), "")
    if reason or not all(one.total for one in found):
        return reason or "All scores are the same."
    left = np.array(
        [
            [_phi(components(side[kept], _only(facets, kept))) for side in (first, second)]
            for kept in (facets[ITEM] % GROUPS != group for group in range(GROUPS))
        ]
    )
    known = [jackknife(_phi(one), left[:, at], number) for at, one in enumerate(found)]
    gap = jackknife(_phi(found[0]) - _phi(found[1]), left[:, 0] - left[:, 1], number)
    ways = [_way(*one) for one in zip((first, second), found, known, strict=True)]
    return ways[0], ways[1], gap


def _way(values: Array, found: Components, known: Estimate) -> ScoredWay:
    share = {name: found.of(name) / found.total for name in (ITEM, JUDGE)}
    share["rest"] = 1 - sum(share.values())
    low, high = max(0.0, known.low or 0.0), min(1.0, known.high or 0.0)
    return ScoredWay(float(np.std(values, ddof=1)), share, known._replace(low=low, high=high))


def _phi(found: Components) -> float:
    return worth(found, Ways(judges=1)).absolute


def _only(facets: Facets, kept: npt.NDArray[np.bool_]) -> dict[str, npt.NDArray[np.int64]]:
    return {name: column[kept] for name, column in facets.items()}


# In words, and as data.


def in_words(found: OneImpression) -> str:
    """Which of both says more of the answers, and how alike they are."""
    if found.rubric is None or found.impression is None:
        return f"Both ways cannot be told apart: {found.reason}"
    by, one = found.rubric, found.impression
    low, high = found.gap.low, found.gap.high
    said = (
        f"On the same {found.answers} answers, {percent(by.share[ITEM])} of the variance of the "
        f"rubric's scores lies in the answers, {percent(one.share[ITEM])} of one impression's. "
    )
    sure = low is not None and high is not None and (low > 0 or high < 0)
    better = "The rubric's" if (found.gap.value or 0.0) > 0 else "One impression's"
    ends = found.gap.words(score).ends
    size = score(abs(found.gap.value or 0.0)) + (f" (95% interval {ends})" if ends else "")
    verdict = f"{better} score of one judge says more of an answer, by {size}."
    open_ = f"Which says more of an answer cannot be told: the difference is {size}."
    alike = found.alike.value
    together = (
        ""
        if alike is None
        else f" They put the answers in a like order (rank correlation {score(alike)})."
    )
    return f"{said}{verdict if sure else open_}{together}"


def as_data(found: OneImpression) -> dict[str, Any]:
    """What ``impression --json`` says."""

    def way(one: ScoredWay | None) -> dict[str, Any] | None:
        if one is None:
            return None
        variance = one.spread**2
        return {
            "variance": variance,
            "shares": dict(one.share),
            "worth": one.worth.value,
            **ci_and_undefined({"worth": one.worth}),
        }

    return {
        "run": found.run.plan.details[IMPRESSION],
        "asked": found.run.id,
        "answers": found.answers,
        "judges": list(found.judges),
        "rubric": way(found.rubric),
        "impression": way(found.impression),
        "gap": found.gap.value,
        **ci_and_undefined({"gap": found.gap}),
        "rank_correlation": found.alike.value,
        "sentence": in_words(found),
    }
