"""Send the remaining questions: write them to files, upload the files, create each batch once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Mapping, Sequence
from functools import partial

from core import clock
from core.domain.votes import AskedOutcome, BatchRow, VoteFailure
from core.errors import InputError
from core.judging.asking.engine import failures_unasked
from core.judging.asking.retry import Unanswered
from core.judging.protocol import FATAL, Question
from core.judging.providers.base import CallError
from core.judging.providers.batches import MOST_OF_FILE, BatchState
from core.judging.turns import RETRIED
from core.services.runs.batches.context import (
    FIRST_PAUSE,
    LONGEST_PAUSE,
    BatchContext,
    BatchesStopped,
)
from core.services.runs.batches.lanes import BatchLane, RequestFile, seconds_to_next_check
from core.services.runs.questions import Wanted

log = logging.getLogger(__name__)
#: Seconds after an attempt to create a batch during which it may still appear at the provider.
SETTLED = 60.0
_UNSURE = (
    "A batch of {judge} may have been bought when this run was stopped, and its provider does not "
    "say: {why} Fix that and resume the run; nothing is bought until this is known."
)
_STRAY = (
    "When this run was stopped, a file of {judge}'s requests may already have reached the "
    "provider, which does not let us check: {why} Fix that and resume the run; the file is then "
    "deleted."
)


def _file_name(token: str) -> str:
    return f"{token}.jsonl"


class BatchSender:
    """Sends the questions of ``lanes``, the run's judges by name."""

    def __init__(self, context: BatchContext, lanes: Mapping[str, BatchLane]) -> None:
        self.context, self._lanes = context, lanes

    async def begin(self, lane: BatchLane) -> None:
        """Load batches in flight, and answers whose question still needs another answer."""
        answers = await self.context.io(
            self.context.store.answers, self.context.lease.run_id, lane.spec.name
        )
        answered = {cell for cell, _ in answers.values() if cell in self.context.job.done}
        await self.context.write(self.context.store.forget, lane.spec.name, answered)
        lane.judge.caller.lines = {
            key: line for key, (cell, line) in answers.items() if cell not in answered
        }
        for row in await self.find(lane):
            try:
                await self._create_batch(lane, row, tried_at=row.looked or 0.0)
            except CallError:
                # The provider now rejects the batch, so it does not exist. Its questions are sent
                # with the rest.
                await self.context.write(self.context.store.drop, row.id)
        of_judge = (self.context.lease.run_id, lane.spec.name)
        lane.cells = await self.context.io(self.context.store.cells, *of_judge)

    async def find(self, lane: BatchLane) -> list[BatchRow]:
        """Add batches in flight to the lane; return those of which it is unknown whether they
        exist.
        """
        unsure = []
        for row in await self.context.io(self.context.store.of_run, self.context.lease.run_id):
            if row.judge != lane.spec.name or row.status == "taken":
                continue
            if row.batch:
                lane.out[row.id] = row
            elif row.file:
                unsure.append(row)
            else:
                # Without a recorded file name the batch cannot exist, but an uploaded file for it
                # may.
                await self._clear_strays(lane, row, "")
                await self.context.write(self.context.store.drop, row.id)
        return unsure

    async def _clear_strays(self, lane: BatchLane, row: BatchRow, known_file: str) -> None:
        """Remove uploaded files of a batch that were never confirmed, except the file
        ``known_file``.

        Raises ``InputError`` if the provider refuses to list files, for example for an invalid key;
        the batch is then kept.
        """
        door = lane.judge.caller.batch_interface
        try:
            names = await self.context.with_retries(row, lambda: door.files(_file_name(row.token)))
        except CallError as error:
            if error.kind in FATAL and error.status != 404:
                message = _STRAY.format(judge=lane.spec.name, why=error.message)
                raise InputError(message) from None
            # This server cannot list files.
            log.info("Files of batch %s cannot be looked for: %s", row.token, error.message)
            return
        await self.context.remove_files(lane, [name for name in names if name != known_file])

    async def fill(self, lane: BatchLane, wanted: Wanted) -> None:
        """Send every question that has no outcome and is in no batch."""
        lane.unsent, lane.no_room, file = False, False, RequestFile()
        for question in self.context.asker.questions(lane.spec, self.context.job.done, wanted):
            if question.cell in lane.cells:
                continue
            await self.context.recorder.ready.wait()
            if self.context.work.stop.is_set():
                raise BatchesStopped
            if (dead := self.context.turns.stopping_failure(lane.spec)) is not None:
                self.context.add(lane, failures_unasked(question, *dead))
            elif not await self._write_request(lane, question, file):
                lane.unsent = lane.no_room = True
                break
            if len(file.lines) >= lane.most or file.size >= MOST_OF_FILE:
                await self._send_batches(lane, file)
                file = RequestFile()
            await asyncio.sleep(0)
        await self._send_batches(lane, file)

    async def _write_request(self, lane: BatchLane, question: Question, file: RequestFile) -> bool:
        """Add a question's next request to the file; ``False`` if the budget does not allow it."""
        try:
            self.context.add(lane, await lane.judge.ask(question))
        except Unanswered as next_:
            guess = lane.guess(next_.request)
            if not self._has_room(guess + file.guess):
                return False
            try:
                line = lane.judge.caller.batch_interface.line(next_.key, next_.request)
            except CallError as error:
                self._record_rejection(lane, error, [question])
            else:
                file.add(next_.key, question, line, guess)
        return True

    def _has_room(self, guess: float) -> bool:
        reserved = sum(row.guess for lane in self._lanes.values() for row in lane.out.values())
        return self.context.turns.spent + reserved + guess <= self.context.turns.limit

    async def _send_batches(self, lane: BatchLane, file: RequestFile) -> None:
        if not file.lines:
            return
        token = f"run-{self.context.lease.run_id}-{secrets.token_hex(8)}"
        lines = [(key, question.cell) for key, question in file.lines]
        plan = partial(self.context.store.plan, guess=file.guess, now=clock.now())
        row = await self.context.row(await self.context.write(plan, lane.spec.name, token, lines))
        lane.cells |= {cell for _, cell in lines}
        door, name = lane.judge.caller.batch_interface, ""
        try:
            data, tries = b"".join(file.data), 0

            async def upload_file() -> str:
                nonlocal tries
                tries += 1
                return await door.upload(_file_name(token), data)

            name = await self.context.with_retries(row, upload_file)
            await self.context.set(row, file=name, message="", due=None)
            if tries > 1:
                await self._clear_strays(lane, row, name)
            await self._create_batch(lane, await self.context.row(row.id), tried_at=None)
        except CallError as error:
            await self.context.write(self.context.store.drop, row.id)
            await self.context.remove_files(lane, [name])
            lane.cells -= {cell for _, cell in lines}
            self._record_rejection(lane, error, [question for _, question in file.lines])

    def _record_rejection(
        self, lane: BatchLane, error: CallError, questions: Sequence[Question]
    ) -> None:
        """Record failures of these questions: the provider rejected their batch, and retrying
        cannot help.
        """
        for question in questions:
            failures = (
                VoteFailure(ask.cell, error.kind, error.message, ask.order) for ask in question.asks
            )
            self.context.add(lane, AskedOutcome(tuple(failures)))

    async def _create_batch(
        self, lane: BatchLane, row: BatchRow, *, tried_at: float | None
    ) -> None:
        """Create the batch of a file, once. ``tried_at``: when an earlier attempt may have created
        it.

        Raises ``CallError`` if the provider rejects it.
        """
        pause = FIRST_PAUSE
        while True:
            if tried_at is not None:
                if await self.already_created(lane, row):
                    return
                if (remaining := tried_at + SETTLED - clock.seconds_now()) > 0:
                    await self.context.pause(min(remaining, FIRST_PAUSE))
                    continue
            # If the provider never confirms the creation, this is about the time of it.
            await self.context.set(row, looked=clock.seconds_now())
            try:
                look = await lane.judge.caller.batch_interface.make(row.file, row.token)
                await self._follow_created(lane, row, look)
                return
            except CallError as error:
                tried_at = clock.seconds_now() if error.sent and error.kind in RETRIED else None
                if error.kind != "rate_limit" and error.kind not in RETRIED:
                    raise
                await self.context.note_delay(row, error, pause)
            pause = min(LONGEST_PAUSE, 2 * pause)

    async def already_created(self, lane: BatchLane, row: BatchRow) -> bool:
        """Return whether the provider already has a batch of this file, and if so, follow that
        batch.

        Raises ``InputError`` if the provider cannot list batches: creating another might pay twice.
        """
        caller = lane.judge.caller
        rows = await self.context.io(self.context.store.of_run, row.run_id)
        our_batches = {known_row.batch for known_row in rows}
        row = next(known_row for known_row in rows if known_row.id == row.id)
        try:
            batches = await self.context.with_retries(
                row, lambda: caller.batch_interface.find(row, our_batches)
            )
        except CallError as error:
            raise InputError(_UNSURE.format(judge=lane.spec.name, why=error.message)) from None
        for look in batches[:1]:
            await self._follow_created(lane, row, look)
        for duplicate in batches[1:]:
            with contextlib.suppress(CallError):
                await caller.batch_interface.cancel(duplicate.id)
        return bool(batches)

    async def _follow_created(self, lane: BatchLane, row: BatchRow, look: BatchState) -> None:
        now = clock.seconds_now()
        await self.context.set(
            row, status="sent", batch=look.id, said=look.status, message="", sent=now, looked=now,
            due=now + seconds_to_next_check(0.0),
        )  # fmt: skip
        lane.out[row.id] = await self.context.row(row.id)
        log.info(
            "Run %s: batch %s of %s requests was sent.", row.run_id, look.id, row.lines,
            extra={"run": row.run_id},
        )  # fmt: skip
