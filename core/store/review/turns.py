"""Turns: the status of each item for a reviewer, and leases on items."""

from __future__ import annotations

import builtins
import json
from collections.abc import Collection
from typing import Any

from core.domain.review import Order, Part, Role, Seat
from core.domain.review_records import ItemLease, ItemTurn, QueueFilter, TurnStatus
from core.store.database.connection import Connections

_ALL = QueueFilter()
#: From this many available items on, the scan of a queue is reused for ``FRESH`` seconds. It is
#: slow and hardly changes between two decisions. Meanwhile only the next ``WINDOW`` items are
#: checked.
MANY, FRESH, WINDOW = 1000, 30.0, 256
#: The number of reviewers' scans to cache; beyond it, all are dropped.
MOST_LOOKS = 2000
_BELOW: dict[Role, tuple[Role, ...]] = {
    "reviewer": ("reviewer",),
    "adjudicator": ("reviewer", "adjudicator"),
    "lead": ("reviewer", "adjudicator", "lead"),
}
_BY: dict[Order, str] = {
    "impact": "failed DESC, flip DESC, change DESC, entropy DESC, position",
    "change": "failed DESC, change DESC, entropy DESC, position",
    "entropy": "entropy DESC, position",
    "margin": "margin, position",
    "spread": "spread DESC, position",
    "random": "draw, position",
    "dataset": "position",
}
#: Items that only a draw selected would come last in most orders, so their random numbers spread
#: them evenly among the others. The order of the dataset is never changed. Each item's position is
#: its share of its kind, counted from the end, so that finishing items does not reorder the rest.
_MIXED = """
    , kinds AS MATERIALIZED (SELECT random, count(*) AS of_kind FROM summed GROUP BY 1)
    SELECT {turn} FROM (
        SELECT *, count(*) OVER (PARTITION BY random ORDER BY iif(random, draw, 0), {by}
            ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS due
        FROM turns WHERE :status IS NULL OR status = :status
    ) JOIN kinds USING (random)
    ORDER BY pending DESC, skipped IS NOT NULL, skipped, (0.5 - due) / of_kind, random, {by}
"""
_PLAIN = """
    SELECT {turn} FROM turns WHERE :status IS NULL OR status = :status
    ORDER BY pending DESC, skipped IS NOT NULL, skipped, {by}
"""
# A flag routes a cell to its role and the roles above.
_MAY = "(c.flagged IS NULL OR instr(:roles, c.flagged))"
_LIVE = "t.queue_id = :queue AND t.until > :at AND (t.reviewer <> :me OR t.session <> :session)"
# Authors do not review their own items. The cheap text search comes before the slow parsing.
_WROTE = """
    SELECT c.item_id FROM item c WHERE c.version_id = :version AND (instr(c.content, '"author"')
        OR instr(c.content, '"student"') OR instr(c.content, '"name"'))
    AND lower(:me) IN (lower(trim(c.content ->> '$.meta.author')),
        lower(trim(c.content ->> '$.meta.student')), lower(trim(c.content ->> '$.meta.name')))
"""
#: The sort keys of items; counting does not need them.
_RANKS = """,
        max(CASE WHEN reviews OR resolves THEN failed END) AS failed,
        max(CASE WHEN reviews OR resolves THEN flip END) AS flip,
        max(CASE WHEN reviews OR resolves THEN change END) AS change,
        max(CASE WHEN reviews OR resolves THEN entropy END) AS entropy,
        min(CASE WHEN reviews OR resolves THEN margin END) AS margin,
        max(CASE WHEN reviews OR resolves THEN spread END) AS spread,
        min(drawn) AS random
"""
_STANDING = f"""
WITH given AS (
    SELECT item_id, criterion,
        sum(part = 'review' AND final IS NOT NULL) AS finals,
        max(part = 'review' AND final IS NOT NULL AND reviewer = :me) AS mine,
        max(final IS NULL AND reviewer = :me) AS pending
    FROM review_verdict c WHERE c.queue_id = :queue AND {{item}} GROUP BY 1, 2
), seen AS MATERIALIZED (
    SELECT c.item_id, c.state, c.failed, c.flip, c.change, coalesce(c.entropy, 1) AS entropy,
        coalesce(c.margin, 0) AS margin, coalesce(c.spread, 0) AS spread,
        coalesce(g.finals, 0) AS finals, coalesce(g.pending, 0) AS pending,
        c.state IN ('needs_review', 'needs_others') AND NOT coalesce(g.mine, 0) AND {_MAY}
            AS reviews,
        c.state = 'disagreement' AND :resolves AND (:lead OR NOT coalesce(g.mine, 0)) AND {_MAY}
            AS resolves,
        NOT {_MAY} AS elsewhere, c.reasons IN ('["audit"]', '["gold"]') AS drawn,
        (:criterion IS NULL OR c.criterion = :criterion)
            AND (:reason IS NULL OR instr(c.reasons, '"' || :reason || '"'))
            AND (NOT :flagged OR c.flagged IS NOT NULL) AS hit
    FROM queue_cell c LEFT JOIN given g ON g.item_id = c.item_id AND g.criterion = c.criterion
    WHERE c.queue_id = :queue AND {{item}}
), summed AS MATERIALIZED (
    SELECT item_id, max(state <> 'resolved') AS open, max(reviews) AS reviews,
        max(reviews AND hit) AS reviews_hit, max(resolves AND hit) AS resolves_hit,
        max(reviews OR resolves) AS due_any, max(state = 'disagreement' OR elsewhere) AS waiting,
        min(CASE WHEN reviews THEN finals END) AS finals, max(pending) AS pending{{ranks}}
    FROM seen GROUP BY item_id
), held AS (
    SELECT item_id, part, count(*) AS others, min(until) AS until, min(reviewer) AS holder,
        max(reviewer = :me) AS myself
    FROM queue_turn t WHERE {_LIVE} GROUP BY 1, 2
), turns AS (
    SELECT i.item_id, i.position, i.draw, s.*, h.holder, h.until, m.skipped,
        CASE WHEN s.reviews_hit THEN 'review' WHEN s.resolves_hit THEN 'resolve'
            WHEN s.reviews THEN 'review' ELSE 'resolve' END AS part,
        CASE
            WHEN NOT s.open THEN 'done'
            WHEN s.due_any AND NOT (s.reviews_hit OR s.resolves_hit) THEN 'filtered'
            WHEN s.due_any AND i.item_id IN (SELECT value FROM json_each(:wrote)) THEN 'assigned'
            WHEN s.reviews_hit AND i.assigned <> '[]'
                AND NOT EXISTS (SELECT 1 FROM json_each(i.assigned) WHERE value = :me)
                THEN 'assigned'
            WHEN s.reviews_hit THEN
                CASE WHEN coalesce(h.myself, 0) OR coalesce(h.others, 0) >= i.required - s.finals
                    THEN 'locked' ELSE 'available' END
            WHEN s.resolves_hit THEN
                CASE WHEN coalesce(h.others, 0) THEN 'locked' ELSE 'available' END
            WHEN s.waiting THEN 'waiting'
            ELSE 'mine_done'
        END AS status
    FROM queue_item i JOIN summed s ON s.item_id = i.item_id
    LEFT JOIN held h ON h.item_id = i.item_id
        AND h.part = CASE WHEN s.reviews_hit THEN 'review' ELSE 'resolve' END
    LEFT JOIN queue_turn m ON m.queue_id = :queue AND m.item_id = i.item_id AND m.reviewer = :me
    WHERE i.queue_id = :queue
)
"""
_COUNTED = _STANDING.format(item="true", ranks="")
_TURN = """
    item_id, position, status, part, CASE status WHEN 'locked' THEN holder END,
    CASE status WHEN 'locked' THEN until END
"""


_ORDERS = {
    order: (_PLAIN if order == "dataset" else _MIXED).format(turn=_TURN, by=by)
    for order, by in _BY.items()
}


def _limit_size(looks: dict[Any, Any]) -> None:
    if len(looks) >= MOST_LOOKS:
        looks.clear()


class Turns:
    """Available as ``store.turns``. ``at`` is in Unix seconds."""

    def __init__(self, files: Connections) -> None:
        self._files = files
        # Cached, because a dataset version never changes and searching it is slow.
        self._written: dict[tuple[int, str], str] = {}
        self._ahead: dict[Any, tuple[float, tuple[str, ...]]] = {}
        self._left: dict[Any, tuple[float, int, int, int]] = {}
        self._looks: dict[Any, tuple[tuple[Any, ...], dict[TurnStatus, tuple[int, int]]]] = {}

    def items_with_status(
        self,
        queue_id: int,
        seat: Seat,
        order: Order,
        *,
        at: float,
        where: QueueFilter = _ALL,
        status: TurnStatus | None = None,
        items: Collection[str] | None = None,
        limit: int = -1,
    ) -> builtins.list[ItemTurn]:
        """Return items with their status: to confirm, then in order, then skipped.

        ``status`` and ``items`` restrict the result. A ``limit`` of -1 means no limit.
        """
        # Without the condition SQLite would scan every item.
        item_clause = "c.item_id IN (SELECT value FROM json_each(:items))"
        query = _STANDING.format(item="true" if items is None else item_clause, ranks=_RANKS)
        rows = self._files.tuples(
            f"{query} {_ORDERS[order]} LIMIT :limit",
            self._query_values(queue_id, seat, at, where, items, status=status, limit=limit),
        )
        return [ItemTurn._make(row) for row in rows]

    def next_items(
        self,
        queue_id: int,
        seat: Seat,
        order: Order,
        *,
        at: float,
        where: QueueFilter = _ALL,
        limit: int,
    ) -> builtins.list[ItemTurn]:
        """Return the first items that a reviewer may take now, in the order of ``standing``.

        With ``MANY`` items or more, items freed or skipped in the last ``FRESH`` seconds may be out
        of order. Whether an item may be taken is always current.
        """
        key = (queue_id, seat.name, seat.role, order, where)
        scanned_at, ids = self._ahead.get(key, (float("-inf"), ()))
        if ids and 0 <= at - scanned_at < FRESH:
            next_ids = ids[:WINDOW]
            turns = self.items_with_status(
                *(queue_id, seat, order),
                at=at, where=where, status="available", items=next_ids, limit=limit,
            )  # fmt: skip
            if len(turns) == limit:
                first_taken = min(next_ids.index(turn.item_id) for turn in turns)
                self._ahead[key] = (scanned_at, ids[first_taken:])
                return turns
        self._ahead.pop(key, None)
        turns = self.items_with_status(
            *(queue_id, seat, order),
            at=at, where=where, status="available", limit=max(limit, MANY),
        )  # fmt: skip
        if len(turns) >= MANY:
            _limit_size(self._ahead)
            self._ahead[key] = (at, tuple(turn.item_id for turn in turns))
        return turns[:limit]

    def available(
        self, queue_id: int, seat: Seat, decided: Collection[str], *, at: float
    ) -> tuple[int, int]:
        """Return the number of items that a reviewer may take, and of those in ``decided``.

        The count is cached, since a reviewer waits for it and a queue may hold thousands. With
        ``MANY`` items or more, items taken by others in the last ``FRESH`` seconds may still count.
        """
        key = (queue_id, seat.name, seat.role)
        scanned_at, count, to_confirm, later = self._left.get(key, (float("-inf"), 0, 0, 0))
        if 0 <= at - scanned_at < FRESH and later <= len(decided):
            return count - (len(decided) - later), to_confirm
        self._left.pop(key, None)
        count, to_confirm = self._counts_by_status(queue_id, seat, at).get("available", (0, 0))
        if count >= MANY:
            _limit_size(self._left)
            self._left[key] = (at, count, to_confirm, len(decided))
        return count, to_confirm

    def counts(
        self,
        queue_id: int,
        seat: Seat,
        *,
        at: float,
        where: QueueFilter = _ALL,
    ) -> dict[TurnStatus, int]:
        """Return the number of items by their status for a reviewer."""
        if where == _ALL:
            return {
                status: n for status, (n, _) in self._counts_by_status(queue_id, seat, at).items()
            }
        return dict(
            self._files.tuples(
                f"{_COUNTED} SELECT status, count(*) FROM turns GROUP BY 1",
                self._query_values(queue_id, seat, at, where, None),
            )
        )

    def _counts_by_status(
        self, queue_id: int, seat: Seat, at: float
    ) -> dict[TurnStatus, tuple[int, int]]:
        """Return the number of items, and of those the reviewer decided, by status.

        The result is cached until an event or a lease changes.
        """
        ((size, last),) = self._files.tuples(
            "SELECT (SELECT count(*) FROM queue_cell WHERE queue_id = ?), "
            "(SELECT max(id) FROM review_event)",
            (queue_id,),
        )
        state = (size, last, tuple(self.leases_in_force(queue_id, at=at)))
        key = (queue_id, seat)
        cached, tally = self._looks.get(key, ((), {}))
        if cached != state:
            rows = self._files.tuples(
                f"{_COUNTED} SELECT status, count(*), "
                "sum(item_id IN (SELECT item_id FROM review_verdict WHERE queue_id = :queue "
                "AND reviewer = :me AND final IS NOT NULL)) FROM turns GROUP BY 1",
                self._query_values(queue_id, seat, at, _ALL, None),
            )
            tally = {status: (int(n), int(again)) for status, n, again in rows}
            _limit_size(self._looks)
            self._looks[key] = (state, tally)
        return tally

    def hold(self, queue_id: int, item_id: str, seat: Seat, part: Part, until: float) -> None:
        """Lease an item to a reviewer; the caller has checked the permission."""
        with self._files.write() as db:
            db.execute(
                "INSERT INTO queue_turn (queue_id, item_id, reviewer, part, session, until) "
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (queue_id, item_id, reviewer) DO UPDATE "
                "SET part = excluded.part, session = excluded.session, until = excluded.until",
                (queue_id, item_id, seat.name, part, seat.session, until),
            )

    def extend_lease(self, queue_id: int, item_id: str, seat: Seat, until: float) -> bool:
        """Extend the lease on an item; return ``False`` if it was lost.

        An expired lease counts until another reviewer takes the item.
        """
        with self._files.write() as db:
            cursor = db.execute(
                "UPDATE queue_turn SET until = ? WHERE queue_id = ? AND item_id = ? "
                "AND reviewer = ? AND session = ? AND until IS NOT NULL",
                (until, queue_id, item_id, seat.name, seat.session),
            )
            return bool(cursor.rowcount)

    def leave(self, queue_id: int, item_id: str, seat: Seat) -> None:
        """Release an item that this session holds."""
        with self._files.write() as db:
            db.execute(
                "UPDATE queue_turn SET until = NULL, session = NULL "
                "WHERE queue_id = ? AND item_id = ? AND reviewer = ? AND session = ?",
                (queue_id, item_id, seat.name, seat.session),
            )

    def evict(self, queue_id: int, item_id: str, part: Part, but: str, *, at: float | None) -> None:
        """End others' leases on an item: all if ``at`` is ``None``, or those expired by ``at``."""
        with self._files.write() as db:
            db.execute(
                "UPDATE queue_turn SET until = NULL, session = NULL WHERE queue_id = ? "
                "AND item_id = ? AND part = ? AND reviewer <> ? AND (? IS NULL OR until <= ?)",
                (queue_id, item_id, part, but, at, at),
            )

    def skip(self, queue_id: int, item_id: str, seat: Seat, event_id: int | None) -> None:
        """Sort an item last for a reviewer, by this event, or restore its order with ``None``."""
        with self._files.write() as db:
            db.execute(
                "UPDATE queue_turn SET skipped = ? "
                "WHERE queue_id = ? AND item_id = ? AND reviewer = ?",
                (event_id, queue_id, item_id, seat.name),
            )

    def leases_in_force(
        self, queue_id: int, *, at: float, item_id: str | None = None
    ) -> builtins.list[ItemLease]:
        """Return the leases in force at this time, by item."""
        return [
            ItemLease._make(row)
            for row in self._files.tuples(
                "SELECT item_id, reviewer, session, part, until FROM queue_turn "
                "WHERE queue_id = ? AND until > ? AND (? IS NULL OR item_id = ?) "
                "ORDER BY item_id, until",
                (queue_id, at, item_id, item_id),
            )
        ]

    def holds(self, queue_id: int, item_id: str, seat: Seat) -> ItemLease | None:
        """Return this session's lease on an item, even an expired one, or ``None``."""
        rows = self._files.tuples(
            "SELECT item_id, reviewer, session, part, until FROM queue_turn WHERE queue_id = ? "
            "AND item_id = ? AND reviewer = ? AND session = ? AND until IS NOT NULL",
            (queue_id, item_id, seat.name, seat.session),
        )
        return ItemLease._make(rows[0]) if rows else None

    def _query_values(
        self,
        queue_id: int,
        seat: Seat,
        at: float,
        where: QueueFilter,
        items: Collection[str] | None,
        **extra: Any,
    ) -> dict[str, Any]:
        return {
            "queue": queue_id,
            "me": seat.name,
            "session": seat.session,
            "at": at,
            "roles": " ".join(_BELOW[seat.role]),
            "resolves": seat.resolves,
            "lead": seat.role == "lead",
            "criterion": where.criterion,
            "reason": where.reason,
            "flagged": where.flagged,
            "items": None if items is None else json.dumps(list(items)),
            "wrote": self._own_items(queue_id, seat.name),
            **extra,
        }

    def _own_items(self, queue_id: int, name: str) -> str:
        """Return the ids of the queue's items that this person wrote, as JSON."""
        for (version,) in self._files.tuples(
            "SELECT r.dataset_version_id FROM review_queue q JOIN run r ON r.id = q.run_id "
            "WHERE q.id = ?",
            (queue_id,),
        ):
            key = (int(version), name)
            if key not in self._written:
                rows = self._files.tuples(_WROTE, {"version": version, "me": name})
                self._written[key] = json.dumps([item_id for (item_id,) in rows])
            return self._written[key]
        return "[]"
