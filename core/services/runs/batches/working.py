"""Process a run's models through their providers' batch interface.

Same questions, half the price, answers within a day. Questions are written to files, the files are
sent, and the provider is checked now and then. The same judge reads the answers, and they are
recorded in the same groups as direct ones. A batch is in the data file before it is created, so
after a kill the next worker finds it at the provider.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Sequence

from core import clock
from core.domain.panel import Judge
from core.domain.votes import BatchRow, Cell
from core.judging.asking.batch_judge import BatchJudge
from core.judging.asking.retry import Unanswered
from core.judging.providers.base import CallError
from core.judging.providers.batches import (
    EXPIRED,
    TOO_MUCH,
    BatchLook,
    unanswered_line,
    was_cancelled,
)
from core.services.runs.batches.desk import FIRST_PAUSE, LONGEST_PAUSE, BatchDesk, BatchesStopped
from core.services.runs.batches.lanes import BatchLane, next_look
from core.services.runs.batches.sending import BatchSender
from core.services.runs.questions import Wanted, everything

log = logging.getLogger(__name__)
#: How long a cancelled run waits for last answers, and how often it checks, in seconds.
LAST_ANSWERS, LOOK_EVERY = 20.0, 1.0

#: Why a question has no answer, by how its batch ended.
_WHY = {
    "lost": "The provider knows this batch no longer: it was removed there, or the key is another.",
    "completed": "The provider's files hold no line for this question that can be read.",
    "cancelled": "The batch was cancelled at the provider.",
}


class BatchWork:
    """The batches of one run's ``judges``."""

    def __init__(self, desk: BatchDesk, judges: Sequence[BatchJudge]) -> None:
        self.desk = desk
        self.lanes = {judge.spec.name: BatchLane(judge.spec, judge) for judge in judges}
        self._sender = BatchSender(desk, self.lanes)

    async def ask(self, judges: Sequence[Judge], wanted: Wanted = everything) -> None:
        """Return once all questions have outcomes, the budget is spent, or the run was stopped.

        Batches that are in flight then stay at the provider.
        """
        if self.desk.work.stop.is_set():
            return
        lanes = [self.lanes[judge.name] for judge in judges if judge.name in self.lanes]
        with contextlib.suppress(BatchesStopped):
            for lane in lanes:
                await self._sender.begin(lane)
            while not self.desk.work.stop.is_set():
                for lane in lanes:
                    if lane.unsent and not lane.no_room and lane.not_before <= clock.at():
                        await self._sender.fill(lane, wanted)
                if not any(lane.out for lane in lanes):
                    waiting = [lane for lane in lanes if lane.unsent]
                    if all(lane.no_room for lane in waiting):
                        self.desk.turns.exhausted |= bool(waiting)
                        return
                await self._rest(lanes)
                await self._look_at(lanes)

    async def cancel(self) -> None:
        """Cancel batches at the provider, and take the answers that exist by then."""
        until = clock.at() + LAST_ANSWERS
        for lane in self.lanes.values():
            with contextlib.suppress(BatchesStopped):
                for row in await self._sender.find(lane):
                    if not await self._sender.bought_already(lane, row):
                        await self._unbuy(lane, row)
            for row in list(lane.out.values()):
                await self._cancel(lane, row)
        while any(lane.out for lane in self.lanes.values()) and clock.at() < until:
            for lane in self.lanes.values():
                for row in list(lane.out.values()):
                    await self._look(lane, row)
            await asyncio.sleep(LOOK_EVERY)

    async def _unbuy(self, lane: BatchLane, row: BatchRow) -> None:
        """Remove the file of a batch that was not created.

        After an attempt to create it, it may still appear, so its row is kept. A resumed run finds
        the batch, or the provider rejects the removed file and all questions are sent again.
        """
        await self.desk.clear_away(lane, [row.file])
        if row.looked is None:
            await self.desk.write(self.desk.store.drop, row.id)

    async def _cancel(self, lane: BatchLane, row: BatchRow) -> None:
        try:
            look = await lane.judge.caller.door.cancel(row.batch)
            await self.desk.set(row, said=look.status, stopped=1, message="")
            lane.out[row.id] = await self.desk.row(row.id)
        except CallError as error:
            message = f"It could not be cancelled at the provider: {error.message}"
            log.warning("Run %s: %s", row.run_id, message, extra={"run": row.run_id})
            await self.desk.set(row, message=message)

    async def _rest(self, lanes: Sequence[BatchLane]) -> None:
        """Wait until the next check is due, or something may be sent again."""
        due = [row.due or 0.0 for lane in lanes for row in lane.out.values()]
        due += [lane.not_before for lane in lanes if lane.unsent and not lane.no_room]
        await self.desk.pause(max(0.0, min(due, default=0.0) - clock.at()))

    async def _look_at(self, lanes: Sequence[BatchLane]) -> None:
        for lane in lanes:
            for row in list(lane.out.values()):
                if (row.due or 0.0) <= clock.at():
                    await self._look(lane, row)

    async def _look(self, lane: BatchLane, row: BatchRow) -> None:
        """Check a batch's progress, and record its answers once it ended."""
        try:
            look = await lane.judge.caller.door.look(row.batch)
            if look.ended:
                await self._take(lane, row, look)
                return
        except CallError as error:
            if error.kind == "not_found" and error.status == 404:
                await self._take(lane, row, BatchLook(row.batch, "lost"))
                return
            await self._looked(lane, row, message=error.message)
            return
        await self._looked(
            lane, row, said=look.status, done=look.done, failed=look.failed, message=""
        )

    async def _looked(self, lane: BatchLane, row: BatchRow, **facts: str | float | None) -> None:
        now = clock.at()
        await self.desk.set(row, looked=now, due=now + next_look(now - (row.sent or now)), **facts)
        lane.out[row.id] = await self.desk.row(row.id)

    async def _take(self, lane: BatchLane, row: BatchRow, look: BatchLook) -> None:
        """Record the answers of an ended batch. After a kill in between it is recorded again."""
        lines = await self.desk.io(self.desk.store.lines, row)
        caller = lane.judge.caller
        answers = dict[str, str]()
        for file in filter(None, (look.answers, look.errors)):
            async for key, line in caller.door.lines(file):
                if key in lines and not was_cancelled(line):
                    # An answer counts, whatever other lines say about its request.
                    answers.setdefault(key, line)
        too_much = look.status == "failed" and look.code == TOO_MUCH
        if not too_much and not (look.status == "cancelled" and row.stopped):
            answers |= {key: _why(key, look) for key in lines.keys() - answers.keys()}
        lane.unsent = lane.unsent or len(answers) < len(lines)
        caller.lines |= answers
        await self._read(lane, set(lines.values()))
        ended = {cell for cell in lines.values() if cell in self.desk.job.done}
        answered = [(key, line) for key, line in answers.items() if lines[key] not in ended]
        counts = {"done": look.done, "failed": look.failed, "looked": clock.at()}
        await self.desk.set(row, said=look.status, message=look.message, **counts)
        await self.desk.write(self.desk.store.take, row.id, answered)
        await self.desk.write(self.desk.store.forget, lane.spec.name, ended)
        recorded = answers.keys() - {key for key, _ in answered}
        caller.lines = {k: v for k, v in caller.lines.items() if k not in recorded}
        lane.cells -= set(lines.values())
        del lane.out[row.id]
        for other in self.lanes.values():
            other.no_room = False
        self._learn(lane, row, too_much)
        await self.desk.clear_away(lane, (row.file, look.answers, look.errors))

    async def _read(self, lane: BatchLane, cells: set[Cell]) -> None:
        """Let the judge read these questions' answers, and record the outcomes."""
        items = {cell.item for cell in cells}
        for question in self.desk.asker.questions(lane.spec, self.desk.job.done, everything, items):
            if question.cell not in cells:
                continue
            await self.desk.recorder.ready.wait()
            try:
                self.desk.add(lane, await lane.judge.ask(question))
            except Unanswered:
                lane.unsent = True
            await asyncio.sleep(0)
        await self.desk.recorder.drain()

    def _learn(self, lane: BatchLane, row: BatchRow, too_much: bool) -> None:
        """Send smaller batches later if this one was too large; else send at once."""
        if not too_much:
            lane.not_before, lane.refused = 0.0, 0
            return
        lane.most = max(1, min(lane.most, row.lines) // 2)
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**lane.refused)
        lane.refused += 1
        lane.not_before = clock.at() + pause


def _why(key: str, look: BatchLook) -> str:
    """Return the line of a request without an answer, by how its batch ended."""
    if look.status == "failed":
        return unanswered_line(key, look.code or "bad_request", look.message)
    return unanswered_line(key, EXPIRED, _WHY.get(look.status, ""))
