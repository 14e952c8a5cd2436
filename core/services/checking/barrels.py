"""More than one question in one criterion."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.domain.rubric import Criterion
from core.services.checking.finding import Edit, Finding
from core.services.checking.language import READ, listed, sentences
from core.services.checking.topic import of_the_text

_ADJECTIVES = listed(
    """accurate actionable appropriate balanced biased brief clean clear coherent complete
    comprehensive concise consistent contradictory convincing correct creative current detailed
    efficient elegant empathetic engaging factual fair faithful fluent formal friendly
    grammatical grounded harmful harmless helpful honest incomplete incorrect informative
    interesting irrelevant justified legible logical misleading natural neutral objective
    organi[sz]ed original persuasive plausible polite precise professional readable relevant
    reliable respectful rude safe short simple sound specific structured supported thorough
    timely toxic truthful understandable useful vague valid warm wrong"""
)
_NOUNS = listed(
    """accuracy clarity coherence completeness conciseness consistency content correctness
    creativity depth empathy faithfulness fluency formatting grammar groundedness helpfulness
    layout logic naturalness organi[sz]ation originality politeness precision punctuation
    readability reasoning relevance safety spelling structure style tone truthfulness usefulness
    vocabulary"""
)
_VERBS = listed(
    """acknowledge address analyse analyze answer apologise apologize avoid cite compare conclude
    contain correct define demonstrate describe discuss evaluate explain follow give identify
    include justify keep list mention name offer present provide recommend refer show state
    suggest summarise summarize support use"""
)
_HOW = r"(?:(?:very|highly|also|not|both|well[- ])\s*)*"


def _one_of(terms: tuple[str, ...]) -> str:
    return rf"(?:{'|'.join(terms)}|well[- ]\w+)"


_QUALITY = rf"{_HOW}{_one_of(_ADJECTIVES)}"
_ADJECTIVE_PAIR = re.compile(
    rf"\b({_QUALITY})((?:,\s+{_QUALITY})*),?\s+(?:and|&)\s+({_QUALITY})\b", re.IGNORECASE
)
_NOUN = rf"(?:{'|'.join(_NOUNS)})"
_NOUN_PAIR = re.compile(
    rf"\b({_NOUN})((?:,\s+{_NOUN})*),?\s+(?:and|&|as well as)\s+({_NOUN})\b", re.IGNORECASE
)


def _verbs(ending: str) -> str:
    forms = [re.sub("y$", "ie", v) if ending and v.endswith("fy") else v for v in _VERBS]
    return "|".join(form + ending for form in forms)


_VERB_PAIR = re.compile(
    rf"\b({_verbs('s')})\b([^.;:?!()]*?),?\s+and\s+(?:also\s+|then\s+)?((?:{_verbs('s')})\b)",
    re.IGNORECASE,
)
_ASKED_VERB_PAIR = re.compile(
    rf"^(?:does|do|did|can)\b[^.;:?!()]*?\b({_verbs('')})\b([^.;:?!()]*?),?\s+and\s+(?:also\s+)?"
    rf"((?:{_verbs('')})\b)",
    re.IGNORECASE,
)
_BOTH = re.compile(r"\bboth\b[^.;?!]{3,80}\band\b[^.;?!]{2,}|\band/or\b", re.IGNORECASE)
_RELATIVE = re.compile(r"\b(?:that|who|what)\b", re.IGNORECASE)


def double_barrelled(criterion: Criterion) -> Iterator[Finding]:
    """Two qualities, two acts or two questions that one answer would have to cover."""
    text = criterion.requirement
    found = _found(text)
    if found is None:
        return
    quote, parts = found
    # Of a requirement that was not read to its end, nothing may be cut off.
    whole = len(text) < READ
    edit = parts and whole and Edit("split", (), "Split into two criteria", list(parts))
    yield Finding(
        "double-barrelled",
        ("requirement",),
        f"Asks more than one thing: “{quote}”.",
        "Make one criterion of each, so that a text which has only one of them can be judged.",
        quote,
        edit or None,
    )


def _found(text: str) -> tuple[str, tuple[str, str] | None] | None:
    """The words that join two questions, and the two requirements where they can be parted."""
    for pattern in (_ADJECTIVE_PAIR, _NOUN_PAIR):
        match = pattern.search(of_the_text(text))
        if match:
            return match[0], _parted_words(text, match)
    for pattern in (_VERB_PAIR, _ASKED_VERB_PAIR):
        match = pattern.search(text)
        if match and not _RELATIVE.search(match[2]):
            return match[0], _parted_acts(text, match) if pattern is _VERB_PAIR else None
    match = _BOTH.search(text)
    if match:
        return match[0], None
    if sum(one.endswith("?") for one in sentences(text)) > 1:
        return text[-60:], None
    return None


def _parted_words(text: str, match: re.Match[str]) -> tuple[str, str] | None:
    inside = text.count("(", 0, match.start()) > text.count(")", 0, match.start())
    if match[2] or inside or "both" in match[0].lower() or len(sentences(text)) > 1:
        return None
    head, tail = text[: match.start()], text[match.end() :]
    return f"{head}{match[1]}{tail}", f"{head}{match[3]}{tail}"


def _parted_acts(text: str, match: re.Match[str]) -> tuple[str, str] | None:
    subject = text[: match.start()]
    if len(sentences(text)) > 1 or not 0 < len(subject.split()) <= 6 or "," in subject:
        return None
    first = text[: match.end(2)].rstrip(" ,")
    second = f"{subject}{text[match.start(3) :]}"
    # "it" in the second half would point at nothing.
    if re.search(r"\b(?:it|its|them|they|this|these|that|both)\b", text[match.start(3) :], re.I):
        return None
    return f"{first}.", second
