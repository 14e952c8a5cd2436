"""Process a run's models through their providers' batch interface.

The questions are the same, the price is half, and answers come within a day. The worker writes
questions to files, sends the files, and checks the provider now and then. The same judge reads the
answers, and they are recorded in the same groups as direct answers. A batch is recorded in the data
file before it is created, so after a kill the next worker finds it at the provider.
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
    BatchState,
    line_without_answer,
    was_cancelled,
)
from core.services.runs.batches.context import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    BatchContext,
    BatchesStopped,
)
from core.services.runs.batches.lanes import BatchLane, seconds_to_next_check
from core.services.runs.batches.sending import BatchSender
from core.services.runs.questions import Wanted, wants_every_cell

log = logging.getLogger(__name__)
#: Seconds that a cancelled run waits for last answers, and seconds between its checks.
LAST_ANSWERS, LOOK_EVERY = 20.0, 1.0

#: Why a question has no answer, by the final state of its batch.
_WHY = {
    "lost": "The provider knows this batch no longer: it was removed there, or the key is another.",
    "completed": "The provider's files hold no line for this question that can be read.",
    "cancelled": "The batch was cancelled at the provider.",
}


class BatchWork:
    """The batches of one run's ``judges``."""

    def __init__(self, context: BatchContext, judges: Sequence[BatchJudge]) -> None:
        self.context = context
        self.lanes = {judge.spec.name: BatchLane(judge.spec, judge) for judge in judges}
        self._sender = BatchSender(context, self.lanes)

    async def ask(self, judges: Sequence[Judge], wanted: Wanted = wants_every_cell) -> None:
        """Return once all questions have outcomes, the budget is spent, or the run was stopped.

        Batches still in flight stay at the provider.
        """
        if self.context.work.stop.is_set():
            return
        lanes = [self.lanes[judge.name] for judge in judges if judge.name in self.lanes]
        with contextlib.suppress(BatchesStopped):
            for lane in lanes:
                await self._sender.begin(lane)
            while not self.context.work.stop.is_set():
                for lane in lanes:
                    if lane.unsent and not lane.no_room and lane.not_before <= clock.seconds_now():
                        await self._sender.fill(lane, wanted)
                if not any(lane.out for lane in lanes):
                    waiting = [lane for lane in lanes if lane.unsent]
                    if all(lane.no_room for lane in waiting):
                        self.context.turns.exhausted |= bool(waiting)
                        return
                await self._wait_for_check(lanes)
                await self._check_lanes(lanes)

    async def cancel(self) -> None:
        """Cancel batches at the provider, and record the answers that exist by then."""
        until = clock.seconds_now() + LAST_ANSWERS
        for lane in self.lanes.values():
            with contextlib.suppress(BatchesStopped):
                for row in await self._sender.find(lane):
                    if not await self._sender.already_created(lane, row):
                        await self._discard_file(lane, row)
            for row in list(lane.out.values()):
                await self._cancel_batch(lane, row)
        while any(lane.out for lane in self.lanes.values()) and clock.seconds_now() < until:
            for lane in self.lanes.values():
                for row in list(lane.out.values()):
                    await self._check_batch(lane, row)
            await asyncio.sleep(LOOK_EVERY)

    async def _discard_file(self, lane: BatchLane, row: BatchRow) -> None:
        """Remove the file of a batch that was not created.

        After an attempt to create it, the batch may still appear, so its row is kept. A resumed run
        finds the batch, or the provider rejects the removed file and all questions are sent again.
        """
        await self.context.remove_files(lane, [row.file])
        if row.looked is None:
            await self.context.write(self.context.store.drop, row.id)

    async def _cancel_batch(self, lane: BatchLane, row: BatchRow) -> None:
        try:
            look = await lane.judge.caller.batch_interface.cancel(row.batch)
            await self.context.set(row, said=look.status, stopped=1, message="")
            lane.out[row.id] = await self.context.row(row.id)
        except CallError as error:
            message = f"It could not be cancelled at the provider: {error.message}"
            log.warning("Run %s: %s", row.run_id, message, extra={"run": row.run_id})
            await self.context.set(row, message=message)

    async def _wait_for_check(self, lanes: Sequence[BatchLane]) -> None:
        """Wait until the next check is due, or until more may be sent."""
        due_times = [row.due or 0.0 for lane in lanes for row in lane.out.values()]
        due_times += [lane.not_before for lane in lanes if lane.unsent and not lane.no_room]
        await self.context.pause(max(0.0, min(due_times, default=0.0) - clock.seconds_now()))

    async def _check_lanes(self, lanes: Sequence[BatchLane]) -> None:
        for lane in lanes:
            for row in list(lane.out.values()):
                if (row.due or 0.0) <= clock.seconds_now():
                    await self._check_batch(lane, row)

    async def _check_batch(self, lane: BatchLane, row: BatchRow) -> None:
        """Check a batch's progress, and record its answers once it has ended."""
        try:
            look = await lane.judge.caller.batch_interface.look(row.batch)
            if look.ended:
                await self._take_answers(lane, row, look)
                return
        except CallError as error:
            if error.kind == "not_found" and error.status == 404:
                await self._take_answers(lane, row, BatchState(row.batch, "lost"))
                return
            await self._checked_batch(lane, row, message=error.message)
            return
        await self._checked_batch(
            lane, row, said=look.status, done=look.done, failed=look.failed, message=""
        )

    async def _checked_batch(
        self, lane: BatchLane, row: BatchRow, **facts: str | float | None
    ) -> None:
        now = clock.seconds_now()
        await self.context.set(
            row, looked=now, due=now + seconds_to_next_check(now - (row.sent or now)), **facts
        )
        lane.out[row.id] = await self.context.row(row.id)

    async def _take_answers(self, lane: BatchLane, row: BatchRow, look: BatchState) -> None:
        """Record the answers of an ended batch. After a kill halfway, they are recorded again."""
        lines = await self.context.io(self.context.store.lines, row)
        caller = lane.judge.caller
        answers = dict[str, str]()
        for file in filter(None, (look.answers, look.errors)):
            async for key, line in caller.batch_interface.lines(file):
                if key in lines and not was_cancelled(line):
                    # A request's answer counts, even if other lines report an error for it.
                    answers.setdefault(key, line)
        too_much = look.status == "failed" and look.code == TOO_MUCH
        if not too_much and not (look.status == "cancelled" and row.stopped):
            answers |= {key: _missing_reason(key, look) for key in lines.keys() - answers.keys()}
        lane.unsent = lane.unsent or len(answers) < len(lines)
        caller.lines |= answers
        await self._read_answers(lane, set(lines.values()))
        ended = {cell for cell in lines.values() if cell in self.context.job.done}
        answered = [(key, line) for key, line in answers.items() if lines[key] not in ended]
        counts = {"done": look.done, "failed": look.failed, "looked": clock.seconds_now()}
        await self.context.set(row, said=look.status, message=look.message, **counts)
        await self.context.write(self.context.store.take, row.id, answered)
        await self.context.write(self.context.store.forget, lane.spec.name, ended)
        recorded = answers.keys() - {key for key, _ in answered}
        caller.lines = {k: v for k, v in caller.lines.items() if k not in recorded}
        lane.cells -= set(lines.values())
        del lane.out[row.id]
        for lane_of_judge in self.lanes.values():
            lane_of_judge.no_room = False
        self._adjust_size(lane, row, too_much)
        await self.context.remove_files(lane, (row.file, look.answers, look.errors))

    async def _read_answers(self, lane: BatchLane, cells: set[Cell]) -> None:
        """Let the judge read the answers to these questions, and record the outcomes."""
        items = {cell.item for cell in cells}
        for question in self.context.asker.questions(
            lane.spec, self.context.job.done, wants_every_cell, items
        ):
            if question.cell not in cells:
                continue
            await self.context.recorder.ready.wait()
            try:
                self.context.add(lane, await lane.judge.ask(question))
            except Unanswered:
                lane.unsent = True
            await asyncio.sleep(0)
        await self.context.recorder.drain()

    def _adjust_size(self, lane: BatchLane, row: BatchRow, too_much: bool) -> None:
        """Send smaller batches from now on if this batch was too large; otherwise send the rest at
        once.
        """
        if not too_much:
            lane.not_before, lane.refused = 0.0, 0
            return
        lane.most = max(1, min(lane.most, row.lines) // 2)
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**lane.refused)
        lane.refused += 1
        lane.not_before = clock.seconds_now() + pause


def _missing_reason(key: str, look: BatchState) -> str:
    """Return why a request has no answer, by the final state of its batch."""
    if look.status == "failed":
        return line_without_answer(key, look.code or "bad_request", look.message)
    return line_without_answer(key, EXPIRED, _WHY.get(look.status, ""))
