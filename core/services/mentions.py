"""What a requirement speaks of: the parts that a judge is shown with it, and placeholders."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Part = Literal["task", "context", "reference", "submission", "placeholder"]
_WORDS: dict[Part, str] = {
    "task": r"tasks?|prompts?|questions?|instructions?",
    "context": r"contexts?|passages?|documents?|source texts?",
    "reference": r"references?|(?:model|sample|expected|correct|gold) (?:answer|solution)s?",
    "submission": r"submissions?|answers?|responses?|repl(?:y|ies)|essays?|outputs?|texts?",
    "placeholder": r"\{\{?\s*[A-Za-z_][\w. ]{0,40}\s*\}?\}",
}
_ANY = re.compile(
    "|".join(
        f"(?P<{part}>{words})" if part == "placeholder" else rf"(?P<{part}>\b(?:{words})\b)"
        for part, words in _WORDS.items()
    ),
    re.IGNORECASE,
)


class Mention(NamedTuple):
    """Characters ``start`` to ``end`` of a requirement that name a part of what a judge sees."""

    part: Part
    start: int
    end: int


def mentions(requirement: str) -> list[Mention]:
    """The parts that a requirement names, in their order; placeholders among them.

    >>> [m.part for m in mentions("The answer agrees with the reference and uses {{style}}.")]
    ['submission', 'reference', 'placeholder']
    """
    found = []
    for match in _ANY.finditer(requirement):
        part: Part = next(name for name in _WORDS if match.group(name) is not None)
        found.append(Mention(part, match.start(), match.end()))
    return found


def share_of(weight: float, others: float) -> float | None:
    """The share of all points that a positive weight is; ``None`` where there are no points.

    ``others`` is the sum of the other positive weights.

    >>> share_of(10, 30)
    0.25
    """
    whole = weight + others
    return weight / whole if weight > 0 and whole > 0 else None


def weight_of(share: float, others: float) -> float | None:
    """The weight that is this share of all points; ``None`` where no weight can be (others 0).

    >>> weight_of(0.25, 30)
    10.0
    """
    return round(share * others / (1 - share), 6) if 0 < share < 1 and others > 0 else None
