"""Criteria that ask the same thing, by the words they use."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from core.domain.rubric import Rubric
from core.services.checking.finding import Finding
from core.services.checking.language import content
from core.services.checking.tongue import english

#: From this likeness on (cosine of the weighted words, 1 is the same).
ALIKE = 0.72
#: The same in other languages, whose little words are not known here and look like telling ones.
ALIKE_ELSEWHERE = 0.9
#: Requirements with fewer telling words than this are not compared unless they are the same.
SHORT = 3


def overlapping(rubric: Rubric) -> Iterator[Finding]:
    """Pairs of criteria whose requirements use nearly the same words."""
    texts = [Counter(content(c.requirement)) for c in rubric.criteria]
    rarity = _rarity(texts)
    vectors = [{word: n * rarity[word] for word, n in text.items()} for text in texts]
    reads = english(rubric.criteria)
    norms = [math.sqrt(sum(x * x for x in v.values())) for v in vectors]
    for one, other in combinations(range(len(vectors)), 2):
        if not texts[one] or not texts[other]:
            continue
        same = texts[one] == texts[other]
        if not same and min(len(texts[one]), len(texts[other])) < SHORT:
            continue
        alike = ALIKE if reads[one] and reads[other] else ALIKE_ELSEWHERE
        if same or _dot(vectors[one], vectors[other]) >= alike * norms[one] * norms[other]:
            yield _finding(rubric, one, other)


def _rarity(texts: list[Counter[str]]) -> dict[str, float]:
    """Words that most criteria share tell little: the inverse document frequency, smoothed."""
    spread = Counter(word for text in texts for word in text)
    return {word: math.log((1 + len(texts)) / n) + 0.3 for word, n in spread.items()}


def _dot(one: dict[str, float], other: dict[str, float]) -> float:
    small, large = sorted((one, other), key=len)
    return sum(x * large[word] for word, x in small.items() if word in large)


def _finding(rubric: Rubric, one: int, other: int) -> Finding:
    first, second = rubric.criteria[one], rubric.criteria[other]
    twice = "takes points twice" if second.weight < 0 and first.weight < 0 else "counts twice"
    return Finding(
        "overlap",
        ("criteria", other, "requirement"),
        f"Asks nearly the same as “{first.name}”; what they share {twice}.",
        "Merge the two, or say in each what belongs to the other.",
        second.requirement[:120],
        also=(("criteria", one),),
    )
