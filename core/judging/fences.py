"""Fences around texts that are judged, and the code on them that no such text contains.

Every kind of material has a code of its own, drawn from the seed and from its own texts, so that
what is the same for many calls is the same bytes in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from core.identity import canonical_json, seeded, text_hash

NONCE_LENGTH = 12


class Code(NamedTuple):
    """What fences carry, and the texts behind it (case folded), which do not contain it."""

    nonce: str
    folded: str


@dataclass(frozen=True, slots=True, eq=False)
class Same:
    """This very object, and no other that equals it: comparing two of them reads no text."""

    thing: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.thing is other.thing

    def __hash__(self) -> int:
        return id(self.thing)


def code_for(texts: Sequence[str], seed: int, skip: int = 0) -> Code:
    """The code for ``texts``: the same arguments give the same one. ``skip`` gives a later one."""
    folded = "\n".join(texts).casefold()
    rng = seeded("nonce", seed, text_hash(canonical_json(list(texts))))
    while True:
        nonce = f"{rng.getrandbits(4 * NONCE_LENGTH):0{NONCE_LENGTH}x}"
        if nonce in folded:
            continue
        if not skip:
            return Code(nonce, folded)
        skip -= 1


def block(title: str, text: str, nonce: str) -> str:
    """``text`` between a BEGIN and an END line that carry the code."""
    return f"<<<BEGIN {title} {nonce}>>>\n{sendable(text)}\n<<<END {title} {nonce}>>>"


def sendable(text: str) -> str:
    """``text`` with every lone surrogate replaced.

    They come in through JSON escapes and cannot be encoded as UTF-8.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def one_line(text: str) -> str:
    """``text``, fit to be sent, with its spaces and line breaks collapsed."""
    return " ".join(sendable(text).split())
