"""The parts of a prompt that hold what is judged: fenced texts, each made once and then shared.

A submission is fenced once per item and not once per question: a long one would otherwise be
hashed, searched and copied for every criterion and every judge. What stands around it
(guidelines, task, reference) is often the same for all items and has a code of its own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from core.domain.dataset import Item, Sections
from core.judging.fences import Code, Same, block, code_for, one_line

#: Judges work through the items side by side, a few of them at a time.
_REMEMBERED = 64


class Part(NamedTuple):
    """Fenced text (empty where there is nothing to fence), and the code that its fences carry."""

    text: str
    code: Code


def submission_part(item: Item, seed: int, skip: int = 0) -> Part:
    """The item's submission in its block: the same arguments give the same bytes."""
    return _submission_part(Same(item), seed, skip)


@lru_cache(maxsize=_REMEMBERED)
def _submission_part(same: Same, seed: int, skip: int) -> Part:
    item: Item = same.thing
    code = code_for(submission_texts(item), seed, skip)
    return Part(block("SUBMISSION", submission_text(item, code.nonce), code.nonce), code)


def guidelines_part(guidelines: str, seed: int, skip: int = 0) -> Part:
    """How the author of the rubric wants it applied."""
    return _texts_part((("GUIDELINES", guidelines),), seed, skip)


def background_part(prompt: str, reference: str, seed: int, skip: int = 0) -> Part:
    """What an author was asked to do, and what the answer is compared with."""
    return _texts_part((("TASK", prompt), ("REFERENCE", reference)), seed, skip)


@lru_cache(maxsize=_REMEMBERED)
def _texts_part(titled: tuple[tuple[str, str], ...], seed: int, skip: int) -> Part:
    code = code_for([text for _, text in titled], seed, skip)
    blocks = [block(title, text, code.nonce) for title, text in titled if text.strip()]
    return Part("\n\n".join(blocks), code)


def submission_texts(item: Item) -> list[str]:
    """All texts of a submission that somebody else wrote."""
    if isinstance(item.submission, str):
        return [item.submission]
    if isinstance(item.submission, Sections):
        return [item.submission.thinking, item.submission.output]
    return [text for turn in item.submission for text in (turn.role, turn.content)]


def submission_text(item: Item, nonce: str) -> str:
    """A submission as one text; its sections or turns are blocks of their own."""
    if isinstance(item.submission, str):
        return item.submission
    if isinstance(item.submission, Sections):
        parts = (("THINKING", item.submission.thinking), ("OUTPUT", item.submission.output))
        return "\n".join(block(title, text, nonce) for title, text in parts if text)
    return "\n".join(
        block(f"TURN {number} ({one_line(turn.role)})", turn.content, nonce)
        for number, turn in enumerate(item.submission, start=1)
    )
