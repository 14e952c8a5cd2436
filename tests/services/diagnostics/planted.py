"""Runs made up with a known fault, or with none: what should be found is known beforehand.

A clean judge answers the truth in 80% of cells and else draws from the truth's distribution, so it
is neither lenient nor drawn to any level, and its errors know nothing of length or place. Three
things that are healthy and could be taken for faults are there on purpose: better answers are
longer, criteria share a common quality, and judges abstain on 2% of cells that people labelled.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import BINARY, Criterion, Option, Rubric
from core.metrics.bias.judge_bias import ShownOrders
from core.services.agreement.ratings import items_to_rate
from core.services.diagnostics.evidence import CriterionEvidence, RunEvidence

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_FOUR = tuple(
    Option(label=word, value=i / 3) for i, word in enumerate(("Poor", "Fair", "Good", "Top"))
)
_TOPIC = (
    Option(label="Refund", value=1),
    Option(label="Delivery", value=1),
    Option(label="Other", value=0),
)
CRITERIA = (
    Criterion(name="cites", requirement="Cites the policy.", options=BINARY),
    Criterion(name="rude", requirement="Is rude.", options=BINARY, weight=-5),
    Criterion(name="clear", requirement="How clear?", scale="ordinal", options=_FOUR),
    Criterion(name="warm", requirement="How warm?", scale="ordinal", options=_FOUR),
    Criterion(name="topic", requirement="What about?", scale="nominal", options=_TOPIC),
)
JUDGES = tuple(Judge(name=name, model="m") for name in ("ann", "bob", "cyd"))


@dataclass(frozen=True)
class Plant:
    """What ails ann (the first judge) or a criterion; the defaults are healthy.

    ``first``: the share of answers that go to the place shown first. ``longer``: the share of
    answers moved up (long texts) or down (short ones). ``kinder``: moved one option up, negative:
    down. ``middle``: the share of end levels moved inwards. ``halo``: the share of answers that
    follow the overall quality. ``silent``: abstentions. ``again``: the share of replicates, and
    ``flipped`` of answers to a turned order, drawn anew. Of criteria: ``dead``: "Poor" of clear is
    never picked. ``twin``: warm gets the verdicts of clear. ``vague``: the share of random answers
    to cites. ``alone``: clear has nothing to do with quality. ``blurred``: "Fair" and "Good" of
    warm are told apart by a coin.

    Healthy, too, and harder to tell from a fault: ``deserved`` is how much length and quality go
    together, .5 by default; with ``finer`` judges see the quality behind an answer, of which a
    label tells the level alone; ``noisy`` is the share of labels that people guessed, as often
    each level as the truth has it: with .2 they err as the judges do.
    """

    first: float = 0.0
    longer: float = 0.0
    kinder: float = 0.0
    middle: float = 0.0
    halo: float = 0.0
    silent: float = 0.02
    again: float = 0.03
    flipped: float = 0.03
    dead: bool = False
    twin: bool = False
    vague: float = 0.0
    alone: bool = False
    blurred: bool = False
    labelled: float = 1.0
    judges: int = field(default=3)
    deserved: float = 0.5
    finer: bool = False
    noisy: float = 0.0


HEALTHY = Plant()


def made(
    seed: int, n: int = 300, plant: Plant = HEALTHY, *, texts: int | None = None
) -> RunEvidence:
    """A run of ``n`` items with this fault; ``texts`` seeds items and truth (default: seed)."""
    world = np.random.default_rng([n, seed if texts is None else texts])
    rng = np.random.default_rng([n, seed, 1])
    quality = world.normal(size=n)
    words = np.round(2 ** (7 + world.normal(size=n) + plant.deserved * quality))
    traits = [_trait(c, quality, plant, world) for c in CRITERIA]
    truths = [_truth(c, trait, world) for c, trait in zip(CRITERIA, traits, strict=True)]
    judges = JUDGES[: plant.judges]
    shown: dict[str, list[ShownOrders]] = {judge.name: [] for judge in judges}
    criteria = []
    for criterion, truth, trait in zip(CRITERIA, truths, traits, strict=True):
        seen = [
            _level(criterion, trait + 0.3 * rng.normal(size=n), truth) if plant.finer else truth
            for _ in judges
        ]
        answers = [
            _answers(criterion, seen[at], quality, words, plant, at, rng)
            for at in range(len(judges))
        ]
        for judge, (_, _, table) in zip(judges, answers, strict=True):
            shown[judge.name].append(table)
        levels = np.stack([a[0] for a in answers], axis=1)
        abstained = np.stack([a[1] for a in answers], axis=1)
        noise = np.random.default_rng([n, seed, 2, len(criteria)])
        labels = np.where(noise.random(n) < plant.noisy, noise.permutation(truth), truth)
        criteria.append(_asked(criterion, levels, abstained, labels, plant, rng))
    if plant.twin:
        _, _, clear, warm, _ = criteria
        copied = np.where(rng.random(n)[:, None, None] < 0.01, warm.levels, clear.levels)
        criteria[3] = replace(warm, levels=copied, verdicts=_mode(copied, 4))
    items = tuple(Item(id=f"i{i}", submission="x") for i in range(n))
    of = items_to_rate(Rubric(name="Planted", criteria=CRITERIA), items)
    return RunEvidence(judges, of, words, tuple(criteria), shown, own=2)


def _trait(c: Criterion, quality: Floats, plant: Plant, rng: np.random.Generator) -> Floats:
    own = rng.normal(size=len(quality))
    alone = plant.alone and c.name == "clear"
    found: Floats = own if alone else np.sqrt(0.5) * quality + np.sqrt(0.5) * own
    return found


def _truth(c: Criterion, trait: Floats, rng: np.random.Generator) -> Ints:
    if c.scale == "nominal":
        return rng.choice(len(c.scored), len(trait), p=[0.5, 0.3, 0.2])
    return _level(c, trait, np.zeros(len(trait), np.int64))


def _level(c: Criterion, trait: Floats, nominal: Ints) -> Ints:
    """The level of so much of a trait; where levels have no order, what is given."""
    if c.scale == "nominal":
        return nominal
    if len(c.scored) == 2:  # level 0 is MET: good for cites, bad for rude
        met = trait > -0.5 if c.weight > 0 else trait < -0.8
        return np.where(met, 0, 1)
    return np.searchsorted([-0.9, 0.0, 0.9], trait)


def _answers(
    c: Criterion,
    truth: Ints,
    quality: npt.NDArray[np.float64],
    words: npt.NDArray[np.float64],
    plant: Plant,
    at: int,
    rng: np.random.Generator,
) -> tuple[Ints, npt.NDArray[np.bool_], ShownOrders]:
    n, k = len(truth), len(c.scored)
    ails = plant if at == 0 else Plant(dead=plant.dead, vague=plant.vague, blurred=plant.blurred)
    first = np.where(rng.random(n) < 0.8, truth, rng.permutation(truth))
    up = 1 if c.scale == "ordinal" else -1 if c.weight > 0 else 1  # the direction of more value
    if c.scale != "nominal":
        longer = np.where(words > np.median(words), up, -up) * (rng.random(n) < ails.longer)
        kinder = np.sign(ails.kinder).astype(int) * up * (rng.random(n) < abs(ails.kinder))
        first = np.clip(first + longer + kinder, 0, k - 1)
        good = np.empty(n, np.int64)  # as often at each level as the truth, in order of quality
        good[np.argsort(quality)] = up * np.sort(up * truth)
        first = np.where(rng.random(n) < ails.halo, good, first)
    if k == 4:
        inward = np.clip(first, 1, 2)
        first = np.where(rng.random(n) < ails.middle, inward, first)
    first = _of_criterion(c, first, ails, rng)
    order = np.argsort(rng.random((n, k)), axis=1)
    first = np.where(rng.random(n) < ails.first, order[:, 0], first)
    again = np.where(rng.random(n) < ails.again, rng.permutation(first), first)
    flipped = np.where(rng.random(n) < ails.flipped, rng.permutation(first), first)
    levels = np.stack([first, again, flipped, flipped], axis=1)
    away = np.repeat(rng.random(n)[:, None] < ails.silent, 4, axis=1)
    levels = np.where(away, -1, levels)
    return levels, away, _shown(levels[:, 0], order, k)


def _of_criterion(c: Criterion, levels: Ints, ails: Plant, rng: np.random.Generator) -> Ints:
    n = len(levels)
    if ails.dead and c.name == "clear":
        return np.maximum(levels, 1)
    if ails.vague and c.name == "cites":
        return np.where(rng.random(n) < ails.vague, rng.permutation(levels), levels)
    if ails.blurred and c.name == "warm":
        return np.where((levels == 1) | (levels == 2), rng.integers(1, 3, n), levels)
    return levels


def _shown(levels: Ints, order: Ints, k: int) -> ShownOrders:
    there = levels >= 0
    tables = []
    for place in (0, -1):
        cells = levels[there] * k + order[there, place]
        tables.append(np.bincount(cells, minlength=k * k).reshape(k, k).astype(np.float64))
    return tables[0], tables[1]


def _asked(
    c: Criterion,
    levels: Ints,
    abstained: npt.NDArray[np.bool_],
    truth: Ints,
    plant: Plant,
    rng: np.random.Generator,
) -> CriterionEvidence:
    labelled = rng.random(len(truth)) < plant.labelled
    sign = -1.0 if c.weight < 0 else 1.0
    return CriterionEvidence(
        name=c.name,
        criterion=c,
        labels=tuple(c.choices[i].label for i in c.scored),
        values=sign * np.array([c.values[i] for i in c.scored], np.float64),
        levels=levels,
        abstained=abstained,
        truth=np.where(labelled, truth, -1),
        labelled=labelled,
        verdicts=_mode(levels, len(c.scored)),
    )


def _mode(levels: Ints, k: int) -> Ints:
    counts = np.stack([(levels[:, :, 0] == level).sum(axis=1) for level in range(k)], axis=1)
    return np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), -1)
