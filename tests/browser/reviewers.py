"""A graded run with a planted word in everything that a reviewer must not see, and its queues."""

from __future__ import annotations

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel
from core.domain.review import QueueRule, QueueSettings, ReviewerAnswer, Seat
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import Run, RunPlan
from core.domain.votes import AskedOutcome, Call, Cell, Segment, Vote
from core.services.results.scored_items import derivation_for
from core.services.review import claims, commit_reveal, queues, reviewers
from core.store.store import Store

NOW = "2026-03-01T10:00:00.000Z"
MET, UNMET = 0, 1
EVERYTHING = QueueRule(everything=True, audit_share=0.0)
CRITERIA = ("Right", "Clear")
#: Nowhere but in what others said, made or are called.
JUDGES = ("Qzjudge-anna", "Qzjudge-boris")
REASON, QUOTE, THOUGHT = "Qzreason", "Submission 1", "Qzthought"
MODEL, SYSTEM, ITEM, TAG, META = "Qzmodel", "Qzsystem", "Qzitem", "Qztag", "Qzmeta"
LABEL_REASON, OTHER, OTHER_NOTE = "Qzlabelreason", "Qzcolleague", "Qzcolleaguenote"
PROMPT_SENT, REPLY = "Qzpromptsent", "Qzreply"
PLANTED = (
    *JUDGES,
    *(REASON, THOUGHT, MODEL, SYSTEM, ITEM, TAG, META, LABEL_REASON, OTHER, OTHER_NOTE),
    *(PROMPT_SENT, REPLY),
)
#: Weights 16 and 9: the judges say MET and UNMET, so every item scores 16 / 25 = .64.
SCORES = ("0.64", ">0.64", " 0.64")
RUBRIC = Rubric(
    name="Answers",
    guidelines="Be fair.",
    criteria=(
        Criterion(name="Right", requirement="It is right.", weight=16),
        Criterion(name="Clear", requirement="It is clear.", weight=9),
    ),
)


def items(count: int) -> tuple[Item, ...]:
    """Items whose every hidden field carries a planted word."""
    return tuple(
        Item(
            id=f"{ITEM}-{n}",
            submission=f"Submission {n}. It goes on.",
            prompt="Why is it so?",
            reference="Because.",
            system=SYSTEM,
            tags=(TAG,),
            meta={"model": META},
            labels={"Right": Label(label="UNMET", reason=LABEL_REASON)},
        )
        for n in range(1, count + 1)
    )


def graded(store: Store, count: int) -> Run:
    """A finished run: both judges say MET of Right and UNMET of Clear, on every item."""
    texts = items(count)
    plan = RunPlan(
        name="Qzrun",
        rubric_version_id=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version_id=store.datasets.create(
            Dataset(name=f"Texts {count}", items=texts), now=NOW
        ).id,
        panel=Panel(judges=tuple(Judge(name=name, model=MODEL) for name in JUDGES)),
    )
    run = store.runs.create(plan, [(item.id, 4) for item in texts], now=NOW)
    lease = store.leases.claim("me", at=0.0, seconds=1e12, run_id=run.id)
    assert lease is not None
    outcomes = [
        _outcome(item, name, judge) for item in texts for name in CRITERIA for judge in JUDGES
    ]
    derive = derivation_for(plan, RUBRIC, texts)
    store.votes.record(
        run.id, outcomes, owner=lease.owner, fence=lease.fence, now=NOW, derive=derive
    )
    store.leases.release(lease, "done", now=NOW)
    return store.runs.get(run.id)


def _outcome(item: Item, criterion: str, judge: str) -> AskedOutcome:
    option = MET if criterion == "Right" else UNMET
    cell = Cell(item.id, criterion, judge)
    vote = Vote(cell, option, False, REASON, (QUOTE,), confidence=0.64)
    call = Call((Segment("user", PROMPT_SENT),), {}, REPLY, THOUGHT, MODEL)
    return AskedOutcome((vote,), call)


def queue(store: Store, run: Run, rule: QueueRule = EVERYTHING, **settings: object) -> int:
    """A queue of that run in the dataset's order, made by its lead, Lea."""
    chosen = QueueSettings.model_validate(settings)
    lead = sit(store, "Lea")
    row = queues.make_queue(store, lead, run.id, "Doubtful", rule, chosen, order="dataset", seed=1)
    return row.id


def sit(store: Store, name: str, session: str = "elsewhere") -> Seat:
    """Somebody who reviews without a browser."""
    reviewers.sign_in(store, name)
    return reviewers.seat_of(store, name, session)


def decide(store: Store, seat: Seat, queue_id: int, option: int, note: str = "") -> str:
    """That person takes the next item and says the same of all its cells; returns the item."""
    ticket = claims.claim_next(store, seat, queue_id)
    assert ticket is not None
    names = [c.criterion.name for c in commit_reveal.blind_item(store, ticket).cells if c.mine]
    given = dict.fromkeys(names, ReviewerAnswer(option, note=note))
    done = commit_reveal.commit(store, ticket, given)
    if done.confirm:
        done = commit_reveal.finish(store, done.ticket, given)
    claims.release(store, done.ticket)
    return ticket.item_id


def let_run_out(store: Store, queue_id: int) -> None:
    """Every lease of the queue is as old as if its tab had been closed for long."""
    for held in store.turns.leases_in_force(queue_id, at=0.0):
        seat = Seat(held.reviewer, "reviewer", held.session)
        store.turns.extend_lease(queue_id, held.item_id, seat, 1.0)
