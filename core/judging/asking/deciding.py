"""Ask a model that only makes decisions, and read the option from token probabilities."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from core.domain.panel import Judge
from core.domain.votes import Segment, Vote, VoteFailure
from core.judging.asking.call_costs import CallAccount
from core.judging.prompts.deciding import DecisionPrompt, decision_prompt, probabilities_of
from core.judging.prompts.option_chances import (
    MEANT_NONE,
    OptionProbabilities,
    answer_probabilities,
)
from core.judging.prompts.reply_parsing import Unreadable
from core.judging.prompts.wording import REPAIR_DECISION
from core.judging.protocol import Ask, Question
from core.judging.providers.base import Completion, json_of

#: Sends messages to the model. The number is the token limit for judges without their own limit.
Say = Callable[[tuple[Segment, ...], int | None], Awaitable[Completion]]
_EMPTY = Unreadable("empty", "The reply was empty.")


async def decide(
    question: Question, spec: Judge, tally: CallAccount, say: Say
) -> tuple[Vote | VoteFailure, ...]:
    """Return the vote or failure of a model that only makes decisions, for each ``Ask``.

    Raises ``CallError``.
    """
    prompt = decision_prompt(question, spec.template)
    if isinstance(prompt, str):
        return tuple(
            Vote(ask.cell, ask.criterion.na_index, True, reason=prompt, order=ask.order)
            for ask in question.asks
        )
    if spec.template == "systemone":
        completion = await say(prompt.segments, None)
        answers = _answers_in(completion.text)
        return tuple(
            _result_by_probabilities(ask, answers.get(f"c{number}"))
            for number, ask in enumerate(question.asks, start=1)
        )
    segments, detail = prompt.segments, dict[str, object]()
    completion = await say(segments, prompt.most)
    reply = read_decision(prompt, completion)
    if isinstance(reply, Unreadable) and tally.spent < spec.tries:
        detail["repaired"] = True
        text = REPAIR_DECISION.format(words=", ".join(prompt.words).title())
        completion = await say((*segments, Segment("user", text)), None)
        reply = read_decision(prompt, completion)
    if isinstance(reply, Unreadable):
        return (VoteFailure(question.cell, reply.kind, reply.message, question.order),)
    option, spread = reply
    abstains = question.criterion.choices[option].na
    vote = Vote(question.cell, option, abstains, order=question.order, detail=detail)
    places = [*prompt.words.values()]
    return (with_probabilities(vote, spread, places, len(question.criterion.choices)),)


def read_decision(
    prompt: DecisionPrompt, completion: Completion
) -> tuple[int, OptionProbabilities | str] | Unreadable:
    """Return the most probable option, or the option that the text begins with.

    The text alone decides if the provider sent no probabilities.
    """
    text = completion.text or ""
    before, mark, answer = text.rpartition(prompt.after) if prompt.after else ("", "", text)
    marked = mark == prompt.after
    chosen = _leading_answer(answer, prompt.words) if marked else None
    at = len(before) + len(mark)
    spread = answer_probabilities(completion.number_tokens, tuple(prompt.words), chosen, at)
    if marked and isinstance(spread, OptionProbabilities):
        options = [*prompt.words.values()]
        return options[max(range(len(options)), key=spread.chances.__getitem__)], spread
    if chosen is not None:
        return prompt.words[chosen], spread
    answers = ", ".join(prompt.words).title()
    return Unreadable("malformed", f"The reply was none of {answers}.") if text.strip() else _EMPTY


def _leading_answer(text: str, words: Mapping[str, int]) -> str | None:
    """Return the answer that a text begins with, or ``None``."""
    first = next(iter(re.findall(r"[^\W_]+", text)), "")
    return next((word for word in words if word in (first, first.casefold())), None)


def _answers_in(text: str | None) -> Mapping[str, object]:
    try:
        answers = json_of(text or "")
    except (ValueError, RecursionError):
        answers = None
    return answers if isinstance(answers, dict) else {}


def _result_by_probabilities(ask: Ask, answer: object) -> Vote | VoteFailure:
    chances = probabilities_of(ask.criterion, answer)
    if not chances:
        message = "The reply held no chances of the criterion's options."
        return VoteFailure(ask.cell, "malformed", message, ask.order)
    option = max(chances, key=chances.__getitem__)
    vote = Vote(ask.cell, option, ask.criterion.choices[option].na, order=ask.order)
    total = min(1.0, sum(chances.values()))
    spread = OptionProbabilities(tuple(chances.values()), 1.0 - total)
    return with_probabilities(vote, spread, [*chances], len(ask.criterion.choices))


def with_probabilities(
    vote: Vote, spread: OptionProbabilities | str, places: Sequence[int], choices: int
) -> Vote:
    """Return the vote with its probabilities, or with the reason why it has none.

    ``places`` are the choices that the probabilities of ``spread`` belong to; other choices get 0.
    """
    if isinstance(spread, str):
        return replace(vote, detail={**vote.detail, "no_chances": spread})
    detail = {**vote.detail, "other_chance": round(spread.other, 6)}
    if spread.meant_none:
        return replace(vote, detail={**detail, "no_chances": MEANT_NONE})
    by_choice = dict(zip(places, spread.chances, strict=True))
    chances = tuple(round(by_choice.get(at, 0.0), 6) for at in range(choices))
    return replace(vote, probabilities=chances, confidence=chances[vote.option or 0], detail=detail)
