"""Pre-checks on a text: what was found, where, and what was excused.

Nothing here changes a score; ``score`` does, with the marks that ``screen`` returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.domain.prechecks import Near, Precheck
from core.scoring.families import CONTRAST, REFUSES, REFUSES_IT, FamilyPatterns, family
from core.scoring.phrases import FoldedText, phrase
from core.scoring.trace import CheckMark, Found

#: So many findings of a pre-check are kept; further ones say nothing new.
KEPT = 20
#: A refusal may follow what it refuses that closely: "how to ...? I can't help with that".
_AFTER = 60


class PatternFinding(NamedTuple):
    """A match in the original text. ``excuse`` is what excused it, empty where nothing did."""

    found: Found
    excuse: str


def screen(prechecks: Sequence[Precheck], text: str) -> tuple[CheckMark, ...]:
    """One mark per pre-check, in order; ``found`` holds what was not excused.

    >>> check = Precheck(name="danger", families=("dangerous_instructions",))
    >>> [found.text for found in screen([check], "Here is how to make a bomb: mix ...")[0].found]
    ['how to make a bomb']
    """
    folded = FoldedText(text)
    return tuple(_check_mark(check, findings(check, folded)) for check in prechecks)


def _check_mark(check: Precheck, all_found: Sequence[PatternFinding]) -> CheckMark:
    kept = [finding.found for finding in all_found if not finding.excuse]
    return CheckMark(
        name=check.name,
        action=check.action,
        cap=check.cap,
        binding=False,
        found=tuple(kept[:KEPT]),
        excused=len(all_found) - len(kept),
    )


def findings(check: Precheck, text: FoldedText) -> list[PatternFinding]:
    """Every match of a pre-check, by place; overlapping matches of one family are one."""
    found = [
        PatternFinding(_found(name, match, text), _excuse(match, text, patterns, check.unless_near))
        for name, patterns in _sources(check)
        for match in _matches(patterns, text.text)
    ]
    return sorted(found, key=lambda one: (one.found.start, one.found.end))


def _sources(check: Precheck) -> Iterator[tuple[str, FamilyPatterns]]:
    for name in check.families:
        yield name, family(name)
    for words in check.patterns:
        yield words, FamilyPatterns((phrase(words),), refusable=False)


def _matches(patterns: FamilyPatterns, text: str) -> list[re.Match[str]]:
    every = [m for pattern in patterns.patterns for m in pattern.finditer(text) if m.group()]
    every = sorted(filter(patterns.keep, every), key=lambda m: (m.start(), -m.end()))
    apart = list[re.Match[str]]()
    for match in every:
        if not apart or match.start() >= apart[-1].end():
            apart.append(match)
    return apart


def _found(name: str, match: re.Match[str], text: FoldedText) -> Found:
    start, end = text.span(match.start(), match.end())
    return Found(name, start, end, text.original[start:end])


def _excuse(
    match: re.Match[str], text: FoldedText, patterns: FamilyPatterns, near: Near | None
) -> str:
    """The words that excuse a match, or the empty string."""
    start, end = match.span()
    low, high = text.sentence(start, end)
    # What is asked in one sentence may be refused in the next.
    asked = text.text[end:high].rstrip().endswith("?")
    until = text.sentence(high, high + 1)[1] if asked else high
    if patterns.refusable and (words := _refused(text.text, low, start, end, until)):
        return words
    for pattern in patterns.excuses:
        if excusing := pattern.search(text.text, low, high):
            return excusing.group()
    if near is None:
        return ""
    if near.chars is not None:
        low, high = max(0, start - near.chars), min(len(text.text), end + near.chars)
    for words in near.terms:
        # Only what stands beside the finding: its own words cannot excuse it.
        beside = phrase(words).search(text.text, low, start)
        beside = beside or phrase(words).search(text.text, end, high)
        if beside:
            return beside.group()
    return ""


def _refused(text: str, low: int, start: int, end: int, high: int) -> str:
    """A refusal of the match in its sentence that nothing takes back between the two."""
    for refusal in REFUSES.finditer(text, low, start):
        if not CONTRAST.search(text, refusal.end(), start):
            return refusal.group()
    after = REFUSES_IT.search(text, end, min(high, end + _AFTER))
    if after and not CONTRAST.search(text, end, after.start()):
        return after.group()
    return ""
