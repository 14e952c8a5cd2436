"""Positions in a text: a judge's quote, sentences, and the input parts that a requirement names."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Literal

_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "–": "-", "—": "-"})
_EDGES = " \t\n\"'.…"


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    r"""Return the span ``(start, end)`` of ``quote`` in ``text``, or ``None`` if it does not occur.

    An exact match takes precedence. Otherwise case, runs of white space, kinds of quotation marks
    and dashes, and marks around the quote are ignored: models copy carelessly, but the words must
    be the same.

    >>> find_quote("The  Sun\nrises.", '"the sun rises"')
    (0, 14)
    >>> find_quote("The sun rises.", "The moon rises") is None
    True
    """
    if not quote.strip():
        return None
    exact = text.find(quote)
    if exact >= 0:
        return exact, exact + len(quote)
    folded, places = _folded_text(text)
    folded_quote = _folded_text(quote.strip(_EDGES + "“”„‘’"))[0].strip()
    at = folded.find(folded_quote) if folded_quote else -1
    return None if at < 0 else (places[at], places[at + len(folded_quote) - 1] + 1)


def _folded_text(text: str) -> tuple[str, list[int]]:
    """Return the text in comparable form, and the original position of each of its characters."""
    letters, places = list[str](), list[int]()
    for place, letter in enumerate(text):
        if letter.isspace():
            if letters and letters[-1] == " ":
                continue
            plain = " "
        else:
            plain = unicodedata.normalize("NFKC", letter).casefold().translate(_QUOTES)
        letters += plain
        places += [place] * len(plain)
    return "".join(letters), places


# A sentence ends after its marks and closing quotes, before a space or the end of the line; it
# never spans lines. A wrong extra cut ("e.g. this") does little harm: both parts can be selected.
# Candidates are matched first and checked afterwards, so that a text of nothing but marks takes
# linear time. (A possessive pattern would suffice, but Debian's Python 3.11.2 mishandles those.)
_END = re.compile(r"\n|[.!?…]+[\"'”’)\]]*")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans ``(start, end)`` of the sentences, in order; they exclude white space.

    >>> text = 'One. "Two!" Three'
    >>> [text[a:b] for a, b in sentence_spans(text)]
    ['One.', '"Two!"', 'Three']
    """
    ends = [m.end() for m in _END.finditer(text) if _is_end(text, m.end())]
    cuts = [0, *ends, len(text)]
    trimmed = (_trimmed_span(text, start, end) for start, end in pairwise(cuts))
    return [(start, end) for start, end in trimmed if start < end]


def _is_end(text: str, at: int) -> bool:
    return at == len(text) or text[at].isspace() or text[at - 1] == "\n"


def _trimmed_span(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), start + len(part.rstrip())


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


def mentioned_parts(requirement: str) -> list[tuple[Part, str]]:
    """Return the input parts that a requirement names, in order, each with the words that name it.

    >>> mentioned_parts("The answer fits the reference and uses {{style}}.")
    [('submission', 'answer'), ('reference', 'reference'), ('placeholder', '{{style}}')]
    """
    return [
        (next(name for name in _WORDS if match.group(name) is not None), match.group())
        for match in _ANY.finditer(requirement)
    ]


def share_of(weight: float, other_weight: float) -> float | None:
    """Return a positive weight's share of all points; ``None`` if there are no points.

    ``other_weight`` is the sum of the other positive weights.

    >>> share_of(10, 30)
    0.25
    """
    total = weight + other_weight
    return weight / total if weight > 0 and total > 0 else None


def weight_of(share: float, other_weight: float) -> float | None:
    """Return the weight with this share of all points; ``None`` if impossible (others 0).

    >>> weight_of(0.25, 30)
    10.0
    """
    return (
        round(share * other_weight / (1 - share), 6) if 0 < share < 1 and other_weight > 0 else None
    )
