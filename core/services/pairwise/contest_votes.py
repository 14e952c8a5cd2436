"""The votes on contests, and each contest's outcome over its orders."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, NamedTuple

from core.domain.dataset import Pair, output_of
from core.domain.panel import Judge, Rules
from core.domain.rubric import Criterion
from core.domain.votes import BallotRow, VoteRow
from core.errors import InputError
from core.scoring.verdict import settle
from core.services.pairwise.contests import details_of
from core.services.pairwise.design import Choice, Design, choice_of
from core.services.results.verdicts import VoteCounting, counting_of
from core.store.store import Store

# The pairs of a contest: the systems in the order shown, and the lengths of their answers.
#
# A contest of ten systems on 500 tasks has 45,000 pairs, so they are read without the texts that
# only judges and screens need.


#: A contest's key, which is the same in every run: task, question and the two systems.
ContestKey = tuple[str, str, str, str]


class ShownPair(NamedTuple):
    """Two answers as shown: ``first`` is the system shown as A.

    ``lengths`` are the answers' words and ``sources`` the ids of their own items, A first.
    """

    item_id: str
    task: str
    first: str
    second: str
    sources: tuple[str, str]
    lengths: tuple[int, int]


def shown_pairs(store: Store, version: int, ids: Sequence[str]) -> list[ShownPair]:
    """Return the pairs with these ids, in the dataset's order.

    Raises:
        InputError: an item does not have two answers.
        NotFound: an id is not in this version.
    """
    counts: dict[tuple[str, str], int] = {}
    return [_shown_pair(json.loads(text), counts) for text in store.datasets.contents(version, ids)]


def _shown_pair(item: dict[str, Any], counts: dict[tuple[str, str], int]) -> ShownPair:
    meta, pair = item["meta"], item["submission"]
    if not isinstance(pair, dict) or "first" not in pair:
        raise InputError(f"The item {item['id']!r} of a contest holds no two answers.")
    task, first, second = meta["task"], meta["first"], meta["second"]
    # The same answer is in many pairs, so its words are counted only once.
    lengths = []
    for system, side in ((first, "first"), (second, "second")):
        if (task, system) not in counts:
            counts[task, system] = _answer_length(pair, side)
        lengths.append(counts[task, system])
    a, b = meta["sources"]
    return ShownPair(item["id"], task, first, second, (a, b), (lengths[0], lengths[1]))


def _answer_length(pair: dict[str, Any], side: str) -> int:
    """Return the number of words of an answer, without its thinking."""
    answer = pair[side]
    if not isinstance(answer, str):
        answer = output_of(getattr(Pair.model_validate_json(json.dumps(pair)), side))
    return len(answer.split())


# The votes on contests, and each contest's outcome.
#
# A contest is two systems on one task and one question. Every order in which their answers were
# shown has its own votes. A system wins if the orders agree.

Winner = Literal["first", "second", "tie", "both_bad"]
#: Why a contest has no winner: orders or judges disagree, a judge abstained, no answer.
Why = Literal["", "orders", "judges", "abstained", "missing"]
Counted = Literal["both", "listed", "swapped"]
#: The key of an arena's note that lists withdrawn votes: item, question, time.
WITHDRAWN = "withdrawn"


class ContestOutcome(NamedTuple):
    """A contest's outcome. ``winner`` is ``None`` if it is undecided, and ``why`` gives the reason.

    A tie because of disagreement also has a ``why``.
    """

    winner: Winner | None
    why: Why = ""

    @property
    def points(self) -> float | None:
        """Return the first system's points: 1, 0.5 or 0."""
        if self.winner is None:
            return None
        return {"first": 1.0, "second": 0.0, "tie": 0.5, "both_bad": 0.5}[self.winner]


@dataclass(frozen=True, slots=True)
class ShownAnswers:
    """One order of a contest: its item, its votes, and the number of failed calls."""

    item_id: str
    swapped: bool
    rows: tuple[BallotRow, ...]
    failures: int


@dataclass(frozen=True, slots=True)
class Contest:
    """One contest. ``first`` is the system listed earlier; ``lengths`` are the answers' word
    counts.

    ``sources`` are the ids of the answers' items in their own dataset.
    """

    run_id: int
    task: str
    question: str
    first: str
    second: str
    lengths: tuple[int, int]
    sources: tuple[str, str]
    shown: tuple[ShownAnswers, ...]

    @property
    def key(self) -> ContestKey:
        """Return the contest's identity in any run: task, question and the two systems."""
        return self.task, self.question, self.first, self.second


class ContestRound(NamedTuple):
    """How the votes of one run count; ``known`` caches outcomes by votes."""

    design: Design
    counting: VoteCounting
    rules: Rules
    criteria: Mapping[str, Criterion]
    known: dict[tuple[object, ...], ContestOutcome]


@dataclass(frozen=True)
class Contests:
    """All contests of some runs over the same systems and questions."""

    systems: tuple[str, ...]
    tasks: tuple[str, ...]
    weights: Mapping[str, float]
    judges: tuple[Judge, ...]
    held: tuple[Contest, ...]
    rounds: Mapping[int, ContestRound]

    @property
    def questions(self) -> tuple[str, ...]:
        """Return the names of the questions."""
        return tuple(self.weights)

    def choice(self, contest: Contest, row: BallotRow) -> Choice:
        """Return a vote's choice between A and B as shown."""
        return choice_of(self.rounds[contest.run_id].criteria[contest.question], row.option)


def contests_of_runs(
    store: Store, run_ids: Sequence[int], items: Collection[str] | None = None
) -> Contests:
    """Return the contests of these runs, optionally limited to some of their items.

    The runs must have the same systems and questions.

    Raises:
        InputError: a run is not a contest, or does not fit the first.
    """
    systems: tuple[str, ...] = ()
    tasks: dict[str, None] = {}
    weights: dict[str, float] = {}
    judges: dict[str, Judge] = {}
    held: list[Contest] = []
    rounds: dict[int, ContestRound] = {}
    for run_id in run_ids:
        details = details_of(store, run_id)
        run = store.runs.get(run_id)
        criteria = store.rubrics.version(run.rubric_version_id).rubric.criteria
        names = {c.name: c.weight for c in criteria}
        if systems and (tuple(details["systems"]) != systems or names != weights):
            raise InputError(
                f"Run {run_id} has other systems or questions than run {run_ids[0]}. Rank them one "
                "by one."
            )
        systems, weights = tuple(details["systems"]), names
        ids = [i for i in store.runs.item_ids(run_id) if items is None or i in items]
        pairs = shown_pairs(store, run.dataset_version_id, ids)
        tasks.update((pair.task, None) for pair in pairs)
        judges.update((j.name, j) for j in run.panel.judges)
        rounds[run_id] = ContestRound(
            Design.model_validate(details["design"]),
            counting_of(run.plan),
            run.panel.rules,
            {c.name: c for c in criteria},
            {},
        )
        taken_back = {(item, name) for item, name, *_ in run.notes.get(WITHDRAWN, ())}
        held += _contests_of_run(
            store, run_id, pairs, list(names), systems, taken_back, whole=items is None
        )
    return Contests(systems, tuple(tasks), weights, tuple(judges.values()), tuple(held), rounds)


def _contests_of_run(
    store: Store,
    run_id: int,
    pairs: Sequence[ShownPair],
    questions: Sequence[str],
    systems: Sequence[str],
    taken_back: Collection[tuple[str, str]],
    *,
    whole: bool,
) -> list[Contest]:
    rows = _vote_rows(store, run_id, None if whole else [pair.item_id for pair in pairs])
    for cell in taken_back:
        rows.pop(cell, None)
    failed = Counter((cell.item, cell.criterion) for cell in store.votes.failed(run_id))
    place = {system: index for index, system in enumerate(systems)}
    bouts: dict[tuple[str, str, str], list[ShownPair]] = {}
    for pair in pairs:
        ends = pair.first, pair.second
        first, second = ends if place[ends[0]] < place[ends[1]] else ends[::-1]
        bouts.setdefault((pair.task, first, second), []).append(pair)
    contests = []
    for (task, first, second), orders in bouts.items():
        leads = orders[0]
        is_swapped = leads.first != first
        lengths = leads.lengths[::-1] if is_swapped else leads.lengths
        sources = leads.sources[::-1] if is_swapped else leads.sources
        for question in questions:
            shown = tuple(
                [
                    ShownAnswers(
                        pair.item_id,
                        pair.first != first,
                        tuple(rows.get((pair.item_id, question), ())),
                        failed[pair.item_id, question],
                    )
                    for pair in orders
                ]
            )
            contests.append(Contest(run_id, task, question, first, second, lengths, sources, shown))
    return contests


def _vote_rows(
    store: Store, run_id: int, items: Sequence[str] | None
) -> dict[tuple[str, str], list[BallotRow]]:
    """Return the votes by item and question, by judge and replicate; of all items if ``None``."""
    if items is None:
        ballots: Iterable[BallotRow] = store.votes.all_ballots(run_id)
    else:
        ballots = chain.from_iterable(item.ballots for item in store.votes.ballots(run_id, items))
    rows: dict[tuple[str, str], list[BallotRow]] = {}
    for row in ballots:
        rows.setdefault((row.item_id, row.criterion), []).append(row)
    return rows


def outcome_of_contest(
    contests: Contests, contest: Contest, judge: str | None = None, counted: Counted = "both"
) -> ContestOutcome:
    """Return a contest's outcome, for the panel or for one judge.

    Each order is settled by the panel's rule. Orders with different winners are a tie or undecided,
    as the design says. A single order decides only if the design shows only one, or if ``counted``
    selects it.
    """
    design = contests.rounds[contest.run_id].design
    orders = [s for s in contest.shown if counted == "both" or s.swapped == (counted == "swapped")]
    outcomes = [_outcome_of_order(contests, contest, shown, judge) for shown in orders]
    undecided = next((result for result in outcomes if result.winner is None), None)
    if undecided is not None or not outcomes:
        return undecided or ContestOutcome(None, "missing")
    winners = {result.winner for result in outcomes}
    if len(winners) == 1:
        return outcomes[0]
    if winners == {"tie", "both_bad"}:
        return ContestOutcome("tie")
    return ContestOutcome("tie" if design.disagreement == "tie" else None, "orders")


def _outcome_of_order(
    contests: Contests, contest: Contest, shown: ShownAnswers, judge: str | None
) -> ContestOutcome:
    """Return the outcome of one order, cached by its votes."""
    round_ = contests.rounds[contest.run_id]
    key = (contest.question, shown.swapped, judge, *(row[2:] for row in shown.rows))
    result = round_.known.get(key)
    if result is None:
        result = round_.known[key] = _outcome_of_votes(round_, contest.question, shown, judge)
    return result


def _outcome_of_votes(
    round_: ContestRound, question: str, shown: ShownAnswers, judge: str | None
) -> ContestOutcome:
    criterion = round_.criteria[question]
    if judge is None:
        ballots = round_.counting.count(shown.rows)
    else:
        ballots = VoteCounting().count([r for r in shown.rows if r.judge == judge])
    verdict = settle(criterion, ballots, round_.rules)
    if verdict is None:
        return ContestOutcome(None, "missing")
    if verdict.tie:
        tied = round_.design.disagreement == "tie"
        return ContestOutcome("tie" if tied else None, "judges")
    choice = "none" if verdict.abstained else choice_of(criterion, verdict.option)
    return winner_of(choice, shown.swapped)


def winner_of(choice: Choice, swapped: bool) -> ContestOutcome:
    """Return a choice between A and B as an outcome for the systems.

    >>> winner_of("A", True).winner
    'second'
    """
    if choice == "none":
        return ContestOutcome(None, "abstained")
    if choice == "tie" or choice == "both_bad":
        return ContestOutcome(choice)
    return ContestOutcome("first" if (choice == "A") != swapped else "second")


def votes_of(store: Store, contest: Contest) -> dict[str, list[VoteRow]]:
    """Return all votes on a contest with their reasons, by the item of each order."""
    return {
        shown.item_id: [
            vote
            for vote in store.votes.for_item(contest.run_id, shown.item_id)
            if vote.cell.criterion == contest.question
        ]
        for shown in contest.shown
    }
