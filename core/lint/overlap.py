"""Find criteria that ask nearly the same, except those that only share a sentence frame."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from core.domain.rubric import Rubric
from core.lint.language import are_english, content_stems
from core.lint.rules import LintFinding

#: Criteria overlap if the cosine of their weighted word counts is at least this.
ALIKE = 0.72
#: The limit for requirements in other languages, whose function words are not filtered out.
ALIKE_ELSEWHERE = 0.9
#: Requirements with fewer content words match only if they are identical.
SHORT = 3


def overlapping_criteria(rubric: Rubric) -> Iterator[LintFinding]:
    """Find criteria whose requirements use nearly the same words, one finding per group."""
    for group in _alike_groups(rubric):
        yield _overlap_finding(rubric, group)


def _alike_groups(rubric: Rubric) -> list[list[int]]:
    """Return groups of criteria that ask nearly the same, in the order of each group's first
    criterion.
    """
    texts = [Counter(content_stems(c.requirement)) for c in rubric.criteria]
    rarity = _word_rarity(texts)
    vectors = [{word: n * rarity[word] for word, n in text.items()} for text in texts]
    reads = are_english(rubric.criteria)
    norms = [math.sqrt(sum(x * x for x in v.values())) for v in vectors]
    first_of = list(range(len(texts)))
    # In a tree of tasks, the same question in different places asks different things.
    places = [(c.section, c.tags, repr(c.meta.get("above"))) for c in rubric.criteria]
    for first, second in combinations(range(len(vectors)), 2):
        if not texts[first] or not texts[second] or first_of[first] == first_of[second]:
            continue
        if places[first] != places[second]:
            continue
        same = texts[first] == texts[second]
        if not same and min(len(texts[first]), len(texts[second])) < SHORT:
            continue
        limit = ALIKE if reads[first] and reads[second] else ALIKE_ELSEWHERE
        if same or (
            _dot_product(vectors[first], vectors[second]) >= limit * norms[first] * norms[second]
            and not _share_frame(*(rubric.criteria[at].requirement for at in (first, second)))
        ):
            old, new = sorted((first_of[first], first_of[second]))
            first_of = [new if group_of == old else group_of for group_of in first_of]
    groups: dict[int, list[int]] = {}
    for at, group_of in enumerate(first_of):
        groups.setdefault(group_of, []).append(at)
    return [group for group in groups.values() if len(group) > 1]


#: Names, numbers and formulas: texts that differ in such words differ in subject.
_NAME = re.compile(r"[^\s\"“”]*(?:\d|[a-z][A-Z]|[A-Z]{2}|[$_\\^])[^\s\"“”]*|(?<=[^.?!:] )[A-Z]\w+")
#: Texts with at least this many common words that differ in a word each share a frame.
_FRAME = 6


def _share_frame(first: str, second: str) -> bool:
    """Return whether two texts share a sentence frame but differ in subject.

    Each names something that the other does not, or has its own word in a long sentence.

    >>> _share_frame("Model A1 is trained on all of it.", "Model B2 is trained on all of it.")
    True
    """
    names = [set(_NAME.findall(text)) for text in (first, second)]
    if names[0] - names[1] and names[1] - names[0]:
        return True
    first_words, second_words = set(content_stems(first)), set(content_stems(second))
    return (
        len(first_words & second_words) >= _FRAME
        and bool(first_words - second_words)
        and bool(second_words - first_words)
    )


def _word_rarity(texts: list[Counter[str]]) -> dict[str, float]:
    """Return the smoothed inverse document frequency of each word."""
    spread = Counter(word for text in texts for word in text)
    return {word: math.log((1 + len(texts)) / n) + 0.3 for word, n in spread.items()}


def _dot_product(first: dict[str, float], second: dict[str, float]) -> float:
    small, large = sorted((first, second), key=len)
    return sum(x * large[word] for word, x in small.items() if word in large)


def _overlap_finding(rubric: Rubric, group: list[int]) -> LintFinding:
    at, further = group[1], [group[0], *group[2:]]
    weights = [rubric.criteria[place].weight for place in group]
    effect = "takes points" if all(weight < 0 for weight in weights) else "counts"
    times = "twice" if len(group) == 2 else f"{len(group)} times"
    return LintFinding(
        "overlap",
        ("criteria", at, "requirement"),
        f"Asks nearly the same as {_names_at(rubric, further)}; what they share {effect} {times}.",
        "Merge them, or say in each what belongs to the others.",
        rubric.criteria[at].requirement[:120],
        also=tuple(("criteria", other) for other in further),
    )


def _names_at(rubric: Rubric, places: list[int]) -> str:
    names = [f"“{rubric.criteria[at].name}”" for at in places[:3]]
    unnamed = len(places) - len(names)
    last = f"{unnamed} more" if unnamed else names.pop() if len(names) > 1 else ""
    return ", ".join(names) + (f" and {last}" if last else "")
