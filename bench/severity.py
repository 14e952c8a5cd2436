"""Severities of made raters: bias, coverage, false alarms and power; fair scores; held-out rules.

    python -m bench.severity [samples]
    python -m bench.severity equal [samples]    # words about equal raters, 10 to 50 items, alone

Equal raters come first, all rating all items or three of ten an item, on two or five levels: how
many sets call somebody strict or mild, or odd, how often a single interval holds, and how often a
rater is called strict who is by one logit.

Ten raters with severities drawn from a normal distribution rate five levels; each item is rated by
three of them, drawn at random. Then one rater answers at random (odd), then two criteria on which
an item's quality differs, so that answers of an item hang together. At last Dawid and Skene's model
against the majority on raters who are alike and raters who are not, and on recorded votes (HANNA
and LLMBar, ``../shared/data``), with what hidden votes say of it.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bench.recorded import Recorded, found, hanna, llmbar
from core.domain.base import build_model
from core.domain.panel import Rules
from core.domain.rubric import Criterion
from core.domain.weight_fit import Weights
from core.metrics.agreement.kappa import KAPPAS, pair_cells
from core.metrics.dawid_skene import dawid_skene
from core.metrics.facets import facets, fair_scores
from core.metrics.measure import Array, Ratings
from core.scoring.verdict import Ballot, settle
from core.services.results.weight_fit import fit_criterion
from core.services.results.weight_fit_kinds import LabelledCell

RATERS, EACH, SPREAD = 10, 3, 0.8
STEPS = np.array([-1.5, -0.5, 0.5, 1.5])
FOLDS = 5
#: The model counts as better only if it beats the model of equal raters by more than this many
#: standard errors.
AHEAD = 2.0


class HiddenVotePrediction(NamedTuple):
    """How well hidden votes were predicted, as mean log probabilities.

    ``model`` uses different raters, ``alike`` equal ones. ``gain`` is the first minus the second,
    ``error`` its standard error over items.
    """

    model: float
    alike: float
    gain: float
    error: float
    n: int

    @property
    def clearly_better(self) -> bool:
        """Return whether the model is better by more than ``AHEAD`` standard errors."""
        return self.gain > AHEAD * self.error > 0


def held_out_prediction(
    ratings: npt.ArrayLike, k: int, seed: int = 0
) -> HiddenVotePrediction | None:
    """Return how well hidden answers are predicted from the others on the same item, once with
    individual probabilities and once as if all raters were alike, whose truth is nearly the
    majority's.

    A fifth of all answers is hidden at a time. ``None`` with fewer than 50 answers on items with
    other raters.
    """
    levels = np.asarray(ratings, np.int64)
    fold = np.random.default_rng(seed).integers(0, FOLDS, levels.shape)
    logs = np.zeros((2, *levels.shape))
    predicted = np.zeros(levels.shape, np.bool_)
    for at in range(FOLDS):
        hidden = (fold == at) & (levels >= 0)
        visible = np.where(hidden, -1, levels)
        hidden &= np.any(visible >= 0, axis=1, keepdims=True)
        item, rater = np.nonzero(hidden)
        answer = levels[item, rater]
        for place, equal_raters in enumerate((False, True)):
            _, chances, posterior = dawid_skene(visible, k, equal_raters=equal_raters)
            chances_given = np.einsum("it,rtk->irk", posterior, chances, optimize=True)
            logs[place, item, rater] = np.log(chances_given[item, rater, answer])
        predicted |= hidden
    return _prediction_of_gains(logs[0], logs[0] - logs[1], predicted)


def _prediction_of_gains(
    model: Array, gains: Array, predicted: npt.NDArray[np.bool_]
) -> HiddenVotePrediction | None:
    n = int(predicted.sum())
    if n < 50:
        return None
    by_item = np.where(predicted, gains, 0.0).sum(axis=1)
    gain, mean = float(by_item.sum()) / n, float(model[predicted].mean())
    off = by_item - gain * predicted.sum(axis=1)
    return HiddenVotePrediction(mean, mean - gain, gain, float(np.sqrt((off**2).sum())) / n, n)


def answers(
    generator: np.random.Generator, quality: Array, severity: Array, *, each: int = EACH
) -> Ratings:
    """Levels of shape (items, raters), each item rated by so many of them."""
    place = quality[:, None] - severity
    sums = np.cumsum(place[:, :, None] - STEPS, axis=2)
    logs = np.concatenate([np.zeros((*place.shape, 1)), sums], axis=2)
    chance = np.exp(logs - np.logaddexp.reduce(logs, axis=2, keepdims=True))
    levels = (generator.random(place.shape)[:, :, None] > np.cumsum(chance, axis=2)).sum(axis=2)
    order = generator.random(place.shape).argsort(axis=1)
    return np.where(order < each, np.minimum(levels, len(STEPS)), -1)


def shifts(severity: Array, spread: float) -> Array:
    """How much more of the scale each truly gives than an average rater would."""
    quality = spread * np.linspace(-4, 4, 81)
    weights = np.exp(-0.5 * np.linspace(-4, 4, 81) ** 2)
    place = quality[:, None] - np.append(severity, severity.mean())
    sums = np.cumsum(place[:, :, None] - STEPS, axis=2)
    logs = np.concatenate([np.zeros((*place.shape, 1)), sums], axis=2)
    chance = np.exp(logs - np.logaddexp.reduce(logs, axis=2, keepdims=True))
    given = weights @ (chance @ np.linspace(0, 1, 5)) / weights.sum()
    return np.asarray(given[:-1] - given[-1], np.float64)


def severities(samples: int, items: int, *, odd: bool = False, criteria: int = 1) -> None:
    """One setting of the many-facet model."""
    generator = np.random.default_rng(items + criteria)
    held = strict = wrong = 0
    flagged, false, slopes, fair, plain = 0, 0, list[float](), list[float](), list[float]()
    for _ in range(samples):
        severity = generator.normal(0, SPREAD, RATERS)
        severity -= severity.mean()
        quality = generator.normal(0, 1.2, items)
        rated = []
        for _ in range(criteria):
            own = quality + (generator.normal(0, 0.7, items) if criteria > 1 else 0.0)
            rated.append(answers(generator, own, severity))
        if odd:
            for one in rated:
                one[:, 0] = np.where(one[:, 0] >= 0, generator.integers(0, 5, items), -1)
        one = facets(rated, [5] * criteria)
        value = np.array([r.shift.value for r in one.raters], np.float64)
        low = np.array([r.shift.low for r in one.raters], np.float64)
        high = np.array([r.shift.high for r in one.raters], np.float64)
        true = shifts(severity, 1.2 if criteria == 1 else (1.2**2 + 0.7**2) ** 0.5)
        held += int(((low <= true) & (true <= high)).sum())
        strict += int(((low > 0) | (high < 0)).sum())
        wrong += int((((low > 0) & (true < 0)) | ((high < 0) & (true > 0))).sum())
        slopes.append(float(np.polyfit(true, value, 1)[0]))
        flagged += one.raters[0].misfit.odd
        false += sum(r.misfit.odd for r in one.raters[1:])
        fair.append(_likeness(fair_scores(one, rated, [5] * criteria), quality))
        plain.append(_plain(rated, quality))
    every = samples * RATERS
    print(
        f"{items} items, {criteria} criteria, odd rater {odd}: severities held {held / every:.3f}, "
        f"slope {np.mean(slopes):.3f}, said strict or mild {strict / every:.2f}, of them wrong "
        f"{wrong / max(1, strict):.4f}; first rater odd {flagged / samples:.2f}, others "
        f"{false / (every - samples):.4f}; r of quality with fair scores {np.mean(fair):.3f}, with "
        f"means {np.mean(plain):.3f}",
        flush=True,
    )


#: Raters, of whom so many rate an item, on so many levels.
EQUAL = ((3, 3, 5), (2, 2, 2), (5, 5, 2), (10, 3, 5))
ITEMS = (10, 20, 30, 50)


def one_set(
    generator: np.random.Generator, items: int, of: tuple[int, int, int], strict: float = 0.0
) -> Ratings:
    """Ratings of raters that are equal but for the first, on the items' own qualities."""
    raters, each, levels = of
    severity = np.zeros(raters)
    severity[0] = strict
    rated = answers(generator, generator.normal(0, 1.2, items), severity, each=each)
    return rated if levels == 5 else np.where(rated >= 0, (rated >= 2).astype(np.int64), -1)


def equal(samples: int) -> None:
    """What is said of equal raters, by the set."""
    for of in EQUAL:
        for items in ITEMS:
            generator = np.random.default_rng(items)
            sets = [facets([one_set(generator, items, of)], [of[2]]) for _ in range(samples)]
            each = [rater for one in sets for rater in one.raters]
            said = np.mean([any(r.surely for r in one.raters) for one in sets])
            odd = np.mean([any(r.misfit.odd for r in one.raters) for one in sets])
            held = np.mean([r.logits.low <= 0 <= r.logits.high for r in each])
            strict = [facets([one_set(generator, items, of, 1.0)], [of[2]]) for _ in range(samples)]
            seen = np.mean([one.raters[0].surely < 0 for one in strict if one.raters])
            print(
                f"{of[0]} equal raters, {of[1]} an item, {of[2]} levels, {items} items: somebody "
                f"strict or mild in {said:.3f} of the sets, odd in {odd:.3f}; single intervals "
                f"held {held:.3f}; a strict one found {seen:.3f}",
                flush=True,
            )


def _likeness(fair: Array, quality: Array) -> float:
    return float(np.corrcoef(fair[:, 0], quality)[0, 1])


def _plain(rated: list[Ratings], quality: Array) -> float:
    every = np.concatenate([np.where(one >= 0, one, np.nan) for one in rated], axis=1)
    return float(np.corrcoef(np.nanmean(every, axis=1), quality)[0, 1])


def unlabelled(samples: int) -> None:
    """Dawid and Skene where raters are alike, and where some know and some do not."""
    generator = np.random.default_rng(3)
    for name, right in (("alike", [0.7] * 6), ("not alike", [0.9, 0.85, 0.4, 0.4, 0.4, 0.4])):
        for items in (50, 200):
            offered, model, majority = 0, list[float](), list[float]()
            for _ in range(samples):
                true = generator.integers(0, 3, items)
                hit = generator.random((items, 6)) < np.array(right)
                other = (true[:, None] + generator.integers(1, 3, (items, 6))) % 3
                votes = np.where(hit, true[:, None], other)
                check = held_out_prediction(votes, 3)
                offered += check is not None and check.clearly_better
                model.append(float((dawid_skene(votes, 3)[2].argmax(1) == true).mean()))
                counts = (votes[:, :, None] == np.arange(3)).sum(axis=1)
                majority.append(float((counts.argmax(1) == true).mean()))
            print(
                f"raters {name}, {items} items: offered {offered / samples:.3f}; right: model "
                f"{np.mean(model):.3f}, majority {np.mean(majority):.3f}",
                flush=True,
            )


LEVELS = build_model(
    Criterion,
    {
        "name": "c",
        "requirement": "r",
        "scale": "ordinal",
        "options": [{"label": str(at), "value": at / 4} for at in range(5)],
    },
    "criterion",
)


def rules(samples: int, severe: float) -> None:
    """The rules that labels choose on sparse panels, by what they miss on cells without a label."""
    generator = np.random.default_rng(11)
    for labels in (20, 50, 100):
        offered, chosen, misses = 0, Counter[str](), {"mean": 0.0, "offered": 0.0}
        for _ in range(samples):
            severity = generator.normal(0, severe, RATERS)
            quality = generator.normal(0, 1.2, 400)
            votes = answers(generator, quality, severity)
            truth = answers(generator, quality, np.zeros(1), each=1)[:, 0]
            given = [
                [Ballot(int(v), False, 1.0, f"r{j}") for j, v in enumerate(row) if v >= 0]
                for row in votes
            ]
            known = [LabelledCell(f"i{at}", given[at], int(truth[at])) for at in range(labels)]
            found = fit_criterion(LEVELS, known, Rules(ordinal="mean"), given[labels:])
            if isinstance(found, str):
                continue
            offered += found.better
            chosen[found.kind if found.better else "none"] += 1
            weights = found.weights if found.better else None
            for name, rule in (("mean", None), ("offered", weights)):
                misses[name] += _missed(given[labels:], truth[labels:], rule)
        print(
            f"severities {severe}, {labels} labels: offered {offered / samples:.2f} "
            f"({dict(chosen)}); off by: mean {misses['mean'] / samples:.3f}, with what is offered "
            f"{misses['offered'] / samples:.3f}",
            flush=True,
        )


def _missed(given: list[list[Ballot]], truth: Ratings, rule: Weights | None) -> float:
    off = []
    for ballots, true in zip(given, truth.tolist(), strict=True):
        verdict = settle(LEVELS, ballots, Rules(ordinal="mean"), weights=rule)
        if verdict is not None and verdict.option is not None:
            off.append(abs(verdict.option - true))
    return float(np.mean(off))


def recorded(one: Recorded) -> None:
    """Recorded panels: how often each rule is right without a label, and what the check says."""
    scored = one.criterion.scored
    raters = sorted({b.judge for cell in one.cells for b in cell.ballots})
    votes = np.full((len(one.cells), len(raters)), -1)
    for at, cell in enumerate(one.cells):
        for ballot in cell.ballots:
            if ballot.option in scored:
                votes[at, raters.index(ballot.judge)] = scored.index(ballot.option)
    k, truth = len(scored), np.array([scored.index(cell.truth) for cell in one.cells])
    counts = (votes[:, :, None] == np.arange(k)).sum(axis=1)
    mean = np.round((counts @ np.arange(k)) / np.maximum(counts.sum(axis=1), 1))
    said = {
        "majority": counts.argmax(axis=1),
        "mean": mean,
        "Dawid-Skene": dawid_skene(votes, k)[2].argmax(axis=1),
    }
    check = held_out_prediction(votes, k)
    words = (
        f"gain {check.gain:.3f} ({check.error:.3f}), favour it: {check.clearly_better}"
        if check
        else "none"
    )
    right = ", ".join(
        f"{name} {np.mean(option == truth):.3f} (off by {np.mean(abs(option - truth)):.3f}, kappa "
        f"{_kappa(option, truth, k):.3f})"
        for name, option in said.items()
    )
    print(f"{one.name}: right {right}; hidden votes: {words}", flush=True)


def _kappa(option: Array | Ratings, truth: Ratings, k: int) -> float:
    """With quadratic weights."""
    cells = pair_cells(truth, np.asarray(option, np.int64), k)
    table = np.bincount(cells, minlength=k * k).reshape(k, k)
    return float(KAPPAS["quadratic"].many(table.astype(np.float64)))


def main() -> None:
    """Print a line for each setting."""
    if sys.argv[1:2] == ["equal"]:
        equal(int(sys.argv[2]) if len(sys.argv) > 2 else 200)
        return
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    equal(samples)
    for items in (60, 200):
        severities(samples, items)
    severities(samples, 200, odd=True)
    severities(samples, 100, criteria=3)
    for severe in (0.0, 0.8, 1.5):
        rules(max(20, samples // 4), severe)
    unlabelled(samples)
    if found():
        for aspect in ("coherence", "relevance", "surprise"):
            for number in (1, 2, 3, 4):
                recorded(hanna(aspect, f"prompt{number}"))
        for prompt in ("Vanilla", "CoT"):
            recorded(llmbar(prompt))


if __name__ == "__main__":
    main()
