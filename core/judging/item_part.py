"""The part of a prompt that all criteria of an item share: its texts, fenced with a nonce.

It is made once per item and not once per question: a long submission would otherwise be hashed,
searched and copied for every criterion and every judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from core.domain.dataset import Item, Sections
from core.domain.votes import Segment
from core.identity import canonical_json, seeded, text_hash

NONCE_LENGTH = 12

#: Judges work through the items side by side, a few of them at a time.
_REMEMBERED = 64


class ItemPart(NamedTuple):
    """The segment, and the code that its fences carry."""

    segment: Segment
    nonce: str


@dataclass(frozen=True, slots=True, eq=False)
class _Very:
    """This very item, and no other that equals it: comparing two of them reads no text."""

    item: Item

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Very) and self.item is other.item

    def __hash__(self) -> int:
        return id(self.item)


def item_part(guidelines: str, item: Item, seed: int) -> ItemPart:
    """The item's texts in their blocks: the same arguments give the same bytes.

    The nonce depends on the seed and on the texts, which cannot contain it.
    """
    return _made(guidelines, _Very(item), seed)


@lru_cache(maxsize=_REMEMBERED)
def _made(guidelines: str, very: _Very, seed: int) -> ItemPart:
    item = very.item
    nonce = _nonce(guidelines, item, seed)
    blocks = [
        _block(title, text, nonce)
        for title, text in (
            ("GUIDELINES", guidelines),
            ("TASK", item.prompt),
            ("REFERENCE", item.reference),
        )
        if text.strip()
    ]
    text = "\n\n".join([*blocks, _block("SUBMISSION", _submission(item, nonce), nonce)])
    return ItemPart(Segment("user", text), nonce)


def _nonce(guidelines: str, item: Item, seed: int) -> str:
    texts = [guidelines, *_judged_texts(item)]
    haystack = "\n".join(texts).casefold()
    rng = seeded("nonce", seed, text_hash(canonical_json(texts)))
    while True:
        nonce = f"{rng.getrandbits(4 * NONCE_LENGTH):0{NONCE_LENGTH}x}"
        if nonce not in haystack:
            return nonce


def _judged_texts(item: Item) -> list[str]:
    texts = [item.prompt, item.reference]
    if isinstance(item.submission, str):
        return [*texts, item.submission]
    if isinstance(item.submission, Sections):
        return [*texts, item.submission.thinking, item.submission.output]
    return texts + [text for turn in item.submission for text in (turn.role, turn.content)]


def _submission(item: Item, nonce: str) -> str:
    if isinstance(item.submission, str):
        return item.submission
    if isinstance(item.submission, Sections):
        parts = (("THINKING", item.submission.thinking), ("OUTPUT", item.submission.output))
        return "\n".join(_block(title, text, nonce) for title, text in parts if text)
    return "\n".join(
        _block(f"TURN {number} ({one_line(turn.role)})", turn.content, nonce)
        for number, turn in enumerate(item.submission, start=1)
    )


def _block(title: str, text: str, nonce: str) -> str:
    return f"<<<BEGIN {title} {nonce}>>>\n{sendable(text)}\n<<<END {title} {nonce}>>>"


def sendable(text: str) -> str:
    """``text`` with every lone surrogate replaced.

    They come in through JSON escapes and cannot be encoded as UTF-8.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def one_line(text: str) -> str:
    """``text``, fit to be sent, with its spaces and line breaks collapsed."""
    return " ".join(sendable(text).split())
