"""What a heading says about the ends of its scale: the lowest and highest mark, and the best."""

from __future__ import annotations

import re

from core.formats.columns.label_words import is_yes
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import FAULTS, has_word, plain_heading
from core.formats.votes.structure.graded_words import bare_word
from core.formats.votes.structure.vote_headings import WORDED_ENDS

#: The notice of a criterion that counts against a text.
FAULT = "More of it is worse: the lowest number has value 1, the highest 0."
#: The first words of scales of amounts.
_LEAST = re.compile(
    r"(very |sehr |tres |muy |molto |muito |zeer )?"
    r"(low|niedrig|gering|faible|bajo|basso|baixo|laag)"
    r"|none|no|never|keine?|nie|aucune?|jamais|ningun[oa]?|nunca|nulo|mai|geen|nooit|minimal"
)
#: Handling a risk well, or none at all, is no fault.
_HANDLED = re.compile(
    r"\b(handl|avoid|manag|control|mitigat|correct|detect|absen|free|aware|low|analys|discuss|assess"
    r"|identif|recogni|propagat|prevent|vermeid|vermied|behandel|frei|evit|gest[ií]on|sans"
    r"|without|ohne|sin|sem|senza|zonder|bez|kein|aucun|ningun|nessun|nenhum|geen)"
    r"|\b(no|not|non|nicht|pas|nie|never|none|free of|null|zero|не|без|нет)\b|无|没有|なし|없음"
)
#: Questions whether a text has a fault.
_HAS = re.compile(
    r"\b(contains?|has|have|is|are|any|includes?|exhibits?|shows?|made|makes?|enthalt|hat|ist|gibt"
    r"|contient|comporte|y a t il|contiene|contem|hay|ha|bevat|zawiera|содержит|есть)\b"
    r"|包含|存在|含"
)


def counts_against(criterion: str, lowest: str) -> bool:
    """Return whether a criterion names a fault, and its lowest level is the least of it.

    >>> counts_against("Severity", "0"), counts_against("Severity", "critical")
    (True, False)
    >>> counts_against("Risk handling", "0"), counts_against("Tone", "low")
    (False, False)
    >>> counts_against("Does it contain an error?", "no"), counts_against("No errors", "nein")
    (True, False)
    """
    plain = plain_heading(criterion)
    short = len(plain.split()) < 5 or (is_yes(lowest) is False and _HAS.search(plain))
    named = short and has_word(criterion, FAULTS, whole=True)
    least = number_of(lowest) is not None or is_yes(lowest) is False
    least = least or _LEAST.fullmatch(bare_word(lowest)) is not None
    return bool(named and least) and not _HANDLED.search(plain)


#: `Depth (0-15)`, `Depth /5`, `Depth (max. 20)`, `Essay [Total Pts: 40 Score] |301`: the lowest
#: and the highest mark.
_ENDS = re.compile(
    r"[(\[](\d+) ?(?:-|–|to|bis|a|à) ?(\d+)[)\]]|(?:/ ?|\bmax(?:imum|\.)? ?)(\d+)[)\]]?\Z"
    r"|\b(?:total pts|max ?points): ?(\d+)(?:\.0+)?\b",
    re.I,
)
_WORDED = re.compile(WORDED_ENDS)


def ends_of(criterion: str, given: set[float], most: float | None = None) -> set[float]:
    """Return the lowest and the highest mark by a heading, or 0 and the points possible (``most``).

    Returns none if a mark lies outside.

    >>> ends_of("Depth (max. 20)", {8.0, 13.5}), ends_of("Depth /5", {8.0}), ends_of("Depth", {1.0})
    ({0.0, 20.0}, set(), set())
    >>> ends_of("Essay", {8.0}, 10.0)
    {0.0, 10.0}
    >>> sorted(ends_of("Is on time [1 = never, 5 = always]", {2.0, 4.0}))
    [1.0, 5.0]
    """
    match, worded = _ENDS.search(criterion), _WORDED.search(criterion)
    low = float(match[1] or 0) if match else 0.0
    high = float(match[2] or match[3] or match[4]) if match else most
    if worded:
        low, high = sorted(float(n) for n in worded.groups() if n)
    inside = high is not None and bool(given) and low <= min(given) <= max(given) <= high
    return {low, high} if inside and high is not None else set()
