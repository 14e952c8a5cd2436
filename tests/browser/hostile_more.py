"""More of the hostile data file: runs to compare, ailing raters, a rubric to mend, and reviews."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Judge, Panel
from core.domain.review import QueueRule, QueueSettings, ReviewerAnswer, Seat, Span
from core.domain.rubric import Criterion, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Cell, Vote
from core.services.results.scored_items import derivation_for
from core.services.review import claims, commit_reveal, queues, reviewers
from core.services.rubrics import library
from core.services.rubrics.drafts import draft_from
from core.store.store import Store
from tests.browser.hostile import FAIL, GRADE, NOW, YES_NO, Places, graded, hostile

#: Who reviews; the first of a store is its lead.
LEAD, PERSON, OTHER = hostile("lead", 90), hostile("person", 90), hostile("colleague", 90)
CHECKED = "new-4"
MANY = 60
#: All cells of a run, one after the other.
ALL = QueueRule(everything=True, audit_share=0.0)


class Compared(NamedTuple):
    """A run that answers the other way than `Places.run`, and one with ailing raters."""

    flipped: int
    ailing: int


class Queues(NamedTuple):
    """A queue nobody began, and one whose first item two people see differently."""

    fresh: int
    disputed: int


def compared(store: Store, places: Places) -> Compared:
    """Runs for the pages that measure."""
    plan = replace(store.runs.get(places.run).plan, name=hostile("flipped", 180), seed=8)
    return Compared(graded(store, plan, "done", option=1), _ailing(store))


def _ailing(store: Store) -> int:
    """One rater says MET to everything, the other is right; labels alternate."""
    rubric = Rubric(
        name=hostile("ailing", 180),
        criteria=(Criterion(name=YES_NO, requirement=hostile("requirement-1")),),
    )
    items = tuple(
        Item(
            id=hostile(f"many-{n}", 200),
            submission=f"{n} {hostile('submission')}",
            system=hostile(f"system-{n % 2}", 100),
            tags=(hostile(f"tag-{n % 3}", 100),),
            labels={YES_NO: Label(label="MET" if n % 2 else "UNMET")},
        )
        for n in range(MANY)
    )
    panel = Panel(name="Two", judges=tuple(Judge(name=n, model="m") for n in (GRADE, FAIL)))
    data = Dataset(name=hostile("many", 180), items=items)
    plan = RunPlan(
        hostile("sick", 180),
        store.rubrics.create(rubric, now=NOW).id,
        store.datasets.create(data, now=NOW).id,
        panel,
    )
    run = store.runs.create(plan, [(item.id, 2) for item in items], now=NOW).id
    lease = store.leases.claim("gone:1:x", at=1e10, seconds=60, run_id=run)
    assert lease is not None
    outcomes = [
        AskedOutcome((Vote(Cell(item.id, YES_NO, judge), option, False, hostile("reason")),))
        for n, item in enumerate(items)
        for judge, option in ((GRADE, 0), (FAIL, (n + 1) % 2))
    ]
    derive = derivation_for(store.runs.get(run).plan, rubric, items)
    store.votes.record(run, outcomes, owner=lease.owner, fence=lease.fence, now=NOW, derive=derive)
    store.leases.release(lease, "done", now=NOW)
    return run


def checked(store: Store) -> None:
    """A draft in which the rubric check finds something in hostile words."""
    vague = f"The answer is clear and concise and good. {hostile('vague')}"
    rubric = Rubric(
        name=hostile("checked", 180),
        criteria=(
            Criterion(name=hostile("twin-1", 180), requirement=vague),
            Criterion(name=hostile("twin-2", 180), requirement=vague),
        ),
    )
    library.keep(store, CHECKED, draft_from(rubric))


def reviews(store: Store, run: int, other: int) -> Queues:
    """Queues over the hostile run; two people differ on every cell of the first item of one."""
    people = [_sit(store, name) for name in (LEAD, PERSON, OTHER)]
    lead = people[0]
    settings = QueueSettings()
    fresh = queues.make_queue(
        store, lead, run, hostile("queue", 180), ALL, settings, order="dataset", seed=1
    )
    disputed = queues.make_queue(
        store,
        lead,
        other,
        hostile("disputed", 180),
        ALL,
        QueueSettings(reviewers=2),
        order="dataset",
        seed=1,
    )
    first = store.runs.item_ids(other)[0]
    for option, seat in enumerate(people[1:]):
        _say(store, seat, disputed.id, first, option)
    reviewers.keep(store, lead, hostile("snippet"))
    return Queues(fresh.id, disputed.id)


def _sit(store: Store, name: str) -> Seat:
    reviewers.sign_in(store, name)
    return reviewers.seat_of(store, name, f"tab of {name[:6]}")


def _say(store: Store, seat: Seat, queue: int, item: str, option: int) -> None:
    """One person's verdict on all cells of an item, with a note and evidence."""
    ticket = claims.claim(store, seat, queue, item)
    quote = Span(0, 60, hostile("submission")[:60])
    given = ReviewerAnswer(option, note=hostile(f"note-{option}"), evidence=(quote,))
    cells = [
        cell.criterion.name for cell in commit_reveal.blind_item(store, ticket).cells if cell.mine
    ]
    done = commit_reveal.commit(store, ticket, dict.fromkeys(cells, given))
    done = commit_reveal.finish(store, done.ticket, dict.fromkeys(cells, given))
    claims.release(store, done.ticket)
