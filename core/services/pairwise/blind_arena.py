"""The blind arena: people vote on the same contests, and see the names after each vote.

People are then compared with judges. A person's votes are a separate run over the same pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from typing import NamedTuple

from core import clock
from core.domain.base import build_model
from core.domain.dataset import Answer, Item, Pair
from core.domain.panel import Panel
from core.domain.rubric import Criterion
from core.domain.runs import Derive, ItemResult, RunPlan
from core.domain.votes import AskedOutcome, Cell, ItemBallots, Vote
from core.errors import InputError
from core.identity import seeded_random
from core.services.access.allowing import allowed
from core.services.pairwise.arena_people import RaterAgreement, agreement_of_raters
from core.services.pairwise.contest_votes import (
    Contest,
    ContestKey,
    Contests,
    contests_of_runs,
    outcome_of_contest,
)
from core.services.pairwise.contests import details_of
from core.services.pairwise.design import Choice, choice_of
from core.services.results.scored_items import derivation_for, resolved_items
from core.store.store import Store

_LEASE_SECONDS = 60.0


class BlindContest(NamedTuple):
    """A contest as a person sees it: two answers without names. ``choices`` are the possible
    answers in display order; ``done`` of ``total`` contests already have the person's vote.
    """

    arena: int
    item: str
    question: str
    requirement: str
    choices: tuple[tuple[Choice, str], ...]
    prompt: str
    context: Mapping[str, str]
    reference: str
    a: Answer
    b: Answer
    done: int
    total: int


class RevealedContest(NamedTuple):
    """Shown after the vote: the systems A and B, and the choices of the person and each judge.

    ``None`` means no winner. ``panel`` is the contest's outcome by all judges.
    """

    a: str
    b: str
    chosen: str | None
    panel: str | None
    judges: dict[str, str | None]


@allowed("review")
def start(store: Store, run_id: int, person: str) -> int:
    """Return a person's arena for a contest, created if needed.

    Each contest is shown once. The person's name seeds the order of contests and of answers.
    """
    details = details_of(store, run_id)
    existing = _existing_arena(store, run_id, person)
    if existing is not None:
        return existing
    if "arena" in details:
        raise InputError(f"Run {run_id} is an arena itself. Start from its contest.")
    run = store.runs.get(run_id)
    items = resolved_items(store, run.dataset_version_id, store.runs.item_ids(run_id))
    questions = len(store.rubrics.version(run.rubric_version_id).rubric.criteria)
    judge = {"name": person.strip(), "kind": "person"}
    panel = build_model(
        Panel, {"name": f"Arena of {person.strip()}"[:200], "judges": [judge]}, "arena"
    )
    design = {**details["design"], "orders": "one", "summaries": False}
    plan = RunPlan(
        name=f"Arena of {person.strip()}: {run.name}"[:200],
        rubric_version_id=run.rubric_version_id,
        dataset_version_id=run.dataset_version_id,
        panel=panel,
        seed=run.plan.seed,
        versions={"rubric-studio": metadata.version("rubric-studio")},
        details={
            "contest": {
                "design": design,
                "systems": details["systems"],
                "datasets": details["datasets"],
                "arena": run_id,
            }
        },
    )
    chosen = _shuffled_contests(items, run.plan.seed, person.strip())
    with store.write():
        arena = store.runs.create(plan, [(i.id, questions) for i in chosen], now=clock.now())
        _finish_arena(store, arena.id)
    return arena.id


def next_blind(store: Store, arena: int) -> BlindContest | None:
    """Return the next contest without this person's vote, or ``None`` after the last."""
    run = store.runs.get(arena)
    (person,) = run.panel.judges
    voted = store.votes.present(arena)
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    for item_id in store.runs.item_ids(arena):
        for criterion in rubric.criteria:
            if Cell(item_id, criterion.name, person.name) not in voted:
                (item,) = resolved_items(store, run.dataset_version_id, [item_id])
                return _blind_contest(arena, item, criterion, len(voted), run.planned)
    return None


@allowed("review")
def vote(
    store: Store,
    arena: int,
    item_id: str,
    question: str,
    choice: Choice,
    reason: str = "",
    ms: int | None = None,
) -> RevealedContest:
    """Record a person's vote and reveal the systems. A vote cannot be changed afterwards.

    ``ms`` is the time that the person took, stored with the vote.

    Raises:
        InputError: the choice is not offered, or this person already voted on the contest.
    """
    run = store.runs.get(arena)
    (person,) = run.panel.judges
    rubric = store.rubrics.version(run.rubric_version_id).rubric
    criterion = rubric.criterion(question)
    options = {choice_of(criterion, index): index for index in range(len(criterion.choices))}
    if choice not in options:
        raise InputError(f"{choice!r} is not on offer here. Choose one of {', '.join(options)}.")
    option = options[choice]
    cell = Cell(item_id, question, person.name)
    if cell in store.votes.present(arena):
        raise InputError("This contest has your vote already. Votes are kept as they were given.")
    (item,) = resolved_items(store, run.dataset_version_id, [item_id])
    detail: dict[str, object] = {} if ms is None else {"ms": ms}
    cast = Vote(cell, option, criterion.choices[option].na, reason=reason, detail=detail)
    with store.write():
        store.runs.request_queue(arena)
        derive = derivation_for(run.plan, rubric, [item])
        _finish_arena(store, arena, [AskedOutcome((cast,))], derive)
    return _revealed_contest(store, arena, item, question)


def people_judge_agreement(store: Store, arenas: Sequence[int]) -> dict[str, RaterAgreement]:
    """Return how people agree with the panel (``""``), and then with each judge."""
    details = [details_of(store, arena) for arena in arenas]
    # Only contests with a vote are read, so that voting stays fast in a large contest.
    voted = {cell.item for arena in arenas for cell in store.votes.present(arena)}
    people = contests_of_runs(store, arenas, items=voted)
    items = voted | {_swapped_id(item) for item in voted}
    contests = contests_of_runs(store, sorted({d["arena"] for d in details}), items=items)
    by_key = {contest.key: contest for contest in contests.held}
    judges = [j.name for j in contests.judges]
    names: list[str | None] = [None, *(judges if len(judges) > 1 else [])]
    return {name or "": _agreement_with_judge(people, contests, by_key, name) for name in names}


def _agreement_with_judge(
    people: Contests, contests: Contests, by_key: dict[ContestKey, Contest], judge: str | None
) -> RaterAgreement:
    def shared_points() -> Iterator[tuple[float, float]]:
        for contest in people.held:
            by_people = outcome_of_contest(people, contest).points
            judged = by_key.get(contest.key)
            by_judges = (
                None if judged is None else outcome_of_contest(contests, judged, judge).points
            )
            if by_people is not None and by_judges is not None:
                yield by_people, by_judges

    return agreement_of_raters(shared_points())


def _no_results(items: Sequence[ItemBallots]) -> list[ItemResult]:
    return []


def _finish_arena(
    store: Store, arena: int, outcomes: Sequence[AskedOutcome] = (), derive: Derive = _no_results
) -> None:
    """Claim the run, record outcomes and release it in one transaction, so that no Runner sees it
    free.
    """
    at, now = clock.seconds_now(), clock.now()
    owner = clock.owner_name()
    lease = store.leases.claim(owner, at=at, seconds=_LEASE_SECONDS, run_id=arena)
    if lease is None:
        raise InputError("This arena is being written to in another window. Try once more.")
    if outcomes:
        store.votes.record(
            arena, outcomes, owner=lease.owner, fence=lease.fence, now=now, derive=derive
        )
    store.leases.release(lease, "done", now=now)


def _existing_arena(store: Store, run_id: int, person: str) -> int | None:
    for row in store.runs.list(detail="contest", limit=10_000):
        judge = row.panel.judges[0]
        matches = judge.kind == "person" and judge.name == person.strip()
        if matches and details_of(store, row.id).get("arena") == run_id:
            return row.id
    return None


def _shuffled_contests(items: Sequence[Item], seed: int, person: str) -> list[Item]:
    """Return one item per contest, in a random order of answers and of contests."""
    rng = seeded_random("arena", seed, person)
    bouts: dict[tuple[str, ...], list[Item]] = {}
    for item in items:
        pair = sorted((item.meta["first"], item.meta["second"]))
        bouts.setdefault((item.meta["task"], *pair), []).append(item)
    chosen = [rng.choice(orders) for orders in bouts.values()]
    rng.shuffle(chosen)
    return chosen


def _blind_contest(
    arena: int, item: Item, criterion: Criterion, n_done: int, total: int
) -> BlindContest:
    pair = item.submission
    assert isinstance(pair, Pair), "a contest holds pairs"
    choices = tuple(
        (choice_of(criterion, index), option.label)
        for index, option in enumerate(criterion.choices)
    )
    return BlindContest(
        arena,
        item.id,
        criterion.name,
        criterion.requirement,
        choices,
        item.prompt,
        item.context,
        item.reference,
        pair.first,
        pair.second,
        n_done,
        total,
    )


def _revealed_contest(store: Store, arena: int, item: Item, question: str) -> RevealedContest:
    people = contests_of_runs(store, [arena], items={item.id})
    items = {item.id, _swapped_id(item.id)}
    contests = contests_of_runs(store, [details_of(store, arena)["arena"]], items=items)
    a, b = item.meta["first"], item.meta["second"]
    contest = next(
        h for h in people.held if h.question == question and h.shown[0].item_id == item.id
    )
    judged = next(h for h in contests.held if h.key == contest.key)
    return RevealedContest(
        a,
        b,
        _winner_name(contest, outcome_of_contest(people, contest).winner),
        _winner_name(judged, outcome_of_contest(contests, judged).winner),
        {
            j.name: _winner_name(judged, outcome_of_contest(contests, judged, j.name).winner)
            for j in contests.judges
        },
    )


def _swapped_id(item_id: str) -> str:
    """Return the id of the item with the same two answers in the other order.

    >>> _swapped_id("task 7 · 0-12")
    'task 7 · 12-0'
    """
    head, _, places = item_id.rpartition(" ")
    return f"{head} {'-'.join(reversed(places.split('-')))}"


def _winner_name(contest: Contest, winner: str | None) -> str | None:
    return {"first": contest.first, "second": contest.second}.get(winner or "")
