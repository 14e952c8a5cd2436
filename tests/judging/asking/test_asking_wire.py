"""What goes over the wire for every way of asking, by both doors, and the votes that come of it."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import AskedOutcome, Cell, Vote, VoteFailure
from core.judging.asking.llm_judge import LLMJudge
from core.judging.prompts.assembly import build_prompt
from core.judging.prompts.layouts import chat_messages
from core.judging.protocol import Example, Question
from core.judging.rate_limits import ProviderGate
from tests.judging.asked import CAPITAL, DEPTH, FULL, PLAIN, question, whole
from tests.judging.prompts.test_hostile import HOSTILE
from tests.judging.wire import DOORS, opened
from tests.provider import Provider, ok, said, status

pytestmark = pytest.mark.parametrize("kind", DOORS)


def put(
    runner: asyncio.Runner, kind: Any, provider: Provider, asked: Question, **settings: Any
) -> AskedOutcome:
    given = {"name": "judge", "model": "openai/scripted", "api_base": provider.url, "door": kind}

    async def go() -> AskedOutcome:
        async with opened(kind) as door:
            spec = Judge(**{**given, **settings})
            return await LLMJudge(spec, door, None, ProviderGate()).ask(asked)

    return runner.run(go())


def sent(provider: Provider, index: int = 0) -> list[dict[str, str]]:
    got: list[dict[str, str]] = provider.requests[index].body["messages"]
    return got


def user_text(provider: Provider, index: int = 0) -> str:
    return sent(provider, index)[1]["content"]


def option(outcome: AskedOutcome) -> int | None:
    (vote,) = outcome.results
    assert isinstance(vote, Vote)
    return vote.option


def test_guidelines_task_and_reference_are_sent_in_blocks_before_the_submission(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    asked = question(CAPITAL, FULL, guidelines="Spelling does not matter.", order="102")
    assert option(put(runner, kind, provider, asked)) == 1  # shown 1 is choice 1
    text = user_text(provider)
    places = [
        text.index(f">>>\n{words}\n<<<END {title}")
        for title, words in (
            ("GUIDELINES", "Spelling does not matter."),
            ("TASK", "Name the capital of Australia."),
            ("REFERENCE", "Canberra (since 1927)"),
            ("SUBMISSION", "It is Canberra."),
        )
    ]
    assert places == sorted(places)
    assert sent(provider) == chat_messages(build_prompt(asked).segments)


def test_a_rubric_of_the_items_own_is_what_is_sent(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    own = Rubric(
        guidelines="Own guidelines.",
        criteria=(Criterion(name="own", requirement="Names a river."),),
    )
    item = Item(id="i", submission="The Murray.", rubric=own)
    cell = Cell("i", "own", "judge")
    provider.say(ok(2))
    asked = Question(cell, item, own, own.criteria[0], (0, 1, 2), 7)
    assert option(put(runner, kind, provider, asked)) == 1
    for words in ("Own guidelines.", "Names a river.", "The Murray."):
        assert words in user_text(provider)


@pytest.mark.parametrize("layout", ["item_first", "criterion_first"])
def test_examples_are_sent_with_their_options_as_this_call_shows_them(
    layout: Any, kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    shots = (
        Example(Item(id="e1", submission="Sydney."), "capital", 1, "Wrong city."),
        Example(Item(id="e2", submission="Canberra!"), "capital", 0),
    )
    asked = replace(question(CAPITAL, order="102"), examples=shots, layout=layout)
    provider.say(ok(2))
    outcome = put(runner, kind, provider, asked)
    assert option(outcome) == 0  # shown 2 is choice 0
    text = user_text(provider)
    names = ("1 (UNMET)", "2 (MET)") if layout == "item_first" else ("UNMET", "MET")
    for number, (example, name) in enumerate(zip(shots, names, strict=True), start=1):
        assert f"\n{example.item.submission}\n<<<END EXAMPLE {number} SUBMISSION" in text
        assert f"Option chosen in example {number}: {name}\n" in text
    assert "Wrong city." in text
    assert ("e1" in text, text.count("TASK")) == (False, 0)  # theirs is the question's: none
    first, last = text.index("Sydney."), text.index("It is Canberra.")
    assert (first < last) == (layout == "criterion_first")
    assert outcome.call is not None
    assert outcome.call.params["examples"] == ["e1", "e2"]


def test_the_whole_rubric_is_one_request_and_each_entry_its_own_vote(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    asked = whole(CAPITAL, DEPTH, orders="102 2013")
    reply = {
        "c1": {"evidence": ["Canberra"], "reason": "Named.", "option": 2},
        "c2": {"evidence": [], "reason": "No.", "option": 7},
    }
    provider.say(said(json.dumps(reply)))
    outcome = put(runner, kind, provider, asked)
    first, second = outcome.results
    assert isinstance(first, Vote)
    assert (first.option, first.evidence, first.order) == (0, ("Canberra",), (1, 0, 2))
    assert isinstance(second, VoteFailure)
    assert (second.kind, second.cell.criterion) == ("out_of_range", "depth")
    assert provider.count == 1
    body = provider.requests[0].body
    schema = body["response_format"]["json_schema"]["schema"]
    bounds = [schema["properties"][c]["properties"]["option"]["maximum"] for c in ("c1", "c2")]
    assert bounds == [3, 4]
    assert sent(provider) == chat_messages(build_prompt(asked).segments)
    for words in ("CRITERION c1\nNames the capital", "OPTIONS of c2\n1. fully:"):
        assert words in user_text(provider)


def test_the_whole_rubric_is_asked_in_words_where_no_format_is_known(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    entry = {"evidence": [], "reason": "r", "option": 1}
    told = f"Sure!\n```json\n{json.dumps({'c1': entry, 'c2': entry})}\n```"
    provider.say(*[status(400, "response_format is unknown")] * 2, said(told))
    outcome = put(runner, kind, provider, whole(CAPITAL, DEPTH))
    assert all(isinstance(result, Vote) for result in outcome.results)
    assert "response_format" not in provider.requests[-1].body


def test_two_steps_are_two_requests_of_one_conversation(
    kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    asked = replace(question(CAPITAL, order="102"), mode="two_step")
    provider.say(said("It names Canberra, which is right."), ok(2))
    outcome = put(runner, kind, provider, asked)
    (vote,) = outcome.results
    assert isinstance(vote, Vote)
    assert (vote.option, vote.reason) == (0, "It names Canberra, which is right.")
    assert (vote.evidence, provider.count) == (("a quote",), 2)
    first, second = (request.body for request in provider.requests)
    assert "response_format" not in first
    assert second["response_format"]["type"] == "json_schema"
    assert second["messages"][:2] == first["messages"]
    assert [m["role"] for m in second["messages"]] == ["system", "user", "assistant", "user"]
    assert second["messages"][2]["content"] == "It names Canberra, which is right."
    assert second["messages"][3]["content"].startswith("Now choose the one option")
    call = outcome.call
    assert call is not None
    # The provider bills 1,000 tokens in and 50 out, 20 of them thinking, for each.
    assert (call.tries, call.tokens_in, call.tokens_out, call.tokens_thinking) == (2, 2000, 100, 40)
    assert chat_messages(call.prompt) == second["messages"]  # the page shows exactly what was sent


@pytest.mark.parametrize(("level", "wanted"), [("high", "high"), ("off", "none"), (None, None)])
def test_a_level_of_thinking_is_sent_and_the_trace_is_kept(
    level: Any, wanted: str | None, kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    provider.say(ok(1, reasoning_content="Let me see."))
    # litellm knows which models take a level; gpt-5.1 takes all of them.
    model = "openai/gpt-5.1" if kind == "litellm" else "scripted"
    outcome = put(runner, kind, provider, question(CAPITAL), model=model, thinking=level)
    assert option(outcome) == 0
    assert provider.requests[0].body.get("reasoning_effort") == wanted
    assert outcome.call is not None
    assert (outcome.call.thinking, outcome.call.tokens_thinking) == ("Let me see.", 20)


@pytest.mark.parametrize("mode", ["criterion", "rubric", "two_step"])
def test_hostile_text_arrives_as_it_is_and_changes_no_vote(
    mode: Any, kind: str, provider: Provider, runner: asyncio.Runner
) -> None:
    text = "\n".join(HOSTILE.values())
    item = PLAIN.model_copy(update={"submission": text})
    shots = (Example(Item(id="e", submission=text), "capital", 0, "Why not."),)
    asked = replace(question(CAPITAL, item), mode=mode, examples=shots)
    reply = json.loads(json.loads(ok(3).body)["choices"][0]["message"]["content"])
    provider.rule = lambda body: said(json.dumps({"c1": reply} if mode == "rubric" else reply))
    outcome = put(runner, kind, provider, asked)
    (vote,) = outcome.results
    assert isinstance(vote, Vote)
    assert (vote.option, vote.abstained) == (2, True)
    assert user_text(provider).count(text) == 2
    assert sent(provider) == chat_messages(build_prompt(asked).segments)
