"""Option probabilities, from the log-probabilities of the number in a reply.

A provider gives every token's probability and the likeliest alternatives. The token with the
option's number is found by its position in the reply, never by its text. If that is ambiguous,
there are no probabilities, and a sentence says why. They are the provider's own and not scaled to
1: the probability of other replies is part of the model's uncertainty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import exp, fsum
from typing import NamedTuple

from core.domain.votes import LEAST_ON_OPTIONS
from core.judging.prompts.reply_parsing import Reply, Unreadable, last_object
from core.judging.providers.logprobs import NumberToken

NOT_SENT = "The provider sent no log-probabilities."
NOT_THE_REPLY = "The tokens the provider sent are not those of the reply."
NOT_FOUND = "The option's number could not be found among the tokens."
IN_PIECES = "The option's number is written in several tokens."
TOO_MUCH = "The chances the provider sent add up to more than 1."
MEANT_NONE = "The model meant none of the options: they had less than half of the chance."

#: Matches the key and the number. Quotation marks inside JSON strings are escaped, so this pattern
#: cannot match there.
_OPTION = re.compile(r'"option"\s*:\s*"?(\d{1,9})')
#: A token that could replace the number's token: text before it, the number, and what may follow.
_NUMBER = re.compile(r'([^\d]*)(\d{1,9})[\s",}]*\Z')
_IDLE = re.compile(r'[\s"]')
#: The largest sum of probabilities that is accepted. Rounding 20 logarithms adds far less than the
#: excess over 1.
_OVER_ONE = 1.001


class OptionProbabilities(NamedTuple):
    """Probabilities of the shown options, and ``other`` for all other replies; they sum to 1."""

    chances: tuple[float, ...]
    other: float

    @property
    def meant_none(self) -> bool:
        """Return whether the model probably meant none of the options."""
        return 1.0 - self.other < LEAST_ON_OPTIONS


def option_spreads(
    text: str,
    tokens: Sequence[NumberToken] | None,
    replies: Sequence[Reply | Unreadable],
    counts: Mapping[str, int],
) -> list[OptionProbabilities | str]:
    """Return every reply's spread, or a sentence that says why it has none.

    ``counts`` maps criterion ids to the number of shown options, in the order of ``replies``; a
    single criterion has the id ``""``. An unreadable reply has no spread either.
    """
    if tokens is None:
        return [NOT_SENT] * len(replies)
    if not tokens:
        return [NOT_THE_REPLY] * len(replies)
    places = _option_places(text, counts)
    spreads = list[OptionProbabilities | str]()
    for reply, (id_, count) in zip(replies, counts.items(), strict=True):
        place = places.get(id_)
        if isinstance(reply, Unreadable) or place is None or int(place[1]) != reply.shown:
            spreads.append(NOT_FOUND)
        else:
            spreads.append(_spread_of_number(tokens, *place, count))
    return spreads


def answer_probabilities(
    tokens: Sequence[NumberToken] | None,
    words: Sequence[str],
    decided_word: str | None,
    at: int = 0,
) -> OptionProbabilities | str:
    """Return the probabilities of the answers ``words``, or why they are unknown.

    They are read at the token of the word ``decided_word``, or else at the first token from ``at``
    on.
    Different spellings and beginnings of a word are added up.

    >>> top = {"Yes": -0.5, " yes": -2.0, "No": -1.5}
    >>> token = {"at": 0, "text": "Yes", "top": top}
    >>> [round(chance, 4) for chance in answer_probabilities([token], ("yes", "no"), "yes").chances]
    [0.7419, 0.2231]
    """
    if tokens is None:
        return NOT_SENT
    behind = [token for token in tokens if token["at"] + len(token["text"]) > at]
    first = next(
        (t for t in behind if decided_word and _answer_begun(t["text"], words) == decided_word),
        None,
    )
    if first is None and decided_word is None and behind and behind[0]["at"] <= at:
        first = behind[0]
    if first is None:
        return NOT_THE_REPLY
    sums = dict.fromkeys(words, 0.0)
    for text, chance in first["top"].items():
        if word := _answer_begun(text, words):
            sums[word] += exp(min(chance, 1.0))
    return _spread_or_reason([*sums.values()], first)


def _spread_or_reason(chances: Sequence[float], token: NumberToken) -> OptionProbabilities | str:
    """Return the spread of these probabilities, or the reason why ``token`` gives none."""
    total = fsum(chances)
    if fsum(exp(min(chance, 1.0)) for chance in token["top"].values()) > _OVER_ONE:
        return TOO_MUCH
    if not total:
        return NOT_FOUND
    # Rounding may add up to a little more than 1.
    return OptionProbabilities(
        tuple(chance / max(total, 1.0) for chance in chances), max(0.0, 1.0 - total)
    )


def _answer_begun(token: str, words: Sequence[str]) -> str:
    """Return the answer that a token is or unambiguously begins, or ""."""
    word = re.sub(r"\W", "", token)
    if word in words or (word := word.casefold()) in words:
        return word
    begun = [answer for answer in words if len(word) > 1 and answer.startswith(word)]
    return begun[0] if len(begun) == 1 else ""


def _option_places(text: str, counts: Mapping[str, int]) -> dict[str, tuple[int, str]]:
    """Return the position and text of each option's number in the last JSON object, by id."""
    is_single = "" in counts
    last = last_object(text, {"option"} if is_single else counts.keys())
    if last is None:
        return {}
    start, end, answers = last
    numbers = [(m.start(1), m[1]) for m in _OPTION.finditer(text, start, end)]
    ids = (
        [""]
        if is_single
        else [i for i, e in answers.items() if isinstance(e, dict) and "option" in e]
    )
    # If the counts of numbers and answers differ, they cannot be matched.
    return dict(zip(ids, numbers, strict=True)) if len(ids) == len(numbers) else {}


def _spread_of_number(
    tokens: Sequence[NumberToken], at: int, number: str, count: int
) -> OptionProbabilities | str:
    token = next((t for t in tokens if t["at"] <= at < t["at"] + len(t["text"])), None)
    if token is None:
        return NOT_FOUND
    if at + len(number) > token["at"] + len(token["text"]):
        return IN_PIECES
    before = _IDLE.sub("", token["text"][: at - token["at"]])
    numbers = [
        (_number_written(text, before), exp(min(p, 1.0))) for text, p in token["top"].items()
    ]
    if _may_be_first_digit({figure for figure, _ in numbers if figure}, count):
        return IN_PIECES
    return _spread_or_reason(
        [fsum(p for figure, p in numbers if figure == at + 1) for at in range(count)], token
    )


def _number_written(text: str, before: str) -> int:
    """Return the number that a token would have written here, or 0."""
    match = _NUMBER.match(text)
    return int(match[2]) if match and _IDLE.sub("", match[1]) == before else 0


def _may_be_first_digit(numbers: set[int], count: int) -> bool:
    """Return whether a token may be only the first digit of a longer shown number.

    A vocabulary that has two-digit numbers writes them as one token.
    """
    begins = any(10 * number <= count for number in numbers)
    return begins and not any(number >= 10 for number in numbers)
