"""The whole judge over the wire: the same votes, failures, tokens and requests by both doors."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, get_args

import pytest

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import Cell, FailureKind, Vote, VoteFailure
from core.judging.asking import retry
from core.judging.asking.llm_judge import LLMJudge
from core.judging.protocol import Question
from core.judging.providers.bounded import MOST_BYTES
from core.judging.rate_limits import ProviderGate
from tests import provider as answers
from tests.judging.wire import DOORS, KEY, WAYS, opened
from tests.provider import Answer, Provider, ok, status

CRITERION = Criterion(name="c", requirement="Names the capital.", weight=1)
RUBRIC = Rubric(criteria=(CRITERION,))


def ask(
    runner: asyncio.Runner, kind: Any, provider: Provider, key: str | None = KEY, **changes: Any
) -> tuple[Vote | VoteFailure, Any, list[float]]:
    """What a judge of 3 tries says about one question, its call, and the pauses it made."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    given = {"name": "j", "model": "openai/scripted", "api_base": provider.url, "tries": 3}
    way = {"model": "groq/scripted"} if kind == "plain" else {"door": kind}
    spec = Judge(**{**given, **way, **changes})
    item = Item(id="i", submission="It is Canberra.")
    question = Question(Cell("i", "c", "j"), item, RUBRIC, CRITERION, (1, 0, 2), 7)

    async def go() -> Any:
        async with opened(kind) as door:
            gate = ProviderGate(max_refusals=4, sleep=_passing(pauses), clock=_clock(pauses))
            return await LLMJudge(spec, door, key, gate, sleep=sleep).ask(question)

    outcome = runner.run(go())
    (result,) = outcome.results
    return result, outcome.call, pauses


def _passing(pauses: list[float]) -> Callable[[float], Awaitable[None]]:
    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    return sleep


def _clock(pauses: list[float]) -> Callable[[], float]:
    return lambda: sum(pauses)


WIRE: dict[str, tuple[list[Answer], str, int, int | None]] = {
    # name: script, kind ("" for a vote), requests, tokens billed in
    "at once": ([ok(1)], "", 1, 1000),
    "after errors": ([status(500), answers.reset(), ok(1)], "", 3, 1000),
    "errors only": ([status(503)] * 4, "server", 3, None),
    "web pages only": ([answers.html(502)] * 4, "server", 3, None),
    "resets only": ([answers.reset()] * 4, "connection", 3, None),
    "repaired": ([answers.malformed(), ok(1)], "", 2, 2000),
    "twice malformed": ([answers.malformed()] * 3, "malformed", 2, 2000),
    "too large": ([answers.said(" " * MOST_BYTES)], "too_large", 1, None),
    "twice truncated": ([answers.truncated()] * 3, "malformed", 2, 2000),
    "twice out of range": ([ok(4), ok(0)], "out_of_range", 2, 2000),
    "twice null": ([answers.null()] * 3, "empty", 2, 2000),
    "twice without choices": ([answers.plain({"choices": []})] * 3, "empty", 2, None),
    "refusal": ([answers.refusal()], "refusal", 1, 1000),
    "filtered": ([answers.filtered()], "content_filter", 1, 1000),
    "too long": ([status(400, "Reduce the length of the messages.")], "context_length", 1, None),
    "filtered prompt": (
        [status(400, "No.", error_code="content_filter")],
        "content_filter",
        1,
        None,
    ),
    "bad request": ([status(400, "No.")], "bad_request", 1, None),
    "bad key": ([status(401)], "auth", 1, None),
    "no credit": ([status(429, "No.", error_code="insufficient_quota")], "auth", 1, None),
    "no model": ([status(404)], "not_found", 1, None),
    "storm": ([status(429, headers={"Retry-After": "2"})] * 4 + [ok(1)], "", 5, 1000),
    "endless storm": ([status(429)] * 9, "rate_limit", 5, None),
    "no schema": ([status(400, "response_format is unknown")] * 2 + [ok(1)], "", 3, 1000),
}


@pytest.mark.parametrize("name", WIRE)
@pytest.mark.parametrize("kind", WAYS)
def test_a_judge_behaves_the_same_through_both_doors(
    kind: str,
    name: str,
    provider: Provider,
    runner: asyncio.Runner,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script, wanted, requests, billed = WIRE[name]
    provider.say(*script)
    with caplog.at_level(logging.DEBUG, logger="core"):
        result, call, _ = ask(runner, kind, provider)
    assert (result.kind if isinstance(result, VoteFailure) else "") == wanted
    assert (provider.count, call.tries) == (requests, requests)  # counted = on the wire
    assert call.tokens_in == billed
    assert result.order == (1, 0, 2)
    if isinstance(result, Vote):
        assert (result.option, result.reason) == (1, "It fits.")  # shown 1 is choice order[0] = 1
    assert KEY not in repr((result, call)) + caplog.text
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")


@pytest.mark.parametrize("kind", DOORS)
def test_answers_that_do_not_come_in_time_are_tried_as_often_as_the_judge_may(
    kind: str, provider: Provider, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "is_local", lambda spec: False)
    ask(runner, kind, provider)  # litellm's first call takes longer than any of its later ones
    provider.requests.clear()
    provider.say(*[answers.stall()] * 3)
    result, call, _ = ask(runner, kind, provider, timeout=0.5)
    assert isinstance(result, VoteFailure)
    assert (result.kind, provider.count, call.tries) == ("timeout", 3, 3)


@pytest.mark.parametrize("kind", DOORS)
def test_a_local_server_is_not_asked_again_what_it_still_works_on(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    ask(runner, kind, provider)
    provider.requests.clear()
    provider.say(*[answers.stall()] * 3)
    result, call, _ = ask(runner, kind, provider, timeout=0.5)
    assert isinstance(result, VoteFailure)
    assert (result.kind, provider.count, call.tries) == ("timeout", 1, 1)


@pytest.mark.parametrize("kind", DOORS)
def test_without_its_key_nothing_is_sent(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    result, call, _ = ask(runner, kind, provider, key=None, key_env="NO_SUCH_KEY")
    assert isinstance(result, VoteFailure)
    assert (result.kind, provider.count, call) == ("missing_key", 0, None)


def test_every_kind_of_failure_is_driven_here() -> None:
    # "internal" is a defect of ours, which no provider can bring about: see test_llm. "code" is
    # what a judge that is a function raises: see tests/rubric_studio. "expired" is what becomes of
    # a batch: see tests/services/runs/test_batches.py.
    apart = {"timeout", "missing_key", "internal", "code", "expired"}
    assert {kind for _, kind, _, _ in WIRE.values()} - {""} == set(get_args(FailureKind)) - apart


@pytest.mark.parametrize("kind", DOORS)
def test_a_refused_format_is_made_simpler_step_by_step(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(*[status(400, "response_format is unknown")] * 2)
    _, call, pauses = ask(runner, kind, provider)
    formats = [(r.body.get("response_format") or {}).get("type") for r in provider.requests]
    assert formats == ["json_schema", "json_object", None]
    assert (call.params["format"], pauses) == ("words", [])
