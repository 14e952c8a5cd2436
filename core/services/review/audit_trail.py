"""The audit trail of a review: events, and what each decision changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from core.domain.review import WHYS, CellState, Seat, SettledCell
from core.domain.review_records import EventRow
from core.domain.rubric import Rubric
from core.domain.runs import Outcome, RunItemRow
from core.services.results.scored_items import resolved_items, rubric_in_force, scored_rubric
from core.services.review.reviewers import now_seated
from core.store.review.settled import answer_from_data
from core.store.store import Store


@dataclass(frozen=True)
class CellEffect:
    """A decision's effect on a cell. Labels are ``None`` without a verdict; ``voted`` is the
    panel's label.

    ``hits`` count the right verdicts of votes, and all cells of the criterion that were settled as
    an option. They do not describe all cells, since queues select the hard ones.
    """

    criterion: str
    state: CellState
    voted: str | None
    before: str | None
    after: str | None
    hits_before: tuple[int, int]
    hits_after: tuple[int, int]


@dataclass(frozen=True)
class DecisionEffect:
    """What a decision changed on one item."""

    item_id: str
    score_before: float | None
    score_after: float | None
    outcome_before: Outcome | None
    outcome_after: Outcome | None
    cells: tuple[CellEffect, ...]
    #: Whether to hide the judges' votes, by leaving out earlier verdicts, scores and hits.
    blind: bool = False

    @property
    def changed(self) -> bool:
        """Return whether the score or the outcome changed."""
        return (self.score_before, self.outcome_before) != (self.score_after, self.outcome_after)

    def of_cells(self) -> DecisionEffect:
        """Return the effect without the item's score, which could reveal cells not reviewed yet."""
        return replace(
            self, score_before=None, score_after=None, outcome_before=None, outcome_after=None
        )

    def blinded(self) -> DecisionEffect:
        """Return only what people settled, for reviewers who never see the judges' votes."""
        no_hits = (0, 0)
        cells = tuple(
            CellEffect(
                cell.criterion,
                cell.state,
                voted=None,
                before=None,
                # The verdict of an open cell is still the judges' verdict.
                after=cell.after if cell.state == "resolved" else None,
                hits_before=no_hits,
                hits_after=no_hits,
            )
            for cell in self.cells
        )
        return DecisionEffect(self.item_id, None, None, None, None, cells, blind=True)


#: A cell's current state: its label, that by the votes, and its criterion's hits.
_CellState = tuple[str | None, str | None, tuple[int, int]]
#: An item's current state: its row, and some of its cells.
Snapshot = tuple[RunItemRow, Mapping[str, _CellState]]


def snapshot_of(
    store: Store, run_id: int, item_id: str, rubric: Rubric, criteria: Iterable[str]
) -> Snapshot:
    """Return the current state of an item and some of its cells."""
    states = dict[str, _CellState]()
    cells = {cell.criterion: cell for cell in store.results.cells(run_id, item_id)}
    for name in criteria:
        criterion = rubric.criterion(name)
        cell = cells.get(name)
        option = None if cell is None else cell.option
        judged = option
        if cell is not None and cell.rule == "adjudicated":
            judged = cell.voted
        label, voted = (
            None if at is None else criterion.choices[at].label for at in (option, judged)
        )
        states[name] = label, voted, store.settled.hits(run_id, name, criterion.scored)
    return store.results.item(run_id, item_id), states


def snapshot_difference(
    before: Snapshot, after: Snapshot, states: Mapping[str, CellState]
) -> DecisionEffect:
    """Return the difference between two snapshots of an item."""
    (old, old_cells), (new, new_cells) = before, after
    cells = []
    for name, state in states.items():
        (old_label, _, old_hits), (label, voted, hits) = old_cells[name], new_cells[name]
        cells.append(CellEffect(name, state, voted, old_label, label, old_hits, hits))
    return DecisionEffect(new.item_id, old.score, new.score, old.outcome, new.outcome, tuple(cells))


#: Shown instead of another reviewer's verdict on a cell that is still open to blind review.
HIDDEN = "gave a verdict (shown once the cell is resolved)"


class LogLine(NamedTuple):
    """One event. ``what`` completes a sentence that begins with ``who``; ``note`` is in that
    person's words.
    """

    id: int
    when: str
    who: str
    item_id: str
    criterion: str
    what: str
    note: str
    undone: bool = False


def cell_story(
    store: Store, seat: Seat | None, run_id: int, item_id: str, criterion: str
) -> list[LogLine]:
    """Return a cell's events in order.

    A reviewer sees others' verdicts only after the cell is resolved; so does an anonymous reader
    (``None``). Raises ``NotFound``.
    """
    store.results.item(run_id, item_id)
    return _Teller(store, seat, run_id).lines(store.events.of_cell(run_id, item_id, criterion))


def queue_log(
    store: Store, seat: Seat | None, queue_id: int, *, limit: int, offset: int = 0
) -> tuple[list[LogLine], int]:
    """Return some of a queue's events, newest first, and the number of all its events; others'
    verdicts stay hidden as in ``cell_story``.

    Raises ``NotFound``.
    """
    run_id = store.queues.get(queue_id).run_id
    events = store.events.newest(run_id, queue_id, limit=limit, offset=offset)
    lines = _Teller(store, seat, run_id).lines(events)
    return lines, store.events.count(run_id, queue_id)


class _Teller:
    """Describes a run's events to one person."""

    def __init__(self, store: Store, seat: Seat | None, run_id: int) -> None:
        self._store = store
        self._asked: dict[int, Rubric] = {}
        # Columns need numpy, which is not worth loading to describe an event.
        from core.services.results.run_columns import own_rubrics

        self._own: Mapping[str, Rubric] = own_rubrics(store, store.runs.row(run_id))
        current = None if seat is None else now_seated(store, seat)
        self._name = "" if current is None else current.name
        self._all = current is not None and current.resolves
        self._resolved = {
            (s.item_id, s.criterion) for s in store.settled.of_run(run_id) if s.state == "active"
        }

    def lines(self, events: Iterable[EventRow]) -> list[LogLine]:
        """Return a line per event."""
        listed = list(events)
        undone = self._store.events.undone([event.id for event in listed])
        return [self._log_line(event, event.id in undone) for event in listed]

    def _log_line(self, event: EventRow, undone: bool) -> LogLine:
        hidden = self._is_hidden(event)
        action = HIDDEN if hidden else self._action_words(event)
        note = "" if hidden else event.reason
        return LogLine(
            event.id, event.ts, event.actor, event.item_id, event.criterion, action, note, undone
        )

    def _is_hidden(self, event: EventRow) -> bool:
        if self._all or event.actor == self._name:
            return False
        if event.action in ("request", "withdraw"):
            # Blind reviewers must not see which regrades others requested.
            return True
        open_cell = (event.item_id, event.criterion) not in self._resolved
        return open_cell and event.action in ("verdict", "final", "repeat", "undo", "send_back")

    def _action_words(self, event: EventRow) -> str:
        phrases: dict[str, Callable[[EventRow], str]] = {
            "verdict": self._first_words,
            "final": self._final_words,
            "repeat": lambda e: f"said {self._option_label(e, e.after)} on a second look",
            "settle": self._settled_words,
            "undo": self._undo_words,
            "mark": lambda e: f"made what is settled {e.after['state']}",
            "assign": lambda e: f"assigned it to {', '.join(e.after) or 'anybody'}",
            "flag": lambda e: f"flagged it for {'an' if e.after[0] in 'ae' else 'a'} {e.after}",
        }
        if event.action in phrases:
            return phrases[event.action](event)
        return _PLAIN.get(event.action, event.action)

    def _first_words(self, event: EventRow) -> str:
        manner = {"assisted": ", with the votes in sight", "blind": ", blind"}.get(event.mode, "")
        verb = "resolved it as" if event.part == "resolve" else "said"
        return f"{verb} {self._option_label(event, event.after)}{manner}"

    def _final_words(self, event: EventRow) -> str:
        before, after = (
            self._option_label(event, event.before),
            self._option_label(event, event.after),
        )
        if itself := event.after.get("itself"):
            reason = "the panel's verdict" if itself is True else "not against judges who all agree"
            return f"said {after}, {reason}, so it was confirmed automatically"
        return f"confirmed {after}" if before == after else f"changed {before} to {after}"

    def _settled_words(self, event: EventRow) -> str:
        label: str = event.after["label"] or "cannot assess"
        manner = {
            "human_single": "by one person",
            "human_consensus": "by people who agree",
            "adjudicated": "by an adjudicator",
        }.get(event.after["provenance"], "")
        return f"settled it as {label}, {manner}" if manner else f"settled it as {label}"

    def _undo_words(self, event: EventRow) -> str:
        if event.undo_of is None:
            return "took it back"
        undone = self._store.events.get(event.undo_of)
        owner = "" if undone.actor == event.actor else f" of {undone.actor}"
        return f"took back: {self._action_words(undone)}{owner}"

    def _rubric_at(self, version: int) -> Rubric:
        """Return the rubric of that version, since options may have been renamed later."""
        if version not in self._asked:
            self._asked[version] = self._store.rubrics.version(version).rubric
        return self._asked[version]

    def _option_label(self, event: EventRow, data: dict[str, Any]) -> str:
        verdict = answer_from_data(data)
        if verdict.option is None:
            reason = "" if verdict.why is None else f" ({WHYS[verdict.why].lower()})"
            return f"cannot assess{reason}"
        rubric = self._own.get(event.item_id) or self._rubric_at(event.rubric_version_id)
        criterion = rubric.criterion(event.criterion)
        return criterion.choices[verdict.option].label


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
    "change": "changed the settings of the queue",
}


def cells_of(store: Store, queue_id: int) -> list[tuple[str, str]]:
    """Return a queue's cells with a verdict, in the order of the items."""
    cells = {(v.item_id, v.criterion) for v in store.verdicts.of_queue(queue_id)}
    items = store.queues.items(queue_id, {item_id for item_id, _ in cells})
    position = {item.item_id: item.position for item in items}
    return sorted(cells, key=lambda cell: (position[cell[0]], cell[1]))


@dataclass(frozen=True)
class CellDecision:
    """What people settled a cell as, and ``when`` (an ISO timestamp), in ``queue``.

    ``voted`` is the label that the votes gave, or ``None``.
    """

    settled: SettledCell
    when: str
    queue: int | None
    voted: str | None

    @property
    def how(self) -> str:
        """Return in words how the cell was settled."""
        return {
            "human_single": "one person",
            "human_consensus": "people who agree",
            "adjudicated": "an adjudicator, after a disagreement",
            "imported": "imported",
        }[self.settled.provenance]


def settled_decisions(store: Store, run_id: int, item_id: str) -> Mapping[str, CellDecision]:
    """Return an item's settled cells by criterion, in any state; raises ``NotFound``."""
    run = store.runs.get(run_id)
    cells = store.results.cells(run_id, item_id)
    current = [store.settled.get(run_id, item_id, cell.criterion) for cell in cells]
    decisions = [decision for decision in current if decision is not None]
    if not decisions:
        return {}
    (item,) = resolved_items(store, run.dataset_version_id, [item_id], upto=0)
    rubric = rubric_in_force(item, scored_rubric(store, run))
    criteria = {criterion.name: criterion for criterion in rubric.criteria}
    voted = {
        cell.criterion: cell.voted if cell.rule == "adjudicated" else cell.option for cell in cells
    }
    by_criterion = {}
    for decision in decisions:
        event, option = store.events.get(decision.event_id), voted.get(decision.criterion)
        criterion = criteria.get(decision.criterion)
        label = None
        if criterion is not None and option is not None:
            label = criterion.choices[option].label
        by_criterion[decision.criterion] = CellDecision(decision, event.ts, event.queue_id, label)
    return by_criterion
