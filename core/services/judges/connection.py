"""The connection test: a small real question to a judge, before a run depends on it.

It is called like every question of a run (``LLMJudge`` and its provider), in its own event loop, so
that no page waits for it. The data file keeps the result with a hash of the settings.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from core import clock
from core.domain.access import LOCAL
from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import AskedOutcome, Call, Cell, FailureKind, VoteFailure
from core.errors import InputError
from core.judging.local.own_address import is_patient
from core.judging.protocol import Question
from core.services.access import spending
from core.services.access.allowing import allowed
from core.services.access.providers import require_allowed
from core.services.judges.panel_setup import key_of, values_of_secrets
from core.store.database.content import noun_hash
from core.store.store import Store
from core.text.numbers import seconds

#: Seconds that a test may take longer than its timeout: the first test imports litellm.
GRACE = 40.0

_RUBRIC = Rubric(
    name="Connection test",
    criteria=(
        Criterion(
            name="Capital of France",
            requirement="The submission says that Paris is the capital of France.",
        ),
    ),
)
_ITEM = Item(id="connection-test", submission="The capital of France is Paris.")


@dataclass(frozen=True, slots=True)
class ConnectionResult:
    """The result of a connection test. Unknown values are ``None``.

    ``settings`` is the hash of the tested settings, ``when`` ISO UTC text. ``answer`` is the label
    the judge chose and ``right`` whether it is the true one. Without an answer, ``failure`` is the
    kind of failure and ``message`` explains it without the key. ``seconds`` is the last try's
    duration, ``cost`` in US dollars, ``tries`` requests on the wire.
    """

    judge: str
    settings: str
    when: str
    answer: str = ""
    right: bool | None = None
    reason: str = ""
    failure: FailureKind | None = None
    message: str = ""
    model: str = ""
    seconds: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    tries: int = 0

    @property
    def ok(self) -> bool:
        """Return whether the judge answered, rightly or wrongly."""
        return self.failure is None


def check_connection(
    judge: Judge, *, timeout: float | None = None, on_sent: Callable[[], object] = lambda: None
) -> ConnectionResult:
    """Ask ``judge`` one question in another thread, and return the result.

    Args:
        judge: its settings; its key is taken from the environment.
        timeout: seconds for all tries; by default the judge's own, and none for a local server
            that responds.
        on_sent: called when the question was sent, which shows that the server can be reached.

    Raises:
        InputError: the judge is offline or imported, so it has nothing to connect to; or it may
            not be called from here.
    """
    if judge.offline:
        raise InputError(
            f"{judge.name} works on this machine and needs no connection. It needs labelled items."
        )
    if not judge.askable:
        raise InputError(f"{judge.name} was imported with its votes and cannot be asked here.")
    require_allowed([judge])
    if timeout is None and not is_patient(judge):
        timeout = judge.timeout
    future = asyncio.run_coroutine_threadsafe(_ask_judge(judge, timeout, on_sent), loop())
    try:
        outcome = future.result(None if timeout is None else timeout + GRACE)
    except TimeoutError:
        future.cancel()
        outcome = _timed_out(timeout or 0)
    return _result(judge, outcome)


@lru_cache(maxsize=1)
def loop() -> asyncio.AbstractEventLoop:
    """Return the event loop, in its own thread, for model calls that no page waits for."""
    # litellm binds its clients to the loop that created them, so all calls share one loop.
    started = asyncio.new_event_loop()
    threading.Thread(target=started.run_forever, name="models", daemon=True).start()
    return started


async def _ask_judge(
    judge: Judge, timeout: float | None, on_sent: Callable[[], object]
) -> AskedOutcome:
    """Return the result at the judge's address; of several addresses, the first failure."""
    single_check = [
        judge.model_copy(update={"api_base": address, "replicas": ()})
        for address in (judge.api_base, *judge.replicas)
    ]
    outcomes = await asyncio.gather(
        *(_ask_at(judge_at, timeout, on_sent) for judge_at in single_check)
    )
    failed = [
        (judge_at.api_base, outcome, first)
        for judge_at, outcome in zip(single_check, outcomes, strict=True)
        if isinstance(first := outcome.results[0], VoteFailure)
    ]
    if not failed or len(single_check) == 1:
        return outcomes[0]
    address, outcome, failure = failed[0]
    message = f"{len(failed)} of {len(single_check)} addresses failed. {address}: {failure.message}"
    return replace(outcome, results=(replace(failure, message=message),))


async def _ask_at(
    judge: Judge, timeout: float | None, on_sent: Callable[[], object]
) -> AskedOutcome:
    from core.judging.asking.llm_judge import LLMJudge
    from core.judging.providers.choice import open_provider, provider_for
    from core.judging.rate_limits import ProviderGate

    provider = open_provider(provider_for(judge, os.environ), os.environ)
    if provider.name == "litellm":
        await asyncio.to_thread(_warm_up)
    key = key_of(judge)
    # A run would wait and retry after a refusal, but a test reports it at once.
    limit = judge.timeout if timeout is None else timeout
    gate = ProviderGate(max_refusals=1, max_wait=limit / 2)
    spec = judge.model_copy(
        update={"tries": min(2, judge.tries), "timeout": min(limit, judge.timeout)}
    )

    def out(n_calls: int) -> None:
        if n_calls > 0:
            on_sent()

    try:
        judge_asked = LLMJudge(
            *(spec, provider, key, gate),
            known_replies=values_of_secrets(spec),
            on_call=out,
        )
        return await asyncio.wait_for(judge_asked.ask(_question(spec)), timeout)
    except TimeoutError:
        return _timed_out(limit)
    finally:
        await provider.close()


def _warm_up() -> None:
    from core.judging.providers.litellm_provider import load_litellm

    load_litellm()


def _cell(judge: str) -> Cell:
    return Cell(_ITEM.id, _RUBRIC.criteria[0].name, judge)


def _question(judge: Judge) -> Question:
    criterion = _RUBRIC.criteria[0]
    order = tuple(range(len(criterion.choices)))
    return Question(_cell(judge.name), _ITEM, _RUBRIC, criterion, order, seed=0)


def _timed_out(timeout: float) -> AskedOutcome:
    failure = VoteFailure(_cell(""), "timeout", f"There was no answer within {timeout:g} seconds.")
    return AskedOutcome((failure,))


def _result(judge: Judge, outcome: AskedOutcome) -> ConnectionResult:
    result = outcome.results[0]
    details: dict[str, Any] = {}
    if isinstance(result, VoteFailure):
        details = {"failure": result.kind, "message": result.message}
    elif result.option is not None:
        choice = _RUBRIC.criteria[0].choices[result.option]
        details = {"answer": choice.label, "right": result.option == 0, "reason": result.reason}
    return ConnectionResult(
        judge.name, noun_hash(judge), clock.now(), **details, **_cost_data(outcome.call)
    )


def _cost_data(call: Call | None) -> dict[str, Any]:
    if call is None:
        return {}
    names = ("model", "seconds", "tokens_in", "tokens_out", "cost", "tries")
    return {name: getattr(call, name) for name in names}


def last_result(store: Store, judge: str) -> ConnectionResult | None:
    """Return the result of the last test of the judge with this name, or ``None``."""
    stored = store.settings.get(_address_of(judge))
    return None if stored is None else ConnectionResult(**stored)


def _address_of(judge: str) -> str:
    return f"connection/{judge}"


@dataclass(slots=True)
class _Test:
    """A running test: when it started, and when its question was sent, by a monotonic clock."""

    thread: threading.Thread
    began: float
    sent: float | None = None


#: The running tests of this process, by data file and judge.
_running: dict[tuple[str, str], _Test] = {}


@allowed("set judges")
def begin(store: Store, judge: Judge) -> None:
    """Test ``judge`` in the background; ``last_result`` returns the result later.

    A running test is not started twice. Its cost counts towards the current user's month; if that
    month's limit is used up, the judge is not called.
    """
    require_allowed([judge], store.actor)
    spending.require_amount_left(store, judge)
    if not is_running(store, judge.name):
        arguments = (store.acting(LOCAL), judge, store.actor.name)
        thread = threading.Thread(target=_keep_result, args=arguments, daemon=True)
        _running[str(store.path), judge.name] = _Test(thread, time.monotonic())
        thread.start()


def tested_now(store: Store) -> frozenset[str]:
    """Return the judges with a running test in this process.

    Call this before reading results. A result that arrives in between is then shown, and a judge
    listed as running is checked again.
    """
    path = str(store.path)
    return frozenset(
        judge
        for (file, judge), test in list(_running.items())
        if file == path and test.thread.is_alive()
    )


def is_running(store: Store, judge: str) -> bool:
    """Return whether a test of the judge with this name is running in this process."""
    test = _running.get((str(store.path), judge))
    return test is not None and test.thread.is_alive()


def test_progress(store: Store, judge: str) -> str:
    """Return the progress of a running test in words; empty without one."""
    test = _running.get((str(store.path), judge))
    if test is None or not test.thread.is_alive():
        return ""
    since = "connecting" if test.sent is None else "connected, working"
    return f"{since} for {seconds(time.monotonic() - (test.sent or test.began))}"


def _keep_result(store: Store, judge: Judge, person: str) -> None:
    test = _running[str(store.path), judge.name]

    def sent() -> None:
        test.sent = test.sent or time.monotonic()

    try:
        result = check_connection(judge, on_sent=sent)
        if result.cost:
            spending.note_test(store, person, judge, result.cost)
        store.settings.put(_address_of(judge.name), asdict(result))
    finally:
        store.close()
