"""The words of a requirement: their number, their grammatical subjects, and their language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from core.domain.rubric import Criterion, Option, Rubric

# Words of a requirement or an anchor, and questions about them. English only.

#: In scripts without spaces (Chinese, Japanese), each character counts as one word.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+(?:['’][^\W\d_]+)*|\d+(?:[.,]\d+)*")
_ENDINGS = ("ations", "ation", "ments", "ment", "ness", "ings", "ing", "ies", "ed", "es", "ly", "s")


def word_set(text: str) -> tuple[str, ...]:
    """Return the words of a space-separated list.

    >>> word_set("a b")
    ('a', 'b')
    """
    return tuple(text.split())


#: The checks read this many characters of a requirement; a longer one gets its own finding.
READ = 800

#: Words without a subject of their own in a criterion.
STOP = frozenset(
    word_set(
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
#: Words of degree. Anchors that differ only in these words do not differ.
DEGREES = frozenset(
    word_set(
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
    word_set(
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
def words_of(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a text, in lower case.

    >>> words_of("It's 3.5, OK?")
    ("it's", '3.5', 'ok')
    """
    return tuple(word.lower().replace("’", "'") for word in _WORD.findall(text))


@lru_cache(maxsize=8192)
def stem_of(word: str) -> str:
    """Strip a word's most common endings, so that "cites" and "citing" match.

    >>> stem_of("cites"), stem_of("citing"), stem_of("citations")
    ('cit', 'cit', 'cit')
    """
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e") if len(word) > 3 else word


@lru_cache(maxsize=4096)
def content_stems(text: str) -> tuple[str, ...]:
    """Return the stems of the content words, without stop words.

    >>> content_stems("The answer cites a source.")
    ('cit', 'sourc')
    """
    return tuple(stem_of(word) for word in words_of(text) if word not in STOP)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, split at full stops, "?" and "!".

    >>> sentences("Is it so? It is, e.g. here.")
    ['Is it so?', 'It is, e.g. here.']
    """
    parts = re.split(r"(?<=[.?!])\s+(?=[A-Z0-9\"“(])", text.strip())
    return [part for part in parts if part]


def explains_itself(text: str) -> bool:
    """Return whether the requirement explains itself.

    Examples, brackets or a further sentence count as an explanation.

    >>> explains_itself("It is polite.")
    False
    >>> explains_itself("It is polite (no insults, no orders, no sarcasm).")
    True
    """
    following = sentences(text)[1:]
    return bool(_EXPLAINED.search(text)) or any(
        len(words_of(sentence)) >= 5 for sentence in following
    )


def has_content(option: Option) -> bool:
    """Return whether the option's anchor has content other than words of degree."""
    return len([w for w in words_of(option.description) if w not in DEGREES]) >= 3


def names_anything(option: Option) -> bool:
    """Return whether the option's anchor names anything at all, even in two words."""
    named = set(words_of(option.description))
    return has_content(option) or bool(named - DEGREES - STOP)


def scored_options(criterion: Criterion) -> list[tuple[int, Option]]:
    """Return the options other than abstentions, with their places in ``options``."""
    return [(at, option) for at, option in enumerate(criterion.options) if not option.na]


def has_all_anchors(criterion: Criterion) -> bool:
    """Return whether every option other than an abstention has an anchor."""
    return all(has_content(option) for _, option in scored_options(criterion))


def defines_its_words(criterion: Criterion) -> bool:
    """Return whether anchors or the requirement itself define its words."""
    return has_all_anchors(criterion) or explains_itself(criterion.requirement)


def alternatives(terms: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches any of these whole words or phrases (regexes)."""
    longest_first = sorted(terms, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(longest_first)})\b", re.IGNORECASE)


# Statements about the world, which the checks ignore, and statements about the text.
#
# "States that the strong force binds quarks" asks for a statement; "strong" does not praise the
# text there. The checks look for words of quality, amount and doubt only outside of such
# statements.

_REPORTS = (
    r"(?:says?|states?|notes?|mentions?|explains?|points? out|claims?|concludes?|argues?|warns?|"
    r"acknowledges?|recogni[sz]es?|identif(?:y|ies)|clarif(?:y|ies)|tells?|informs?|advises?|"
    r"recommends?|suggests?|indicates?|asserts?|asks?|confirms?|reports?|describes?|shows?|proves?)"
)
_STATEMENT = re.compile(
    rf"\b{_REPORTS}\b[^.?!;:]{{0,40}}?\b(?:that|why|whether|how)\b([^.?!;]*)", re.IGNORECASE
)
_BETWEEN = re.compile(r"\b(?:between|versus|vs\.?|over)\s+([\w-]+\s+(?:and|or)\s+[\w-]+)", re.I)
_QUOTED = re.compile(r"[\"“«‘]([^\"”»’]{2,80})[\"”»’]|(?<!\w)'([^']{2,80})'(?!\w)")
#: Terms of art in which a word of quality or amount is not a judgment.
_TERMS = re.compile(
    r"\b(?:significant (?:digit|figure)s?|statistically significant|strong (?:nuclear )?"
    r"(?:force|acid|base|interaction|verb)s?|quality (?:control|assurance|management|of life|"
    r"of care|standards?)|(?:air|water|sleep|image|sound|data) quality|good faith|public goods?|"
    r"optimal (?:stopping|control|transport)|proper (?:noun|name|fraction|subset|divisor|time)s?|"
    r"useful life|great (?:war|depression|britain|powers?)|effective (?:date|rate|mass|rank|"
    r"radius|(?:batch|sample) size)|robust (?:to|against|models?|accuracy|versions?|statistics?|"
    r"standard errors?|regression|performance|optimi[sz]ation|training)|"
    r"(?:health(?: ?care)?|medical|legal|qualified|licensed|trained|other) professionals?|"
    r"an? professional(?=\s*(?:[.,;?!]|$|(?:who|that|if|when|for|about|and|or)\b))|"
    r"professional (?:code|conduct|development|advice|help|bod(?:y|ies)|"
    r"association|support|services?|guidance|care)|solid (?:state|waste|food)s?|"
    r"short (?:story|stories))\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def without_quotations(text: str) -> str:
    """Return the requirement with statements, quotations and terms blanked out.

    The length stays the same, so places in it are places in the requirement.

    >>> without_quotations("States that the strong force acts.").split()
    ['States', 'that', '.']
    """
    for pattern in (_STATEMENT, _QUOTED, _BETWEEN, _TERMS):
        text = pattern.sub(_blank_match, text)
    return text


def _blank_match(match: re.Match[str]) -> str:
    group = next((at for at in range(1, len(match.groups()) + 1) if match[at] is not None), 0)
    start, end = match.span(group)
    shift = match.start()
    matched = match[0]
    return matched[: start - shift] + " " * (end - start) + matched[end - shift :]


# Whether a criterion is in English: the wording checks read no other language.
#
# Letters and function words decide. A text whose letters are not Latin is in another language. So
# is one with more function words of another language than of English. A text too short to decide
# takes the language of most texts of its rubric, or else English.

_LETTERS = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    word_set(
        """
    a about all an and are as at be been but by can does each every for from has have how if in
    into is it its most must no not of on one only or other should than that the their there they
    this to two uses using was were what when whether which who why will with without
    answer answers gives names response says states student text writer"""
    )
)
#: Function words that are not English words (German, French, Spanish, Portuguese, Italian, Dutch,
#: Swedish, Danish, Norwegian, Polish, Czech, Turkish, Finnish, Indonesian), and "die".
_OTHERS = frozenset(
    word_set(
        """
    der das und ist nicht ein eine einen einem einer eines mit wird werden sich auf für von zu
    den dem des im sind oder wenn dass wie auch kein keine bei nach über aus hat haben durch die
    zwei antwort nennt jede jeder
    le la les est une qui que dans pour sur pas ne au aux ce cette ou par du de avec sans sont
    réponse elle ses leur
    el los y del una por con para se su más lo como respuesta cada
    os uma em não da dos das na ao é são um pelo seus
    il gli di che è sono della nel delle dei ogni alla degli
    het een voor zijn wordt dat niet op te bij ook maar
    och att det som är ett inte på av till ikke og
    nie jest że oraz jak się lub je ve bir bu için ile ja tai että yang dengan untuk"""
    )
)
#: A text with at least this share of letters in other scripts is not English.
_SCRIPT = 0.3


@lru_cache(maxsize=4096)
def english_score(text: str) -> int:
    """Return a number above 0 for English text, below 0 for other text, 0 if undecided.

    >>> english_score("The answer names sources.") > 0, english_score("Die Antwort nennt sie.") < 0
    (True, True)
    >>> english_score("Good grammar"), english_score("回答引用了来源。") < 0
    (0, True)
    """
    if not text.isascii():
        letters = [letter for letter in text if letter.isalpha()]
        other_letters = sum(not _is_latin(letter) for letter in letters)
        if letters and other_letters >= _SCRIPT * len(letters):
            return -len(letters)
    tokens = [word.lower() for word in _LETTERS.findall(text)]
    english = sum(word in _ENGLISH for word in tokens)
    return english - sum(word in _OTHERS for word in tokens)


def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "LATIN").startswith("LATIN")


def are_english(criteria: Sequence[Criterion]) -> list[bool]:
    """Return for each criterion whether it is checked as English."""
    leanings = [english_score(criterion.requirement) for criterion in criteria]
    leanings = [
        lean or english_score(_anchor_text(c)) for lean, c in zip(leanings, criteria, strict=True)
    ]
    balance = sum((lean > 0) - (lean < 0) for lean in leanings)
    return [(lean or balance) >= 0 for lean in leanings]


def _anchor_text(criterion: Criterion) -> str:
    return " ".join(f"{option.label} {option.description}" for option in criterion.options)


def criteria_unchecked(rubric: Rubric) -> tuple[str, ...]:
    """Return the names of the criteria whose wording is unchecked (not English)."""
    is_english = are_english(rubric.criteria)
    return tuple(
        c.name for c, is_read in zip(rubric.criteria, is_english, strict=True) if not is_read
    )


def unchecked_sentence(names: Sequence[str]) -> str:
    """Return a sentence that names the unread criteria and what was still checked.

    >>> unchecked_sentence(["Quellen"])
    'Wording is checked in English only: of “Quellen” options, weights and gates were looked at.'
    """
    if len(names) == 1:
        named = f"“{names[0]}”"
    else:
        shown = ", ".join(f"“{name}”" for name in names[:3])
        named = f"{len(names)} criteria ({shown}{', …' if len(names) > 3 else ''})"
    return (
        f"Wording is checked in English only: of {named} options, weights and gates were looked at."
    )
