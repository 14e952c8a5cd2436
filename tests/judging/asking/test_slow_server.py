"""A slow local server is waited for while it is there, and is not asked the same thing twice."""

import asyncio

import pytest

from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, Call, Cell, Vote, VoteFailure
from core.judging.local.own_address import is_local, is_patient, is_private_address
from core.judging.providers import connections
from core.judging.turns import QuestionTurns
from tests import provider as answers
from tests.judging.asking.test_judge_wire import ask
from tests.judging.wire import complete, request
from tests.provider import Answer, Provider, ok


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BEAT", 0.02)
    monkeypatch.setattr(connections, "ANSWERS_WITHIN", 5.0)


@pytest.mark.parametrize("kind", ["openai", "plain", "litellm"])
def test_a_slow_answer_is_waited_for_beyond_any_timeout(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(Answer(body=ok().body, stall=0.4))
    completion = complete(runner, kind, request(provider, timeout=0.1, patient=True))
    assert completion.text  # type: ignore[union-attr]
    assert provider.count == 1
    assert provider.beats > 1


@pytest.mark.parametrize("kind", ["openai", "litellm"])
def test_a_server_that_is_silent_on_everything_is_given_up_after_one_request(
    kind: str, provider: Provider, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete(runner, kind, request(provider))  # what a first call loads takes its time
    monkeypatch.setattr(connections, "ANSWERS_WITHIN", 0.05)
    monkeypatch.setattr(connections, "SILENCE", 0.5)
    provider.mute = True
    provider.say(*[answers.stall()] * 3)
    result, call, _ = ask(runner, kind, provider)
    assert isinstance(result, VoteFailure)
    assert (result.kind, provider.count - 1, call.tries) == ("timeout", 1, 1)
    assert "silent" in result.message


def test_a_refusal_of_the_heartbeat_shows_a_server_that_is_there(
    provider: Provider, runner: asyncio.Runner
) -> None:
    # Its address has no list of models, so the answer to a heartbeat is 404.
    provider.say(Answer(body=ok().body, stall=0.3))
    far = request(provider, patient=True, api_base=provider.url + "/openai/deployments/x")
    assert complete(runner, "openai", far).text  # type: ignore[union-attr]
    assert provider.beats == 0


@pytest.mark.parametrize("kind", ["openai", "litellm"])
def test_a_timeout_that_somebody_chose_holds_for_local_servers_too(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    complete(runner, kind, request(provider))
    provider.say(answers.stall())
    result, _, _ = ask(runner, kind, provider, timeout=1.0)
    assert isinstance(result, VoteFailure)
    assert result.kind == "timeout"


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("http://localhost:11434", True),
        ("http://[::1]:8000/v1", True),
        ("http://192.168.1.7:8000/v1", True),
        ("http://gpu-box:8000/v1", True),
        ("http://gpu.local/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://8.8.8.8/v1", False),
        ("http://[bad", False),
    ],
)
def test_own_addresses_are_loopback_and_private_ones(address: str, own: bool) -> None:
    assert is_private_address(address) is own


def test_judges_are_local_by_their_address_or_their_provider() -> None:
    assert is_local(Judge(name="j", model="ollama_chat/llama3.2"))
    assert not is_local(Judge(name="j", model="groq/x"))
    assert is_patient(Judge(name="j", model="m", api_base="http://127.0.0.1:1/v1"))
    assert not is_patient(Judge(name="j", model="m", api_base="http://127.0.0.1:1/v1", timeout=90))


def test_a_local_judge_is_asked_one_question_until_it_answered_one() -> None:
    judge = Judge(name="j", model="m", api_base="http://127.0.0.1:1/v1")
    far = Judge(name="k", model="m", api_base="https://a.example/v1")
    turns = QuestionTurns()
    assert [turns.acquire_now(judge), turns.acquire_now(judge)] == [True, False]
    assert [turns.acquire_now(far), turns.acquire_now(far)] == [True, True]
    vote = Vote(Cell("i", "c", "j"), 0, False)
    turns.report(judge, AskedOutcome((vote,), Call((), {}, "{}")))
    assert [turns.acquire_now(judge), turns.acquire_now(judge)] == [True, True]


def test_a_judge_that_answered_late_gives_its_vote(
    provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(Answer(body=ok().body, stall=0.2))
    result, call, _ = ask(runner, "openai", provider)
    assert isinstance(result, Vote)
    assert call.tries == 1


def test_an_unexpected_error_of_the_question_whether_it_is_there_ends_the_wait(
    runner: asyncio.Runner,
) -> None:
    async def broken() -> None:
        raise KeyError("models")

    with pytest.raises(KeyError, match="models"):
        runner.run(connections.wait_while_alive(asyncio.sleep(60), broken))
