"""Words of a requirement or an anchor, and what the checks ask about them. English only."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from core.domain.rubric import Criterion, Option

#: Where words stand without spaces (Chinese, Japanese), each character counts as one.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+(?:['’][^\W\d_]+)*|\d+(?:[.,]\d+)*")
_ENDINGS = ("ations", "ation", "ments", "ment", "ness", "ings", "ing", "ies", "ed", "es", "ly", "s")


def listed(text: str) -> tuple[str, ...]:
    """The words of a plain list.

    >>> listed("a b")
    ('a', 'b')
    """
    return tuple(text.split())


#: Of a longer requirement the checks read this many characters; its length is told by itself.
READ = 800

#: Words that carry no subject of their own in a criterion.
STOP = frozenset(
    listed(
        """
    a an and any are as at be been being but by can could did do does each either every few for
    from had has have having how if in into is it its itself may might more most much must no nor
    not of on one only or other over per shall should so some such than that the their them then
    there these they this those to too under up very was well were what when where whether which
    while who whom whose why will with within without would you your
    answer answers article assistant bot chatbot criterion document essay judge message model output
    paper reply report response responses review student submission summary system text user writer
    author reader person degree extent level quality"""
    )
)
#: Words that only say how much: two anchors that differ by these alone differ by nothing.
DEGREES = frozenset(
    listed(
        """
    absolutely acceptable adequate adequately almost amazingly average awful badly barely basic
    best better clear clearly completely considerable considerably decent decently deeply effective
    effectively entirely especially exceptional exceptionally excellent excellently extensive
    extensively extremely fair fairly few full fully generally good great greatly hardly high highly
    inadequate inadequately incredibly insufficient insufficiently just largely limited little low
    mainly many marginally mediocre mild mildly minimal minimally minor moderate moderately more
    mostly much nearly occasional occasionally often outstanding partial partially partly perfect
    perfectly poor poorly pretty quite rarely rather reasonable reasonably satisfactory
    satisfactorily seldom sharply significant significantly slight slightly solid somewhat strong
    strongly sufficient sufficiently superb terrible thorough thoroughly totally unclear usually
    utterly very weak weakly well whole wholly"""
    )
)
NUMBER_WORDS = frozenset(
    listed(
        """
    one two three four five six seven eight nine ten twelve twenty half third quarter once twice
    first second single no none neither each every all"""
    )
)
_EXPLAINED = re.compile(
    r"\([^)]*\w+\W+\w+\W+\w+[^)]*\)|[\"“][^\"”]{3,}[\"”]|\b(?:i\.e\.|e\.g\.)|\b(?:that is|"
    r"for example|for instance|such as|meaning|means|in the sense|at least one|so that)\b|:\s+\w+",
    re.IGNORECASE,
)


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """The words and numbers of a text, in lower case.

    >>> words("It's 3.5, OK?")
    ("it's", '3.5', 'ok')
    """
    return tuple(found.lower().replace("’", "'") for found in _WORD.findall(text))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A word without its commonest endings: enough to see "cites" and "citing" as one.

    >>> stem("cites"), stem("citing"), stem("citations")
    ('cit', 'cit', 'cit')
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


@lru_cache(maxsize=4096)
def content(text: str) -> tuple[str, ...]:
    """The stems of the words that carry a subject.

    >>> content("The answer cites a source.")
    ('cit', 'sourc')
    """
    return tuple(stem(word) for word in words(text) if word not in STOP)


def sentences(text: str) -> list[str]:
    """The sentences of a text, split at full stops, question and exclamation marks.

    >>> sentences("Is it so? It is, e.g. here.")
    ['Is it so?', 'It is, e.g. here.']
    """
    parts = re.split(r"(?<=[.?!])\s+(?=[A-Z0-9\"“(])", text.strip())
    return [part for part in parts if part]


def explained(text: str) -> bool:
    """Whether the requirement goes on to say what its words mean: examples, brackets, a sentence.

    >>> explained("It is polite."), explained("It is polite (no insults, no orders, no sarcasm).")
    (False, True)
    """
    following = sentences(text)[1:]
    return bool(_EXPLAINED.search(text)) or any(len(words(one)) >= 5 for one in following)


def described(option: Option) -> bool:
    """Whether the option has an anchor that says something: content besides words of degree."""
    return len([w for w in words(option.description) if w not in DEGREES]) >= 3


def says_something(option: Option) -> bool:
    """Whether the option's anchor names anything at all, be it in two words."""
    said = set(words(option.description))
    return described(option) or bool(said - DEGREES - STOP)


def scored_options(criterion: Criterion) -> list[tuple[int, Option]]:
    """The options that are no abstentions, with their places in ``options``."""
    return [(at, option) for at, option in enumerate(criterion.options) if not option.na]


def anchored(criterion: Criterion) -> bool:
    """Whether every option that is no abstention has an anchor."""
    return all(described(option) for _, option in scored_options(criterion))


def settled(criterion: Criterion) -> bool:
    """Whether anchors or the requirement itself say what its words mean."""
    return anchored(criterion) or explained(criterion.requirement)


def alternatives(terms: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds any of these words or phrases (regular expressions), whole words."""
    longest_first = sorted(terms, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(longest_first)})\b", re.IGNORECASE)
