"""The chances of the options, read from the log-probabilities of the number a judge wrote."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from core.domain.votes import Vote, VoteFailure
from core.judging.prompts.option_chances import OptionProbabilities, option_spreads
from core.judging.prompts.reply_parsing import read_replies, read_reply
from core.judging.providers.logprobs import number_tokens
from tests.judging.asking.test_judge_wire import ask
from tests.judging.wire import DOORS
from tests.provider import Provider, ok, status, sure, token


def voted(runner: asyncio.Runner, kind: str, provider: Provider, **settings: Any) -> Vote:
    result, *_ = ask(runner, kind, provider, logprobs=True, **settings)
    assert isinstance(result, Vote)
    return result


@pytest.mark.parametrize("kind", DOORS)
def test_the_chances_of_the_numbers_become_those_of_the_authors_options(
    runner: asyncio.Runner, provider: Provider, kind: str
) -> None:
    # Shown as 1: UNMET, 2: MET, 3: cannot assess. What is no number of an option is .2 in all.
    provider.say(sure(2, _2=0.4, _1=0.3, _3=0.1, _7=0.05, _no=0.05))
    vote = voted(runner, kind, provider)
    assert vote.option == 0
    assert vote.probabilities == pytest.approx((0.4, 0.3, 0.1))  # as told, not over .8
    assert vote.confidence == pytest.approx(0.4)
    assert vote.detail == {"other_chance": pytest.approx(0.2)}
    (sent,) = provider.requests
    assert (sent.body["logprobs"], sent.body["top_logprobs"]) == (True, 20)


@pytest.mark.parametrize("kind", DOORS)
def test_a_vote_whose_chance_lay_elsewhere_has_no_chances_and_says_so(
    runner: asyncio.Runner, provider: Provider, kind: str
) -> None:
    # The options shown had 4e-6 + 2e-6 of the chance: 1 - 6e-6 was on a word.
    provider.say(sure(2, _2=0.000004, _1=0.000002, _no=0.999994))
    vote = voted(runner, kind, provider)
    assert (vote.option, vote.probabilities, vote.confidence) == (0, None, None)
    assert vote.detail == {
        "no_chances": "The model meant none of the options: they had less than half of the chance.",
        "other_chance": pytest.approx(0.999994),
    }


@pytest.mark.parametrize(("on_options", "kept"), [(0.49, False), (0.51, True)])
def test_half_of_the_chance_must_lie_on_the_options(
    runner: asyncio.Runner, provider: Provider, on_options: float, kept: bool
) -> None:
    provider.say(sure(2, _2=on_options, _no=1 - on_options))
    vote = voted(runner, "openai", provider)
    assert vote.confidence == (pytest.approx(on_options) if kept else None)


@pytest.mark.parametrize("kind", DOORS)
def test_nothing_is_asked_for_where_it_is_not_wanted(
    runner: asyncio.Runner, provider: Provider, kind: str
) -> None:
    provider.say(sure(1, _1=0.9))
    result, *_ = ask(runner, kind, provider)
    assert isinstance(result, Vote)
    assert (result.probabilities, result.confidence, result.detail) == (None, None, {})
    assert not {"logprobs", "top_logprobs"} & provider.requests[0].body.keys()


@pytest.mark.parametrize("kind", DOORS)
def test_a_vote_without_log_probabilities_stands_and_says_so(
    runner: asyncio.Runner, provider: Provider, kind: str
) -> None:
    vote = voted(runner, kind, provider)
    assert (vote.option, vote.probabilities, vote.confidence) == (1, None, None)
    assert vote.detail == {"no_chances": "The provider sent no log-probabilities."}


@pytest.mark.parametrize("kind", DOORS)
def test_a_provider_that_refuses_them_is_a_failure_that_says_what_to_change(
    runner: asyncio.Runner, provider: Provider, kind: str
) -> None:
    provider.say(status(403, "You are not allowed to request logprobs from this model"))
    result, *_ = ask(runner, kind, provider, logprobs=True)
    assert isinstance(result, VoteFailure)
    # 403 is the key's fault elsewhere; here it must not end the judge.
    assert result.kind == "bad_request"
    assert "Switch off log-probabilities for this judge" in result.message


def test_a_model_that_litellm_knows_to_give_none_is_asked_nothing(
    runner: asyncio.Runner, provider: Provider
) -> None:
    result, call, _ = ask(
        runner, "litellm", provider, logprobs=True, model="anthropic/claude-3-5-haiku-latest"
    )
    assert isinstance(result, VoteFailure)
    assert (result.kind, call, provider.count) == ("bad_request", None, 0)
    assert "Switch off log-probabilities for this judge" in result.message


def test_fewer_may_be_asked_for_where_a_server_gives_no_twenty(
    runner: asyncio.Runner, provider: Provider
) -> None:
    provider.say(sure(1, _1=0.9))
    voted(runner, "openai", provider, params={"top_logprobs": 5})
    assert provider.requests[0].body["top_logprobs"] == 5


def test_an_assessment_in_words_is_not_asked_for_its_tokens(
    runner: asyncio.Runner, provider: Provider
) -> None:
    provider.say(ok(9), sure(2, _2=0.6, _1=0.4))
    assert voted(runner, "openai", provider).confidence == pytest.approx(0.6)  # of the repair
    assert [r.body.get("logprobs") for r in provider.requests] == [True, True]


# The token of a number, found by its place in the reply.


def spread(text: str, tokens: list[dict[str, Any]], count: int = 3) -> OptionProbabilities | str:
    """What is made of one reply's tokens."""
    found = number_tokens({"content": tokens}, text)
    (one,) = option_spreads(text, found, [read_reply(text, count)], {"": count})
    return one


def pieces(*texts: str) -> list[dict[str, Any]]:
    return [token(text) for text in texts]


def test_a_number_in_the_evidence_or_the_reason_is_not_the_options() -> None:
    text = '{"evidence": ["\\"option\\": 1"], "reason": "1 or 3", "option": 2}'
    at = text.rindex("2")
    before = [token(sign, _3=1.0) if sign.isdigit() else token(sign) for sign in text[:at]]
    tokens = [*before, token("2", _2=0.75, _1=0.25), token("}")]
    assert spread(text, tokens) == OptionProbabilities((0.25, 0.75, 0.0), 0.0)


@pytest.mark.parametrize(
    "around",
    [
        ('{"option": ', "2", "}"),
        ('{"option":', " 2", "}"),
        ('{"option"', ": 2", "}"),
        ('{"option": ', "2}", ""),
        ('{"option": "', '2"', "}"),
        ("<think>1 or 2</think>Sure: {'a'} ", '{"option":2', "}"),
    ],
)
def test_the_number_is_found_in_whatever_token_holds_it(around: tuple[str, str, str]) -> None:
    before, own, after = around
    other = own.replace("2", "1")
    tokens = [token(before), {**token(own), "top_logprobs": []}, *pieces(after)]
    tokens[1]["top_logprobs"] = [token(own, **{f"_{own}": 0.8})]
    tokens[1]["logprob"] = tokens[1]["top_logprobs"][0]["logprob"]
    tokens[1]["top_logprobs"].append({**token(other, **{f"_{other}": 0.2})})
    text = (before + own + after).partition("</think>")[2] or before + own + after
    got = spread(text, tokens)
    assert isinstance(got, OptionProbabilities)
    assert got.chances == pytest.approx((0.2, 0.8, 0.0))


def test_two_spellings_of_one_number_are_added() -> None:
    tokens = [token('{"option": '), token("2", _2=0.5, **{"_2}": 0.2, "_ 1": 0.1}), token("}")]
    got = spread('{"option": 2}', tokens)
    assert isinstance(got, OptionProbabilities)
    # ".5 + .2" of "2" and "2}", .1 of " 1", .2 on what was not listed.
    assert (got.chances, got.other) == (pytest.approx((0.1, 0.7, 0.0)), pytest.approx(0.2))


def test_each_criterion_of_a_reply_has_its_own_number() -> None:
    text = '{"c2": {"option": 1}, "c1": {"reason": "c2", "option": 2}}'
    first, second = text.index("1}"), text.rindex("2}")
    tokens = [
        token(text[:first]),
        token("1", _1=0.6, _2=0.4),
        token(text[first + 1 : second]),
        token("2", _2=0.9, _1=0.1),
        token("}}"),
    ]
    counts = {"c1": 2, "c2": 2}
    found = number_tokens({"content": tokens}, text)
    one, two = option_spreads(text, found, read_replies(text, counts), counts)
    assert isinstance(one, OptionProbabilities)
    assert isinstance(two, OptionProbabilities)
    assert one.chances == pytest.approx((0.1, 0.9))
    assert two.chances == pytest.approx((0.6, 0.4))


def test_a_number_of_one_token_among_ten_and_more_is_read() -> None:
    tokens = [token('{"option": '), token("12", _12=0.7, _1=0.2, _10=0.1), token("}")]
    got = spread('{"option": 12}', tokens, 12)
    assert isinstance(got, OptionProbabilities)
    assert (got.chances[11], got.chances[0], got.chances[9]) == pytest.approx((0.7, 0.2, 0.1))


UNREAD = {
    "other tokens than the reply": (
        '{"option": 2}',
        pieces('{"opinion": ', "2", "}"),
        3,
        "The tokens the provider sent are not those of the reply.",
    ),
    "figures one by one": (
        '{"option": 12}',
        pieces('{"option": ', "1", "2", "}"),
        12,
        "The option's number is written in several tokens.",
    ),
    "a figure that may begin other numbers": (
        '{"option": 1}',
        [token('{"option": '), token("1", _1=0.9, _2=0.1), token("}")],
        12,
        "The option's number is written in several tokens.",
    ),
    "two numbers to choose from": (
        '{"reason": {"option": 1}, "option": 2}',
        pieces('{"reason": {"option": ', "1", '}, "option": ', "2", "}"),
        3,
        "The option's number could not be found among the tokens.",
    ),
    "more than there can be": (
        '{"option": 2}',
        [token('{"option": '), token("2", _2=0.9, _1=0.4), token("}")],
        3,
        "The chances the provider sent add up to more than 1.",
    ),
    "nothing sent": ('{"option": 2}', [], 3, "The provider sent no log-probabilities."),
}


@pytest.mark.parametrize("case", UNREAD.values(), ids=UNREAD.keys())
def test_what_cannot_be_told_is_said_and_never_guessed(
    case: tuple[str, list[dict[str, Any]], int, str],
) -> None:
    text, tokens, count, why = case
    assert spread(text, tokens, count) == why


@pytest.mark.parametrize(
    "odd",
    [
        7,
        {"content": 7},
        {"content": [7]},
        {"content": [{"token": "2"}]},
        {"content": [{"token": "2", "logprob": "x", "top_logprobs": [{"token": 1}]}]},
        {"content": [{"token": "2", "logprob": float("nan"), "bytes": [999]}]},
        {"tokens": ["2"], "token_logprobs": [-0.1]},
    ],
)
def test_odd_log_probabilities_are_never_an_error(odd: Any) -> None:
    text = '{"option": 2}'
    (one,) = option_spreads(text, number_tokens(odd, text), [read_reply(text, 3)], {"": 3})
    assert isinstance(one, str)


@pytest.mark.parametrize("kind", DOORS)
def test_a_key_that_is_shown_takes_the_tokens_with_it(
    runner: asyncio.Runner, provider: Provider, kind: str
) -> None:
    # The pieces of a key would be kept with the tokens, where no search for it finds them.
    answer = sure(2, reason="sk-TOP-SECRET-0123456789", _2=0.6, _1=0.4)
    provider.say(answer)
    vote = voted(runner, kind, provider)
    assert vote.probabilities is None
    assert vote.detail == {"no_chances": "The tokens the provider sent are not those of the reply."}


def test_other_judges_are_not_told_of_them() -> None:
    from core.domain.panel import Judge

    with pytest.raises(ValueError, match="only a model has log-probabilities"):
        Judge(name="x", kind="classifier", logprobs=True)


def test_tokens_are_kept_with_the_answer_and_read_again() -> None:
    from core.judging.asking.answer_cache import as_answer, as_completion
    from core.judging.providers.base import Completion

    data = json.loads(sure(2, _2=0.6, _1=0.4).body)["choices"][0]
    text = data["message"]["content"]
    given = Completion(text, number_tokens=number_tokens(data["logprobs"], text))
    kept = as_answer("k", "m", given)
    again = as_completion(replace(kept, completion=json.loads(json.dumps(dict(kept.completion)))))
    assert again == given
