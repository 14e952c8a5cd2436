"""What differs between two wordings of a rubric's text, word by word."""

from __future__ import annotations

import re

from core.services.word_diff import Span, word_diff

Spans = tuple[Span, ...]
#: A word; what stands in parentheses without a space, e.g. an option's value, is one.
_WORD = re.compile(r"\([^()\s]*\)|\w+(?:\.\w+)*|[^\w\s]")
_HARDLY = 0.3


def word_changes(before: str, after: str) -> tuple[Spans, Spans]:
    """The spans of ``before`` that are gone in ``after``, and those of ``after`` that are new.

    Words that stand side by side and changed together make one span. Where hardly a word is the
    same, each text is one span: a patchwork would not be read. So is it where the texts are too
    long to compare (``word_diff.MOST_WORDS``).

    >>> word_changes("It cites a source.", "It cites two sources.")
    (((9, 17),), ((9, 20),))
    """
    found = word_diff(before, after, _WORD)
    if found.common is None or (found.common < _HARDLY and before.split() and after.split()):
        return _whole(before), _whole(after)
    return found.first, found.second


def _whole(text: str) -> Spans:
    words = text.strip()
    start = text.find(words)
    return ((start, start + len(words)),) if words else ()
