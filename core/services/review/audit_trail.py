"""The record of reviewing: who decided what and when, and what each decision changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from core.domain.review import WHYS, CellState, Seat, Settled
from core.domain.review_records import EventRow
from core.domain.rubric import Rubric
from core.domain.runs import Outcome, RunItemRow
from core.services.results.scored_items import effective, resolved_items, scored_rubric
from core.services.review.reviewers import now_seated
from core.store.review.settled import given_from
from core.store.store import Store


@dataclass(frozen=True)
class Hits:
    """Of ``n`` cells of a criterion that people settled as an option, the votes were right on
    ``right``. It says nothing of all cells: the queue's are the hard ones.
    """

    right: int
    n: int


@dataclass(frozen=True)
class CellEffect:
    """What became of one cell. Labels are ``None`` without a verdict; ``voted`` is the panel's."""

    criterion: str
    state: CellState
    voted: str | None
    before: str | None
    after: str | None
    hits_before: Hits
    hits_after: Hits


@dataclass(frozen=True)
class DecisionEffect:
    """What a decision changed on one item."""

    item_id: str
    score_before: float | None
    score_after: float | None
    outcome_before: Outcome | None
    outcome_after: Outcome | None
    cells: tuple[CellEffect, ...]
    #: What judges said must not show: what was before, scores and hits are left out.
    blind: bool = False

    @property
    def changed(self) -> bool:
        """Whether score or outcome are others than before."""
        return (self.score_before, self.outcome_before) != (self.score_after, self.outcome_after)

    def of_cells(self) -> DecisionEffect:
        """The same without the item: its score tells of cells that are still to be judged blind."""
        return replace(
            self, score_before=None, score_after=None, outcome_before=None, outcome_after=None
        )

    def blinded(self) -> DecisionEffect:
        """The same for somebody who is never shown what judges said: only what people settled."""
        none = Hits(0, 0)
        cells = tuple(
            CellEffect(
                cell.criterion,
                cell.state,
                voted=None,
                before=None,
                # Of an open cell the verdict is that of the judges.
                after=cell.after if cell.state == "resolved" else None,
                hits_before=none,
                hits_after=none,
            )
            for cell in self.cells
        )
        return DecisionEffect(self.item_id, None, None, None, None, cells, blind=True)


@dataclass(frozen=True)
class Snapshot:
    """An item as it is now: its row, the verdicts of some cells, and hits of their criteria."""

    row: RunItemRow
    labels: Mapping[str, str | None]
    voted: Mapping[str, str | None]
    hits: Mapping[str, Hits]


def snapshot(
    store: Store, run_id: int, item_id: str, rubric: Rubric, criteria: Iterable[str]
) -> Snapshot:
    """An item and some of its cells as they are now."""
    labels, voted, hits = dict[str, str | None](), dict[str, str | None](), dict[str, Hits]()
    cells = {cell.criterion: cell for cell in store.results.cells(run_id, item_id)}
    for name in criteria:
        criterion = rubric.criterion(name)
        cell = cells.get(name)
        option = None if cell is None else cell.option
        judged = option
        if cell is not None and cell.rule == "adjudicated":
            judged = cell.voted
        labels[name] = None if option is None else criterion.choices[option].label
        voted[name] = None if judged is None else criterion.choices[judged].label
        hits[name] = Hits(*store.settled.hits(run_id, name, criterion.scored))
    return Snapshot(store.results.item(run_id, item_id), labels, voted, hits)


def effect(before: Snapshot, after: Snapshot, states: Mapping[str, CellState]) -> DecisionEffect:
    """What lies between two snapshots of an item."""
    cells = tuple(
        CellEffect(
            name,
            state,
            after.voted[name],
            before.labels[name],
            after.labels[name],
            before.hits[name],
            after.hits[name],
        )
        for name, state in states.items()
    )
    return DecisionEffect(
        after.row.item_id,
        before.row.score,
        after.row.score,
        before.row.outcome,
        after.row.outcome,
        cells,
    )


#: What a cell that somebody may still have to review blind says of others' verdicts on it.
HIDDEN = "gave a verdict (shown once the cell is resolved)"


class LogLine(NamedTuple):
    """One event. ``what`` goes on the name of ``who``; ``note`` is in their own words."""

    id: int
    when: str
    who: str
    item_id: str
    criterion: str
    what: str
    note: str
    undone: bool = False


class Log(NamedTuple):
    """Some lines of a longer log, the newest first; ``total`` are all."""

    lines: tuple[LogLine, ...]
    total: int


def story(
    store: Store, seat: Seat | None, run_id: int, item_id: str, criterion: str
) -> list[LogLine]:
    """What happened to a cell, in its order.

    A reviewer reads what others said of it once it is resolved, not before; so does nobody in
    particular (``None``). Raises ``NotFound``.
    """
    store.results.item(run_id, item_id)
    return _Teller(store, seat, run_id).lines(store.events.of_cell(run_id, item_id, criterion))


def log(store: Store, seat: Seat | None, queue_id: int, *, limit: int, offset: int = 0) -> Log:
    """What happened in a queue, under the same condition. Raises ``NotFound``."""
    run_id = store.queues.get(queue_id).run_id
    events = store.events.newest(run_id, queue_id, limit=limit, offset=offset)
    lines = _Teller(store, seat, run_id).lines(events)
    return Log(tuple(lines), store.events.count(run_id, queue_id))


class _Teller:
    """Tells the events of a run to a person."""

    def __init__(self, store: Store, seat: Seat | None, run_id: int) -> None:
        self._store = store
        self._asked: dict[int, Rubric] = {}
        # Columns need numpy, which whoever only tells an event to be kept shall not wait for.
        from core.services.results.run_columns import own_rubrics

        self._own: Mapping[str, Rubric] = own_rubrics(store, store.runs.row(run_id))
        now = None if seat is None else now_seated(store, seat)
        self._name = "" if now is None else now.name
        self._all = now is not None and now.resolves
        self._resolved = {
            (s.item_id, s.criterion) for s in store.settled.of_run(run_id) if s.state == "active"
        }

    def lines(self, events: Iterable[EventRow]) -> list[LogLine]:
        """A line per event."""
        kept = list(events)
        gone = self._store.events.undone([event.id for event in kept])
        return [self._line(event, event.id in gone) for event in kept]

    def _line(self, event: EventRow, undone: bool) -> LogLine:
        hidden = self._hidden(event)
        what = HIDDEN if hidden else self._what(event)
        note = "" if hidden else event.reason
        return LogLine(
            event.id, event.ts, event.actor, event.item_id, event.criterion, what, note, undone
        )

    def _hidden(self, event: EventRow) -> bool:
        if self._all or event.actor == self._name:
            return False
        if event.action in ("request", "withdraw"):
            # What somebody wishes for must reach nobody who is to judge blind.
            return True
        open_cell = (event.item_id, event.criterion) not in self._resolved
        return open_cell and event.action in ("verdict", "final", "repeat", "undo", "send_back")

    def _what(self, event: EventRow) -> str:
        told: dict[str, Callable[[EventRow], str]] = {
            "verdict": self._first,
            "final": self._final,
            "repeat": lambda e: f"said {self._label(e, e.after)} on a second look",
            "settle": self._settled,
            "undo": self._undone,
            "mark": lambda e: f"made what is settled {e.after['state']}",
            "assign": lambda e: f"assigned it to {', '.join(e.after) or 'anybody'}",
            "flag": lambda e: f"flagged it for {'an' if e.after[0] in 'ae' else 'a'} {e.after}",
        }
        if event.action in told:
            return told[event.action](event)
        return _PLAIN.get(event.action, event.action)

    def _first(self, event: EventRow) -> str:
        how = {"assisted": ", with the votes in sight", "blind": ", blind"}.get(event.mode, "")
        said = "resolved it as" if event.part == "resolve" else "said"
        return f"{said} {self._label(event, event.after)}{how}"

    def _final(self, event: EventRow) -> str:
        before, after = self._label(event, event.before), self._label(event, event.after)
        if event.after.get("itself"):
            return f"said {after} as the judges do, which confirmed it by itself"
        return f"confirmed {after}" if before == after else f"changed {before} to {after}"

    def _settled(self, event: EventRow) -> str:
        label: str = event.after["label"] or "not assessable"
        how = {
            "human_single": "by one person",
            "human_consensus": "by people who agree",
            "adjudicated": "by an adjudicator",
        }.get(event.after["provenance"], "")
        return f"settled it as {label}, {how}" if how else f"settled it as {label}"

    def _undone(self, event: EventRow) -> str:
        if event.undo_of is None:
            return "took it back"
        what = self._store.events.get(event.undo_of)
        whose = "" if what.actor == event.actor else f" of {what.actor}"
        return f"took back: {self._what(what)}{whose}"

    def _rubric(self, version: int) -> Rubric:
        """The rubric as it was then: options may have other names by now."""
        if version not in self._asked:
            self._asked[version] = self._store.rubrics.version(version).rubric
        return self._asked[version]

    def _label(self, event: EventRow, data: dict[str, Any]) -> str:
        given = given_from(data)
        if given.option is None:
            why = "" if given.why is None else f" ({WHYS[given.why].lower()})"
            return f"cannot assess{why}"
        rubric = self._own.get(event.item_id) or self._rubric(event.rubric_version_id)
        criterion = rubric.criterion(event.criterion)
        return criterion.choices[given.option].label


_PLAIN = {
    "reveal": "saw the votes",
    "request": "entered that a regrade was asked for",
    "withdraw": "took back that a regrade was asked for",
    "unsettle": "opened it again",
    "skip": "left it for later",
    "unflag": "took the flag away",
    "send_back": "sent it back to be reviewed again",
    "take_over": "took it over",
    "unmask": "looked up who made the submission",
    "change": "changed how the queue is worked off",
}


def cells_of(store: Store, queue_id: int) -> list[tuple[str, str]]:
    """The cells of a queue that somebody has said something about, in the order of the items."""
    said = {(v.item_id, v.criterion) for v in store.verdicts.of_queue(queue_id)}
    items = store.queues.items(queue_id, {item_id for item_id, _ in said})
    position = {item.item_id: item.position for item in items}
    return sorted(said, key=lambda cell: (position[cell[0]], cell[1]))


@dataclass(frozen=True)
class CellDecision:
    """What people settled a cell as. ``when`` is an ISO moment; ``queue`` where it happened.

    ``voted`` is the label of what the votes gave, ``None`` where they gave nothing.
    """

    settled: Settled
    when: str
    queue: int | None
    voted: str | None

    @property
    def how(self) -> str:
        """How they came to it, in words."""
        return {
            "human_single": "one person",
            "human_consensus": "people who agree",
            "adjudicated": "an adjudicator, after a disagreement",
            "imported": "imported",
        }[self.settled.provenance]


def decided(store: Store, run_id: int, item_id: str) -> Mapping[str, CellDecision]:
    """What people settled of an item, by criterion, in whichever state; raises ``NotFound``."""
    run = store.runs.get(run_id)
    cells = store.results.cells(run_id, item_id)
    known = [store.settled.get(run_id, item_id, cell.criterion) for cell in cells]
    found = [one for one in known if one is not None]
    if not found:
        return {}
    (item,) = resolved_items(store, run.dataset_version_id, [item_id], upto=0)
    rubric = effective(item, scored_rubric(store, run))
    criteria = {criterion.name: criterion for criterion in rubric.criteria}
    voted = {
        cell.criterion: cell.voted if cell.rule == "adjudicated" else cell.option for cell in cells
    }
    made = {}
    for one in found:
        event, option = store.events.get(one.event_id), voted.get(one.criterion)
        criterion = criteria.get(one.criterion)
        label = None
        if criterion is not None and option is not None:
            label = criterion.choices[option].label
        made[one.criterion] = CellDecision(one, event.ts, event.queue_id, label)
    return made
