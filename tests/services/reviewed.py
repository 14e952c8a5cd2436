"""A graded run to review, small enough to follow by hand.

Three judges, two binary criteria (Right, weight 3; Short, weight 1), items i0, i1, ... The votes on
both criteria of item n repeat every four items:

    n % 4   ann    bob    cem    majority
    0       MET    MET    MET    MET       (unanimous)
    1       MET    MET    UNMET  MET       (split)
    2       UNMET  UNMET  MET    UNMET     (split)
    3       MET    UNMET  NA     UNMET     (a tie of two takes UNMET, the worst; one abstains)

An item passes from .5 on. Score = (3 * Right + Short) / 4: items 0 and 1 score 1 and pass, items 2
and 3 score 0 and fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from core.domain.dataset import Dataset, Item, Label
from core.domain.gates import Decision
from core.domain.panel import Judge, Panel
from core.domain.review import QueueRule, QueueSettings, ReviewerAnswer, Seat
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run, RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.services.results.scored_items import derivation_for, settled_lookup
from core.services.review import claims, commit_reveal, queues, reviewers
from core.store.store import Store
from tests.new_store import new_store

NOW = "2026-03-01T10:00:00.000Z"
MET, UNMET, NA = 0, 1, 2
RUBRIC = Rubric(
    name="Answers",
    criteria=(
        Criterion(name="Right", requirement="It is right.", weight=3),
        Criterion(name="Short", requirement="It is short.", weight=1),
    ),
    decision=Decision(pass_at=0.5),
)
VOTES = {
    0: (MET, MET, MET),
    1: (MET, MET, UNMET),
    2: (UNMET, UNMET, MET),
    3: (MET, UNMET, NA),
}
JUDGES = ("ann", "bob", "cem")
#: Only what the votes raise; no audit.
DOUBTFUL = QueueRule(near_mark=None, audit_share=0.0)
EVERYTHING = QueueRule(everything=True, audit_share=0.0)


def items(count: int) -> tuple[Item, ...]:
    """Items whose system, tag and meta would tell who wrote them; i0 and i1 are labelled."""
    return tuple(
        Item(
            id=f"i{n}",
            submission=f"Answer number {n}.",
            prompt="Why?",
            context={"law": "As the law says."},
            reference="Because.",
            system="secret-system",
            tags=("secret-tag",),
            meta={"model": "secret-model"},
            labels={"Right": Label(label="MET", reason="secret-label")} if n < 2 else {},
        )
        for n in range(count)
    )


def graded(store: Store, count: int = 8) -> Run:
    """The run of the table above, over so many items."""
    made = queued(store, count)
    record(store, made, items(count))
    return store.runs.get(made.id)


def queued(store: Store, count: int) -> Run:
    """The same run before anybody voted."""
    plan = RunPlan(
        name="Run",
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(Dataset(items=items(count)), now=NOW).id,
        panel=Panel(judges=tuple(Judge(name=n, model="secret-model") for n in JUDGES)),
    )
    return store.runs.create(plan, [(item.id, 6) for item in items(count)], now=NOW)


def record(store: Store, run: Run, some: tuple[Item, ...]) -> None:
    """The judges' votes on some of the items, by the table above."""
    votes = {(i.id, c.name): VOTES[int(i.id[1:]) % 4] for i in some for c in RUBRIC.criteria}
    record_votes(store, run, votes)


def record_votes(
    store: Store, run: Run, votes: Mapping[tuple[str, str], tuple[int, int, int]]
) -> None:
    """The judges' votes by cell, recorded as a Runner does it."""
    lease = store.leases.claim("me", at=0.0, seconds=1e12, run_id=run.id)
    assert lease is not None
    derive = derivation_for(run.plan, RUBRIC, items(run.items), settled_lookup(store, run.id))
    outcomes = [
        AskedOutcome((Vote(Cell(*cell, judge), option, option == NA, "secret-reason"),))
        for cell, options in votes.items()
        for judge, option in zip(JUDGES, options, strict=True)
    ]
    store.votes.record(
        run.id, outcomes, owner=lease.owner, fence=lease.fence, now=NOW, derive=derive
    )
    store.leases.release(lease, "queued", now=NOW)


def sit(store: Store, name: str, session: str = "tab") -> Seat:
    """A reviewer, signed in. The first of a store is its lead."""
    reviewers.sign_in(store, name)
    return reviewers.seat_of(store, name, session)


def lead(store: Store, name: str) -> Seat:
    """A lead beside the first one, signed in."""
    reviewers.set_role(store, sit(store, "Lea"), sit(store, name).name, "lead")
    return reviewers.seat_of(store, name, "tab")


def seats(store: Store, *names: str) -> tuple[Seat, ...]:
    """Plain reviewers; somebody else is the lead."""
    sit(store, "Lea")
    return tuple(sit(store, name) for name in names)


def make_queue(
    store: Store,
    run: Run,
    rule: QueueRule = DOUBTFUL,
    settings: QueueSettings | None = None,
    **more: object,
) -> int:
    """A queue of that run, by its lead."""
    chosen = settings or QueueSettings()
    options = {"order": "dataset", "seed": 1, **more}
    row = queues.make_queue(store, sit(store, "Lea"), run.id, "Q", rule, chosen, **options)  # type: ignore[arg-type]
    return row.id


def take(store: Store, seat: Seat, queue_id: int, item_id: str | None = None) -> claims.Ticket:
    """The next ticket, or that of an item."""
    if item_id is not None:
        return claims.claim(store, seat, queue_id, item_id)
    ticket = claims.claim_next(store, seat, queue_id)
    assert ticket is not None
    return ticket


def states(store: Store, queue_id: int, item_id: str) -> set[str]:
    """The states of an item's cells in a queue."""
    return {cell.state for cell in store.queues.cells(queue_id, item_id)}


def settle(
    store: Store, seat: Seat, queue_id: int, item_id: str, option: int | None, **given: object
) -> commit_reveal.ActResult:
    """Both steps, on all cells of an item that are due; the verdict is the same on each."""
    ticket = take(store, seat, queue_id, item_id)
    says = ReviewerAnswer(option, **given)  # type: ignore[arg-type]
    names = [c.criterion.name for c in commit_reveal.blind_item(store, ticket).cells if c.mine]
    done = commit_reveal.commit(store, ticket, dict.fromkeys(names, says))
    if done.confirm:
        done = commit_reveal.finish(store, done.ticket, dict.fromkeys(done.confirm, says))
    claims.release(store, done.ticket)
    return done


def open_store(folder: Path) -> Store:
    """A store in a folder."""
    return new_store(folder / "studio.db")


def pictures(store: Store, run_id: int) -> object:
    """Everything that is derived from votes and decisions, to be compared."""
    rows = [store.results.item(run_id, item) for item in store.runs.item_ids(run_id)]
    cells = [store.results.cells(run_id, item) for item in store.runs.item_ids(run_id)]
    return rows, cells, store.results.means(run_id), store.results.outcomes(run_id)
