"""The order of a queue: what settling a cell could change, and how far its votes lie apart.

For every option of the cell the item is scored anew, gates, abstentions, clamping and thresholds
included. How likely each option is comes from the votes, kept from certainty by one vote that
says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, log
from typing import NamedTuple

from core.domain.review import Order
from core.domain.review_records import QueuedCell
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run
from core.domain.votes import BallotRow
from core.scoring import MeasuredTexts, looks_at_texts, measure, score_item
from core.scoring.trace import Outcome
from core.scoring.verdict import Ballot
from core.services.queueing.queue_cells import QueueCandidate
from core.services.results.scored_items import effective, resolved_items, scored_rubric
from core.services.results.verdicts import Counting, counting_of, texts_from
from core.services.results.weight_fit import likely
from core.store.store import Store

#: The formulas in words, for a tooltip.
ORDERS: dict[str, str] = {
    "impact": (
        "Failed calls first. Then by the chance that a person's answer would change the outcome "
        "(pass, fail or review), then by the change of the score to expect, then by the chance of "
        "another verdict, then by entropy, then the oldest. An option's chance is "
        "(its votes + 1/K) / (all votes + 1), with K options."
    ),
    "entropy": "How mixed the votes are: -sum p ln p / ln K over the shares p of K options.",
    "margin": "The share of the first option minus that of the second, smallest first.",
    "spread": (
        "The mean distance between two votes of the cell, divided by the mean distance between any "
        "two votes on the criterion: what the cell adds to 1 - alpha. Distance: 1 for different "
        "options; of ordered options the squared number of steps."
    ),
    "change": (
        "The change of the score to expect: over all options, chance x |score with it - score now|,"
        " gates and limits included."
    ),
}


class VoteTally(NamedTuple):
    """The votes of one cell that are not abstentions.

    ``heads`` counts them by option, ``weights`` adds up the judges' weights.
    """

    heads: Mapping[int, int]
    weights: Mapping[int, float]

    @property
    def votes(self) -> int:
        """How many votes there are."""
        return sum(self.heads.values())


class Would(NamedTuple):
    """What becomes of the item if the cell is settled as ``option``, and how likely that is."""

    option: int
    chance: float
    score: float | None
    outcome: Outcome | None


class Impact(NamedTuple):
    """What settling one cell could change.

    ``flip``: the chance, in [0, 1], that a person's answer changes the item's outcome; 0 where the
    item has none whatever the answer. ``change``: the expected absolute change of the score, in its
    own units, at least 0. ``other``: the chance, in [0, 1], of another verdict. ``entropy`` and
    ``margin``: of the weighted shares, in [0, 1]; ``None`` without a vote. ``would``: every option,
    likeliest first.
    """

    flip: float
    change: float
    other: float
    entropy: float | None
    margin: float | None
    would: tuple[Would, ...]


def tally(criterion: Criterion, ballots: Iterable[Ballot]) -> VoteTally:
    """The votes that name an option with a value."""
    heads, weights = dict[int, int](), dict[int, float]()
    for option, abstained, weight, *_ in ballots:
        if not abstained and option is not None and criterion.values[option] is not None:
            heads[option] = heads.get(option, 0) + 1
            weights[option] = weights.get(option, 0.0) + weight
    return VoteTally(heads, weights)


def chances(criterion: Criterion, votes: VoteTally) -> dict[int, float]:
    """How likely a person is to choose each scored option; they add up to 1.

    (n s_k + 1/K) / (n + 1) with n votes, of whose weight s_k is for option k: the mean of the
    posterior under a Dirichlet prior worth one vote in all (Perks 1947; with two options that of
    Jeffreys). Five judges who agree are so taken to be right with 0.92, three with 0.88; unanimous
    panels were measured to be right in 0.75 to 0.93 (docs/adjudication.md). The prior does not grow
    with the number of options, as Laplace's would.

    >>> from core.domain.rubric import Criterion
    >>> shares = chances(Criterion(name="a", requirement="Is it?"), VoteTally({0: 3}, {0: 3.0}))
    >>> {option: round(share, 3) for option, share in shares.items()}
    {0: 0.875, 1: 0.125}
    """
    n, total = votes.votes, fsum(votes.weights.values())
    even = 1 / len(criterion.scored)
    return {
        option: (n * votes.weights.get(option, 0.0) / total + even) / (n + 1) if n else even
        for option in criterion.scored
    }


class WhatIf:
    """Scores what-ifs of items under one rubric. Equal answers are scored once."""

    def __init__(self, rubric: Rubric) -> None:
        self._rubric = rubric
        self._names = [c.name for c in rubric.criteria]
        self._known: dict[tuple[object, ...], tuple[float | None, Outcome | None]] = {}

    def impact(
        self,
        name: str,
        answers: Mapping[str, int | None],
        votes: VoteTally,
        texts: MeasuredTexts | None = None,
        likely: Mapping[int, float] | None = None,
    ) -> Impact:
        """What settling criterion ``name`` of an item could change.

        Args:
            name: the criterion whose cell is looked at.
            answers: the item's verdicts now, as ``score_item`` takes them; this may be absent.
            votes: the cell's votes.
            texts: what ``core.scoring.measure`` made of the item's texts, where scores need them.
            likely: how likely each scored option is, where something better than ``chances`` is
                known (the fitted rule's).

        Where there is no score now, changes count from the mean of the scores that could be.
        """
        criterion = self._rubric.criterion(name)
        shares = chances(criterion, votes) if likely is None else likely
        now, outcome = self._score(answers, texts)
        would = []
        for option in sorted(shares, key=lambda o: (-shares[o], o)):
            found = self._score({**answers, name: option}, texts)
            would.append(Would(option, shares[option], *found))
        flip = fsum(each.chance for each in would if each.outcome != outcome)
        other = fsum(each.chance for each in would if each.option != answers.get(name))
        mixed = _mixed(criterion, votes)
        return Impact(min(1.0, flip), _change(now, would), min(1.0, other), *mixed, tuple(would))

    def _score(
        self, answers: Mapping[str, int | None], texts: MeasuredTexts | None
    ) -> tuple[float | None, Outcome | None]:
        # -1 stands for a criterion without a verdict; None is an abstention.
        key = (*(answers.get(name, -1) for name in self._names), texts)
        found = self._known.get(key)
        if found is None:
            scored = score_item(self._rubric, answers, texts=texts)
            found = self._known[key] = scored.score, scored.trace.outcome
        return found


def _change(now: float | None, would: Iterable[Would]) -> float:
    scores = [(each.chance, each.score) for each in would if each.score is not None]
    sure = fsum(chance for chance, _ in scores)
    if not sure:
        return 0.0
    start = fsum(chance * score for chance, score in scores) / sure if now is None else now
    return fsum(chance * abs(score - start) for chance, score in scores)


def _mixed(criterion: Criterion, votes: VoteTally) -> tuple[float | None, float | None]:
    """Entropy and margin of the weighted shares."""
    if not votes.heads:
        return None, None
    total = fsum(votes.weights.values())
    shares = sorted((w / total for w in votes.weights.values()), reverse=True)
    entropy = -fsum(p * log(p) for p in shares) / log(len(criterion.scored))
    second = shares[1] if len(shares) > 1 else 0.0
    return min(1.0, max(0.0, entropy)), shares[0] - second


def order_key(
    impact: Impact, *, failed: bool = False, age: float = 0.0
) -> tuple[bool, float, float, float, float, float]:
    """The queue's default order, for ``sorted``: what comes first has the smallest key.

    Failed calls, chance of flipping the outcome, expected change of the score, chance of another
    verdict, entropy, age (the oldest first; any unit). Rounded, so that noise in the last digit is
    a tie.
    """
    entropy = 1.0 if impact.entropy is None else impact.entropy
    flip, change, other, mixed = (
        -round(x, 9) for x in (impact.flip, impact.change, impact.other, entropy)
    )
    return (not failed, flip, change, other, mixed, -age)


def distance(criterion: Criterion, one: int, other: int) -> float:
    """How far two scored options are apart: 0 or 1; of ordered options the squared steps."""
    if criterion.scale != "ordinal":
        return float(one != other)
    steps = criterion.scored.index(one) - criterion.scored.index(other)
    return float(steps * steps)


def expected_disagreement(criterion: Criterion, cells: Iterable[VoteTally]) -> float | None:
    """The mean distance between any two votes on the criterion, of cells with two votes or more.

    The D_e of Krippendorff (2004), Content Analysis, section 11.3. ``None`` with fewer than two
    votes; 0 where all votes are one option.
    """
    totals = dict[int, int]()
    for cell in cells:
        if cell.votes >= 2:
            for option, count in cell.heads.items():
                totals[option] = totals.get(option, 0) + count
    return _apart(criterion, totals)


def spread(criterion: Criterion, votes: VoteTally, expected: float | None) -> float | None:
    """The cell's part in 1 - alpha: mean distance between two of its votes, by the expected one.

    Averaged over cells with as many votes each, it is 1 - alpha of the criterion (distances of
    ordered options are squared steps, the interval metric on positions). ``None`` with fewer than
    two votes or where ``expected`` is ``None`` or 0.
    """
    found = _apart(criterion, votes.heads)
    return None if found is None or not expected else found / expected


def _apart(criterion: Criterion, counts: Mapping[int, int]) -> float | None:
    n = sum(counts.values())
    if n < 2:
        return None
    pairs = fsum(
        a * b * distance(criterion, one, other)
        for one, a in counts.items()
        for other, b in counts.items()
    )
    return pairs / (n * (n - 1))


#: Every order with its name and its formula in words.
QUEUE_ORDERS: dict[Order, tuple[str, str]] = {
    "impact": ("What changes most", ORDERS["impact"]),
    "change": ("Expected change of the score", ORDERS["change"]),
    "entropy": ("Most mixed votes", ORDERS["entropy"]),
    "margin": ("Smallest margin", ORDERS["margin"]),
    "spread": ("Least agreement among judges", ORDERS["spread"]),
    "random": ("At random", "A number drawn for each item by the queue's seed."),
    "dataset": ("As in the dataset", "The order of the run's items."),
}


def weigh_again(store: Store, run: Run, queue_id: int) -> list[QueuedCell]:
    """The open cells of a queue, weighed by what people have settled since they were queued."""
    rubric = scored_rubric(store, run)
    queued = [cell for cell in store.queues.cells(queue_id) if cell.state != "resolved"]
    ids = list(dict.fromkeys(cell.item_id for cell in queued))
    items = {i.id: i for i in resolved_items(store, run.dataset_version_id, ids)}
    places = {item.item_id: item.position for item in store.queues.items(queue_id)}
    cells = [
        QueueCandidate(
            cell.item_id,
            places[cell.item_id],
            effective(items[cell.item_id], rubric).criterion(cell.criterion),
            cell.reasons,
            cell.chance,
        )
        for cell in queued
    ]
    return weigh(store, run, cells)


def weigh(store: Store, run: Run, cells: Sequence[QueueCandidate]) -> list[QueuedCell]:
    """The cells with what settling each could change, in the order given.

    Where labels have shown which judges are right how often, an option's chance is what they make
    of the votes; else it is the share of the votes (``impact``).
    """
    known = likely(store, run.id)
    rubric = scored_rubric(store, run)
    ids = list(dict.fromkeys(cell.item_id for cell in cells))
    items = {i.id: i for i in resolved_items(store, run.dataset_version_id, ids)}
    tallies = _tallies(store, run, cells)
    signs = store.signs.of_cells(run.id)
    answers: dict[str, dict[str, int | None]] = {}
    for (item_id, name), sign in signs.items():
        if sign.votes or sign.abstentions or sign.settled:
            answers.setdefault(item_id, {})[name] = sign.option
    usual = _usual(cells, tallies)
    what_ifs: dict[int, WhatIf] = {}
    texts: dict[str, MeasuredTexts] = {}
    found = []
    for cell in cells:
        item_id, name = cell.item_id, cell.criterion.name
        in_force = effective(items[item_id], rubric)
        what_if = what_ifs.setdefault(id(in_force), WhatIf(in_force))
        if looks_at_texts(in_force) and item_id not in texts:
            texts[item_id] = measure(in_force, texts_from(items[item_id]))
        votes = tallies.get((item_id, name), VoteTally({}, {}))
        impact = what_if.impact(
            name, answers.get(item_id, {}), votes, texts.get(item_id), known.get((item_id, name))
        )
        found.append(
            QueuedCell(
                item_id=item_id,
                criterion=name,
                reasons=cell.reasons,
                chance=cell.chance,
                failed="failure" in cell.reasons,
                flip=round(impact.flip, 9),
                change=round(impact.change, 9),
                entropy=impact.entropy,
                margin=impact.margin,
                spread=spread(cell.criterion, votes, usual[name, len(cell.criterion.choices)]),
            )
        )
    return found


def _tallies(
    store: Store, run: Run, cells: Sequence[QueueCandidate]
) -> dict[tuple[str, str], VoteTally]:
    """The votes that count, of every cell of the criteria that are asked about."""
    counting = counting_of(run.plan)
    asked = {cell.criterion.name: cell.criterion for cell in cells}
    own = {(cell.item_id, cell.criterion.name): cell.criterion for cell in cells}
    found = {}
    for name, criterion in asked.items():
        rows: dict[str, list[BallotRow]] = {}
        for row in store.votes.all_ballots(run.id, name):
            rows.setdefault(row.item_id, []).append(row)
        for item_id, ballots in rows.items():
            key = (item_id, name)
            found[key] = _tally(own.get(key, criterion), counting, ballots)
    return found


def _tally(criterion: Criterion, counting: Counting, ballots: Sequence[BallotRow]) -> VoteTally:
    counted = counting.count(ballots).ballots
    # An item's own rubric may give the same name to a question with fewer options.
    known = [b for b in counted if b.option is None or b.option < len(criterion.choices)]
    return tally(criterion, known)


def _usual(
    cells: Sequence[QueueCandidate], tallies: dict[tuple[str, str], VoteTally]
) -> dict[tuple[str, int], float | None]:
    """The disagreement to expect on each criterion (by its number of choices, too)."""
    by_name: dict[str, list[VoteTally]] = {}
    for (_, name), votes in tallies.items():
        by_name.setdefault(name, []).append(votes)
    found: dict[tuple[str, int], float | None] = {}
    for cell in cells:
        key = (cell.criterion.name, len(cell.criterion.choices))
        if key not in found:
            scored = set(cell.criterion.scored)
            same = [t for t in by_name.get(key[0], ()) if t.heads.keys() <= scored]
            found[key] = expected_disagreement(cell.criterion, same)
    return found
