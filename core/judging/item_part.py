"""The parts of a prompt that hold what is judged: fenced texts, each made once and then shared.

A submission is fenced once per item and not once per question: a long one would otherwise be
hashed, searched and copied for every criterion and every judge. What stands around it
(guidelines, task, reference) is often the same for all items and has a code of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from core.domain.dataset import Answer, Item, Pair, Sections
from core.judging.fences import Code, Same, block, code_for, one_line

#: Judges work through the items side by side, a few of them at a time.
_REMEMBERED = 64
#: How the title of a named text begins.
CONTEXT = "CONTEXT"


class FencedPart(NamedTuple):
    """Fenced text (empty where there is nothing to fence), and the code that its fences carry."""

    text: str
    code: Code


def submission_part(item: Item, seed: int, skip: int = 0) -> FencedPart:
    """The item's submission in its block: the same arguments give the same bytes."""
    return _submission_part(Same(item), seed, skip)


@lru_cache(maxsize=_REMEMBERED)
def _submission_part(same: Same, seed: int, skip: int) -> FencedPart:
    item: Item = same.thing
    code = code_for(submission_texts(item), seed, skip)
    if isinstance(item.submission, Pair):
        answers = (("ANSWER A", item.submission.first), ("ANSWER B", item.submission.second))
        blocks = (block(name, _text(one, code.nonce), code.nonce) for name, one in answers)
        return FencedPart("\n\n".join(blocks), code)
    return FencedPart(block("SUBMISSION", _text(item.submission, code.nonce), code.nonce), code)


def guidelines_part(guidelines: str, seed: int, skip: int = 0) -> FencedPart:
    """How the author of the rubric wants it applied."""
    return _texts_part((("GUIDELINES", guidelines),), seed, skip)


def background_part(item: Item, seed: int, skip: int = 0) -> FencedPart:
    """What an author was asked to do and was given, and what the answer is compared with."""
    return _texts_part(tuple(background_texts(item)), seed, skip)


def background_texts(item: Item) -> Iterator[tuple[str, str]]:
    """The texts of the background with their titles; empty ones among them."""
    yield "TASK", item.prompt
    for name, text in item.context.items():
        yield f"{CONTEXT} ({one_line(name)})", text
    yield "REFERENCE", item.reference


@lru_cache(maxsize=_REMEMBERED)
def _texts_part(titled: tuple[tuple[str, str], ...], seed: int, skip: int) -> FencedPart:
    named = [title for title, _ in titled if title.startswith(CONTEXT)]  # somebody's words, too
    code = code_for([*(text for _, text in titled), *named], seed, skip)
    blocks = [block(title, text, code.nonce) for title, text in titled if text.strip()]
    return FencedPart("\n\n".join(blocks), code)


def submission_texts(item: Item) -> list[str]:
    """All texts of a submission that somebody else wrote."""
    if isinstance(item.submission, Pair):
        return [*_texts(item.submission.first), *_texts(item.submission.second)]
    return _texts(item.submission)


def submission_text(item: Item, nonce: str) -> str:
    """A submission as one text; its answers, sections or turns are blocks of their own."""
    if isinstance(item.submission, Pair):
        answers = (("ANSWER A", item.submission.first), ("ANSWER B", item.submission.second))
        return "\n".join(block(name, _text(one, nonce), nonce) for name, one in answers)
    return _text(item.submission, nonce)


def _texts(answer: Answer) -> list[str]:
    if isinstance(answer, str):
        return [answer]
    if isinstance(answer, Sections):
        return [answer.thinking, answer.output]
    return [text for turn in answer for text in (turn.role, turn.content)]


def _text(answer: Answer, nonce: str) -> str:
    if isinstance(answer, str):
        return answer
    if isinstance(answer, Sections):
        parts = (("THINKING", answer.thinking), ("OUTPUT", answer.output))
        return "\n".join(block(title, text, nonce) for title, text in parts if text)
    return "\n".join(
        block(f"TURN {number} ({one_line(turn.role)})", turn.content, nonce)
        for number, turn in enumerate(answer, start=1)
    )
