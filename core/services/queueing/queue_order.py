"""The order of a queue: what settling a cell could change, and how much its votes differ.

For every option of the cell the item is scored again, including gates, abstentions, clamping and
thresholds. The chance of each option comes from the votes, plus one neutral vote that prevents
certainty.
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
from core.scoring import MeasuredTexts, measured_texts, needs_texts, score_item
from core.scoring.trace import Outcome
from core.scoring.verdict import Ballot
from core.services.queueing.queue_cells import QueueCandidate
from core.services.results.scored_items import resolved_items, rubric_in_force, scored_rubric
from core.services.results.verdicts import VoteCounting, counting_of, texts_of_item
from core.services.results.weight_fit import option_probabilities
from core.store.store import Store

#: The formula of each order, for a tooltip.
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
    """The votes of one cell without abstentions.

    ``heads`` counts them by option; ``weights`` adds up the judges' weights.
    """

    heads: Mapping[int, int]
    weights: Mapping[int, float]

    @property
    def votes(self) -> int:
        """Return the number of votes."""
        return sum(self.heads.values())


def tally_votes(criterion: Criterion, ballots: Iterable[Ballot]) -> VoteTally:
    """Return the votes for an option with a value."""
    vote_counts, weights = dict[int, int](), dict[int, float]()
    for option, abstained, weight, *_ in ballots:
        if not abstained and option is not None and criterion.values[option] is not None:
            vote_counts[option] = vote_counts.get(option, 0) + 1
            weights[option] = weights.get(option, 0.0) + weight
    return VoteTally(vote_counts, weights)


def option_chances(criterion: Criterion, votes: VoteTally) -> dict[int, float]:
    """Return the chance of each scored option to be a person's choice; they add up to 1.

    It is (n s_k + 1/K) / (n + 1) with n votes and the weight share s_k of option k: the posterior
    mean under a Dirichlet prior worth one vote in total (Perks 1947; with two options that of
    Jeffreys). So five agreeing judges are assumed right with 0.92, three with 0.88; unanimous
    panels were measured to be right in 0.75 to 0.93 (docs/adjudication.md). Unlike Laplace's, this
    prior does not grow with the number of options.

    >>> from core.domain.rubric import Criterion
    >>> tally = VoteTally({0: 3}, {0: 3.0})
    >>> shares = option_chances(Criterion(name="a", requirement="Is it?"), tally)
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
        known_chances: Mapping[int, float] | None = None,
    ) -> tuple[float, float]:
        """Return what settling criterion ``name`` of an item could change.

        The first is the chance, in [0, 1], that a person's answer changes the item's outcome; 0 if
        the item has no outcome with any answer. The second is the expected absolute change of the
        score, in its own units, at least 0.

        Args:
            name: the criterion of the cell.
            answers: the item's current verdicts, as in ``score_item``; this one may be missing.
            votes: the cell's votes.
            texts: the result of ``measured_texts`` on the item's texts, if scores need it.
            known_chances: the chance of each scored option, if there is a better estimate than
                ``option_chances`` (the fitted rule's).

        Without a current score, changes are relative to the mean of the possible scores.
        """
        criterion = self._rubric.criterion(name)
        shares = option_chances(criterion, votes) if known_chances is None else known_chances
        current, outcome = self._score_with(answers, texts)
        would = [
            (shares[option], *self._score_with({**answers, name: option}, texts))
            for option in shares
        ]
        flip = fsum(chance for chance, _, settled_outcome in would if settled_outcome != outcome)
        change = _score_change(current, [(c, score) for c, score, _ in would if score is not None])
        return min(1.0, flip), change

    def _score_with(
        self, answers: Mapping[str, int | None], texts: MeasuredTexts | None
    ) -> tuple[float | None, Outcome | None]:
        # -1 encodes a criterion without a verdict, and None encodes an abstention.
        key = (*(answers.get(name, -1) for name in self._names), texts)
        result = self._known.get(key)
        if result is None:
            scored = score_item(self._rubric, answers, texts=texts)
            result = self._known[key] = scored.score, scored.trace.outcome
        return result


def _score_change(current: float | None, scores: Sequence[tuple[float, float]]) -> float:
    """Return the expected absolute change to these scores, each with its chance."""
    total_chance = fsum(chance for chance, _ in scores)
    if not total_chance:
        return 0.0
    start = (
        fsum(chance * score for chance, score in scores) / total_chance
        if current is None
        else current
    )
    return fsum(chance * abs(score - start) for chance, score in scores)


def mixed_measures(criterion: Criterion, votes: VoteTally) -> tuple[float | None, float | None]:
    """Return entropy and margin of the weighted shares, in [0, 1]; ``None`` without votes."""
    if not votes.heads:
        return None, None
    total = fsum(votes.weights.values())
    shares = sorted((w / total for w in votes.weights.values()), reverse=True)
    entropy = -fsum(p * log(p) for p in shares) / log(len(criterion.scored))
    second = shares[1] if len(shares) > 1 else 0.0
    return min(1.0, max(0.0, entropy)), shares[0] - second


def option_distance(criterion: Criterion, first: int, second: int) -> float:
    """Return the distance of two scored options: 0 or 1; if ordered, the squared steps."""
    if criterion.scale != "ordinal":
        return float(first != second)
    steps = criterion.scored.index(first) - criterion.scored.index(second)
    return float(steps * steps)


def expected_disagreement(criterion: Criterion, cells: Iterable[VoteTally]) -> float | None:
    """Return the mean distance between any two votes on the criterion, in cells with two or more.

    The D_e of Krippendorff (2004), Content Analysis, section 11.3. ``None`` with fewer than two
    votes; 0 if all votes are for one option.
    """
    totals = dict[int, int]()
    for cell in cells:
        if cell.votes >= 2:
            for option, count in cell.heads.items():
                totals[option] = totals.get(option, 0) + count
    return _mean_distance(criterion, totals)


def disagreement_share(
    criterion: Criterion, votes: VoteTally, expected: float | None
) -> float | None:
    """Return the cell's part of 1 - alpha: its votes' mean distance, divided by the expected one.

    Averaged over cells with equally many votes, it is 1 - alpha of the criterion (for ordered
    options with squared steps, the interval metric on positions). ``None`` with fewer than two
    votes, or if ``expected`` is ``None`` or 0.
    """
    observed = _mean_distance(criterion, votes.heads)
    return None if observed is None or not expected else observed / expected


def _mean_distance(criterion: Criterion, counts: Mapping[int, int]) -> float | None:
    n = sum(counts.values())
    if n < 2:
        return None
    pairs = fsum(
        a * b * option_distance(criterion, first, second)
        for first, a in counts.items()
        for second, b in counts.items()
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


def reweigh_queue(store: Store, run: Run, queue_id: int) -> list[QueuedCell]:
    """Return a queue's open cells, weighed with everything that people have settled since."""
    rubric = scored_rubric(store, run)
    queued = [cell for cell in store.queues.cells(queue_id) if cell.state != "resolved"]
    ids = list(dict.fromkeys(cell.item_id for cell in queued))
    items = {i.id: i for i in resolved_items(store, run.dataset_version_id, ids)}
    places = {item.item_id: item.position for item in store.queues.items(queue_id)}
    cells = [
        QueueCandidate(
            cell.item_id,
            places[cell.item_id],
            rubric_in_force(items[cell.item_id], rubric).criterion(cell.criterion),
            cell.reasons,
            cell.chance,
        )
        for cell in queued
    ]
    return weigh_cells(store, run, cells)


def weigh_cells(store: Store, run: Run, cells: Sequence[QueueCandidate]) -> list[QueuedCell]:
    """Return the cells with what settling each could change, in the given order.

    If labels have shown how often each judge is right, they determine an option's chance; otherwise
    the share of the votes does (``impact``).
    """
    chances_known = option_probabilities(store, run.id)
    rubric = scored_rubric(store, run)
    ids = list(dict.fromkeys(cell.item_id for cell in cells))
    items = {i.id: i for i in resolved_items(store, run.dataset_version_id, ids)}
    tallies = _cell_tallies(store, run, cells)
    answers = store.vote_statistics.answers(run.id)
    usual_distances = _usual_disagreement(cells, tallies)
    what_ifs: dict[int, WhatIf] = {}
    texts: dict[str, MeasuredTexts] = {}
    weighed = []
    for cell in cells:
        item_id, name = cell.item_id, cell.criterion.name
        in_force = rubric_in_force(items[item_id], rubric)
        what_if = what_ifs.setdefault(id(in_force), WhatIf(in_force))
        if needs_texts(in_force) and item_id not in texts:
            texts[item_id] = measured_texts(in_force, texts_of_item(items[item_id]))
        votes = tallies.get((item_id, name), VoteTally({}, {}))
        flip, change = what_if.impact(
            name,
            answers.get(item_id, {}),
            votes,
            texts.get(item_id),
            chances_known.get((item_id, name)),
        )
        entropy, margin = mixed_measures(in_force.criterion(name), votes)
        weighed.append(
            QueuedCell(
                item_id=item_id,
                criterion=name,
                reasons=cell.reasons,
                chance=cell.chance,
                failed="failure" in cell.reasons,
                flip=round(flip, 9),
                change=round(change, 9),
                entropy=entropy,
                margin=margin,
                spread=disagreement_share(
                    cell.criterion, votes, usual_distances[name, len(cell.criterion.choices)]
                ),
            )
        )
    return weighed


def _cell_tallies(
    store: Store, run: Run, cells: Sequence[QueueCandidate]
) -> dict[tuple[str, str], VoteTally]:
    """Return the votes that count, by cell."""
    counting = counting_of(run.plan)
    criteria = {cell.criterion.name: cell.criterion for cell in cells}
    criterion_of = {(cell.item_id, cell.criterion.name): cell.criterion for cell in cells}
    tallies = {}
    for name, criterion in criteria.items():
        rows: dict[str, list[BallotRow]] = {}
        for row in store.votes.all_ballots(run.id, name):
            rows.setdefault(row.item_id, []).append(row)
        for item_id, ballots in rows.items():
            key = (item_id, name)
            tallies[key] = _tally_ballots(criterion_of.get(key, criterion), counting, ballots)
    return tallies


def _tally_ballots(
    criterion: Criterion, counting: VoteCounting, ballots: Sequence[BallotRow]
) -> VoteTally:
    counted = counting.count(ballots)
    # An item's own rubric may use the same name for a question with fewer options.
    valid = [b for b in counted if b.option is None or b.option < len(criterion.choices)]
    return tally_votes(criterion, valid)


def _usual_disagreement(
    cells: Sequence[QueueCandidate], tallies: dict[tuple[str, str], VoteTally]
) -> dict[tuple[str, int], float | None]:
    """Return the expected disagreement by criterion and number of choices."""
    by_name: dict[str, list[VoteTally]] = {}
    for (_, name), votes in tallies.items():
        by_name.setdefault(name, []).append(votes)
    expected: dict[tuple[str, int], float | None] = {}
    for cell in cells:
        key = (cell.criterion.name, len(cell.criterion.choices))
        if key not in expected:
            scored = set(cell.criterion.scored)
            same = [t for t in by_name.get(key[0], ()) if t.heads.keys() <= scored]
            expected[key] = expected_disagreement(cell.criterion, same)
    return expected
