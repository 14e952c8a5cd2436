"""Process one leased run: call judges, record outcomes in groups, release the lease.

The database is the truth. Each group of outcomes is one transaction guarded by the lease's fence,
so a process that lost its lease cannot write. A run's remaining work is its plan minus its votes
and open failures: a kill loses only calls in flight.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from itertools import takewhile
from typing import Any, TypeVar

from core import clock
from core.domain.runs import WAITING, Lease, RunStatus
from core.domain.votes import AskedOutcome, VoteFailure
from core.errors import Conflict, RubricStudioError, StoreError, WriteBlocked
from core.judging.asking.batch_judge import BatchJudge
from core.judging.protocol import AskableJudge
from core.judging.turns import QuestionTurns
from core.services.access.spending import limit_of_run
from core.services.results.verdicts import counting_of, rubric_lookup
from core.services.runs import ready_run
from core.services.runs.batches.context import BatchContext
from core.services.runs.batches.working import BatchWork
from core.services.runs.cluster.asking import NO_CLUSTER, ClusterConnection, outcomes_of
from core.services.runs.cluster.credit import Receipts
from core.services.runs.cluster.joining import ClusterGone
from core.services.runs.cluster.training import needs_help, train_on_cluster
from core.services.runs.held_work import (
    Recorder,
    WaitingQuestions,
    budget_message,
    calling_beat,
    collecting_less_often,
    in_thread,
    keep_columns,
    noting_questions,
    trim_answers,
    unwritable_outcome,
)
from core.services.runs.questions import AskingRound, Selector, Wanted, rounds_of, wants_every_cell
from core.services.runs.ready_run import Job, KeptAnswers, Providers, load_job, ready_judges
from core.store.runs.logbook import Logbook
from core.store.runs.stops import cells_to_skip
from core.store.store import Store

log = logging.getLogger(__name__)
LEASE_SECONDS = 10.0
BEAT_EVERY = 1.0
#: Seconds between attempts to write a locked data file, and of attempts at a run's end.
TRY_EVERY, LAST_SECONDS = 0.5, 5.0
#: Seconds that an ending process waits for calls in flight.
GRACE = 5.0
PASSED_OVER = "Not asked: the process that asked this stopped twice. Retry asks it again."

ResultT = TypeVar("ResultT")


class RunningWork:
    """One run being processed. ``leave`` ends it early, in a given status."""

    def __init__(
        self,
        store: Store,
        lease: Lease,
        providers: Providers,
        io: Executor,
        book: Logbook,
        cluster: ClusterConnection = NO_CLUSTER,
    ) -> None:
        self.store, self.lease, self.providers, self._io = store, lease, providers, io
        self._book, self._cluster = book, cluster
        #: Whether calls are in flight for which an ending process may wait.
        self._asking = False
        self.stop = asyncio.Event()
        self.left_as: RunStatus | None = None
        self.lost = False
        #: The run only waits for a provider's batches, so the worker may start other runs.
        self.resting = False
        self._gone: StoreError | None = None
        self._recorder: Recorder | None = None
        self._receipts = Receipts()
        self._trouble = ""
        self._judges: dict[str, AskableJudge] = {}
        #: The last notes on addresses and waits: by this worker, and by earlier ones.
        self._noted, self._before = dict[str, Any](), dict[str, Any]()
        self._waiting = WaitingQuestions()
        #: Calls that went out and whose outcome is not on disk yet.
        self._out = 0

    def leave(self, status: RunStatus, wait: float = 0.0) -> None:
        """Make no more calls, and leave the run in ``status``. Calls in flight get ``wait`` seconds
        to finish; with 0 they are cancelled.
        """
        if self.left_as is None:
            self.left_as = status
        if not (wait and self._asking):
            self.stop.set()
            return
        fields = {"run": self.lease.run_id, "wait": wait}
        log.warning(
            "Run %(run)s ends: it waits at most %(wait)g s for the calls that are out. A second "
            "signal ends it at once.", fields, extra={"run": self.lease.run_id},
        )  # fmt: skip
        asyncio.get_running_loop().call_later(wait, self.stop.set)

    async def run(self) -> RunStatus | None:
        """Work until the run is finished or stopped; return ``None`` if the lease was lost."""
        started, fields = time.monotonic(), {"run": self.lease.run_id}
        log.info("Run %(run)s has started.", fields, extra=fields)
        status: RunStatus = "failed"
        message = ""
        if self.lease.cancel:
            self.leave("cancelled")
        try:
            async with calling_beat(self._renew_lease, BEAT_EVERY):
                with collecting_less_often():
                    status, message = await self._work_until_end()
        except Conflict:
            self.lost = True
            return None
        except StoreError:
            self.lost = True  # not even the final status can be written
            raise
        except ClusterGone as error:
            status, message = "interrupted", str(error)
        except RubricStudioError as error:
            message = str(error)
        except Exception as error:
            log.exception("run %s failed", self.lease.run_id, extra={"run": self.lease.run_id})
            message = f"A defect in the program stopped this run: {error!r}"
            raise
        finally:
            if not self.lost:
                await self._release_run(status, message, time.monotonic() - started)
            self._book.end(self.lease.run_id)
        log.info("Run %s: %s.", self.lease.run_id, status, extra=fields)
        return status

    async def _work_until_end(self) -> tuple[RunStatus, str]:
        job = await self.io(load_job, self.store, self.lease.run_id)
        self._book.begin(self.lease.run_id, self.lease.fence, job.run.calls)
        answers = KeptAnswers(self.store) if job.plan.panel.asking.cache else None
        judges = [judge for judge in job.plan.panel.judges if not judge.offline]
        flying = sum(judge.concurrency for judge in judges)
        recorder = Recorder(partial(self._record_group, job), self.stop.set, flying)
        self._recorder = recorder
        try:
            return await self._ask_all(job, recorder, answers)
        finally:
            await recorder.close()
            if answers is not None:
                await answers.close()
            if recorder.unwritten:
                await self._save_answers(recorder.unwritten)
            elif answers is not None:
                await self.io(trim_answers, self.store, answers.used)

    async def _ask_all(
        self, job: Job, recorder: Recorder, kept: KeptAnswers | None
    ) -> tuple[RunStatus, str]:
        long = needs_help(job)
        cluster = await self._cluster.cluster(job.plan.panel.judges, long=long)
        judges, notes = await ready_judges(
            *(job, self.providers, kept, partial(self._count_call, recorder)),
            train=partial(train_on_cluster, cluster) if long and cluster is not None else None,
        )
        if cluster is not None:
            notes = {**notes, "cluster": cluster.record()}
        await self.with_retries(self.store.runs.set_notes, job.run.id, notes)
        self._judges, self._before = judges, job.run.notes.get(ready_run.ADDRESSES, {})
        turns = QuestionTurns(await self.io(limit_of_run, self.store, job.run), job.run.cost)
        context = BatchContext(self, job, recorder, turns)
        batches = BatchWork(context, [j for j in judges.values() if isinstance(j, BatchJudge)])
        try:
            await self._fail_stopping_cells(job, recorder)
            asker = job.asker
            for index, round_ in enumerate(rounds_of(job.plan.panel)):
                wanted = await self._wanted_cells(job, round_) if index else wants_every_cell
                cells = {
                    j.name: takewhile(self._may_continue, asker.questions(j, job.done, wanted))
                    for j in round_.judges
                    if j.name not in batches.lanes
                }
                await self._take_answers(
                    outcomes_of(
                        *(cluster, cells, judges),
                        stop=self.stop, turns=turns, ready=recorder.ready, kept=kept,
                        on_call=partial(self._count_call, recorder), receipts=self._receipts,
                        watch=noting_questions(self._book, job.run.id, self._waiting),
                    ),
                    recorder,
                )  # fmt: skip
                await batches.ask(round_.judges, wanted)
                await recorder.drain()
                if self.stop.is_set() or turns.exhausted:
                    break
            if self.left_as == "cancelled":
                await batches.cancel()
                await recorder.drain()
        finally:
            for judge in judges.values():
                await judge.close()
            await self._note_counts()
        if self._gone is not None:
            raise self._gone
        if self.left_as is not None:
            return self.left_as, ""
        if turns.exhausted:
            return "budget", budget_message(turns, job.plan.seed)
        return "done", ""

    async def _take_answers(self, answers: AsyncIterator[AskedOutcome], recorder: Recorder) -> None:
        """Record answers as they come, including the last ones after the run was left."""
        self._asking = self._may_continue()
        async for outcome in answers:
            recorder.add(outcome)
        self._asking = False
        if not self._may_continue():
            self.stop.set()

    def _may_continue(self, *_: object) -> bool:
        return self.left_as is None

    async def _fail_stopping_cells(self, job: Job, recorder: Recorder) -> None:
        """Fail cells that stopped earlier workers of this run, without grading them."""
        cells = cells_to_skip(job.run.notes)
        failed = [VoteFailure(cell, "internal", PASSED_OVER) for cell in cells]
        for failure in failed:
            if failure.cell not in job.done:
                recorder.add(AskedOutcome((failure,)))
        if cells:
            job.done.update(cells)
            await recorder.drain()
            await self.with_retries(self.store.runs.set_notes, job.run.id, {"passed_over": []})

    async def _wanted_cells(self, job: Job, round_: AskingRound) -> Wanted:
        """Return which cells a later round grades, by the votes of earlier rounds."""
        panel = job.plan.panel
        ballots = await self.io(self.store.votes.ballots, job.run.id)
        confidences = await self.io(self.store.votes.confidences, job.run.id)
        lookup = rubric_lookup(job.rubric, job.items)
        selector = Selector(panel, job.plan.replicates, counting_of(job.plan), lookup, confidences)
        cells = await asyncio.to_thread(selector.cells_to_grade, round_, ballots)
        return lambda item, criterion: (item, criterion) in cells

    async def _record_group(self, job: Job, outcomes: Sequence[AskedOutcome]) -> None:
        """Record a group. If one outcome cannot be recorded, record the others, and that one as a
        failure.
        """
        write = partial(
            self.store.votes.record,
            owner=self.lease.owner,
            fence=self.lease.fence,
            now=clock.now(),
            derive=job.derive,
            out=self._out - (calls := sum(map(_counted_calls, outcomes))),
        )
        try:
            await self.with_retries(write, self.lease.run_id, outcomes)
        except RubricStudioError:
            raise
        except Exception as error:
            half = len(outcomes) // 2
            if half:
                await self._record_group(job, outcomes[:half])
                await self._record_group(job, outcomes[half:])
                return
            as_failures = unwritable_outcome(outcomes[0], error)
            if as_failures == outcomes[0]:
                raise
            log.exception("an outcome of run %s could not be recorded", self.lease.run_id)
            await self._record_group(job, [as_failures])
            return
        self._out -= calls
        # Calls in batches are counted only when their answers come back.
        batched = (
            sum(outcome.call.calls for outcome in outcomes if outcome.call is not None) - calls
        )
        self._book.went_out(self.lease.run_id, batched)
        self._receipts.recorded(outcomes)

    async def _note_counts(self) -> None:
        """Note the counts per address and the longest wait, if they changed."""
        counts = ready_run.address_counts(self._judges, self._before)
        notes = {ready_run.ADDRESSES: counts, WAITING: self._waiting.longest_wait()}
        if notes != (self._noted or {key: {} for key in notes}):
            self._noted = notes
            with suppress(StoreError):
                await self.io(self.store.runs.set_notes, self.lease.run_id, notes)

    def _count_call(self, recorder: Recorder, count: int) -> None:
        """Count calls that went out, and save the count soon so that it survives a kill."""
        self._out += count
        self._book.went_out(self.lease.run_id, count)
        recorder.wake_writer()

    async def _save_answers(self, outcomes: Sequence[AskedOutcome]) -> None:
        """Save the answers of outcomes that could not be recorded, since they were paid for."""
        answers = [answer for outcome in outcomes for answer in outcome.answers]
        try:
            await self.io(partial(self.store.responses.put, now=clock.now()), answers)
        except StoreError as error:
            raise StoreError(
                f"{error} Not recorded, and to be asked again: {len(outcomes)} that were answered."
            ) from None

    async def with_retries(self, call: Callable[..., ResultT], *arguments: object) -> ResultT:
        """Call ``call`` in the writer's thread, and retry while the file cannot be written.

        Once the run is stopping, retry for ``LAST_SECONDS`` more; then raise ``WriteBlocked``.
        """
        last = math.inf
        while True:
            try:
                result = await self.io(call, *arguments)
            except WriteBlocked as error:
                self._log_delay(str(error))
                if self.stop.is_set():
                    last = min(last, time.monotonic() + LAST_SECONDS)
                if time.monotonic() >= last:
                    raise
            else:
                self._log_delay("")
                return result
            await asyncio.sleep(TRY_EVERY)

    def _log_delay(self, reason: str) -> None:
        """Log once why recording is impossible, and once that it continues."""
        if reason:
            self._may_ask(False)
        if reason and not self._trouble:
            log.warning(
                "Run %s waits: %s What was answered is kept in memory, nothing more is asked, and "
                "it goes on by itself as soon as it can be recorded.", self.lease.run_id, reason,
                extra={"run": self.lease.run_id},
            )  # fmt: skip
        elif self._trouble and not reason:
            fields = {"run": self.lease.run_id}
            log.warning("Run %(run)s goes on: what was answered is recorded.", fields, extra=fields)
            self._may_ask(True)
        self._trouble = reason

    def _may_ask(self, may: bool) -> None:
        if self._recorder is not None:
            (self._recorder.ready.set if may else self._recorder.ready.clear)()

    async def _renew_lease(self) -> bool:
        """Renew the lease. A request to cancel, or a lost lease, stops the work."""
        renew = partial(self.store.leases.heartbeat, at=clock.seconds_now(), seconds=LEASE_SECONDS)
        try:
            beat = await self.io(renew, self.lease)
        except WriteBlocked:
            raise
        except StoreError as error:
            self._gone = error
            self.leave("interrupted")
            return False
        if beat is None:
            self.lost = True
            self.leave("interrupted")
            return False
        if beat:
            self.leave("cancelled")
        await self._note_counts()
        return True

    async def _release_run(self, status: RunStatus, message: str, seconds: float) -> None:
        await self.with_retries(
            partial(
                self.store.leases.release,
                now=clock.now(),
                message=message,
                seconds=seconds,
                lost=self._out,
            ),
            self.lease,
            status,
        )
        await self.io(keep_columns, self.store, self.lease.run_id)
        # From here on, a copy of the file contains the whole run.
        await self.io(self.store.checkpoint)

    def io(self, call: Callable[..., ResultT], *arguments: object) -> Awaitable[ResultT]:
        """Run a store call in the writer's thread."""
        return in_thread(self._io, call, *arguments)


def _counted_calls(outcome: AskedOutcome) -> int:
    """Return how many calls of an outcome were counted when they went out; batch calls were not."""
    call = outcome.call
    return 0 if call is None or call.params.get("batch") else call.calls
