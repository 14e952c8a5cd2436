"""What differs between two texts, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

Spans = list[tuple[int, int]]
#: A word; what stands in parentheses without a space, e.g. an option's value, is one.
_WORD = re.compile(r"\([^()\s]*\)|\w+(?:\.\w+)*|[^\w\s]")


def word_changes(before: str, after: str) -> tuple[Spans, Spans]:
    """The spans of ``before`` that are gone in ``after``, and those of ``after`` that are new.

    Words that stand side by side and changed together make one span. Where hardly a word is the
    same, each text is one span: a patchwork would not be read.

    >>> word_changes("It cites a source.", "It cites two sources.")
    ([(9, 17)], [(9, 20)])
    """
    olds, news = list(_WORD.finditer(before)), list(_WORD.finditer(after))
    matcher = SequenceMatcher(None, [m.group() for m in olds], [m.group() for m in news], False)
    if olds and news and matcher.ratio() < 0.3:
        return [_span(olds)], [_span(news)]
    gone, fresh = Spans(), Spans()
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            gone += [_span(olds[a:b])] if a < b else []
            fresh += [_span(news[c:d])] if c < d else []
    return gone, fresh


def _span(words: list[re.Match[str]]) -> tuple[int, int]:
    return words[0].start(), words[-1].end()
