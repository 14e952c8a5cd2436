"""Whether a criterion is in English: the checks of wording read no other language.

Letters and the little words of a language tell: a text whose letters are not Latin is another
language, and so is one with more little words of another language than of English. What says too
little by itself is taken to be in the language of the rest of its rubric, and else in English.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from core.domain.rubric import Criterion, Rubric
from core.services.checking.language import listed

_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    listed(
        """
    a about all an and are as at be been but by can does each every for from has have how if in
    into is it its most must no not of on one only or other should than that the their there they
    this to two uses using was were what when whether which who why will with without
    answer answers gives names response says states student text writer"""
    )
)
#: Little words that are no English words (German, French, Spanish, Portuguese, Italian, Dutch,
#: Swedish, Danish, Norwegian, Polish, Czech, Turkish, Finnish, Indonesian), and "die".
_OTHERS = frozenset(
    listed(
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
#: Letters of other scripts, as a share of all letters, from which on a text is not English.
_SCRIPT = 0.3


@lru_cache(maxsize=4096)
def leaning(text: str) -> int:
    """Above 0 where the text looks English, below 0 where it looks like another language, else 0.

    >>> leaning("The answer names two sources.") > 0, leaning("Die Antwort nennt zwei Quellen.") < 0
    (True, True)
    >>> leaning("Good grammar"), leaning("回答引用了来源。") < 0
    (0, True)
    """
    if not text.isascii():
        letters = [letter for letter in text if letter.isalpha()]
        strange = sum(not _latin(letter) for letter in letters)
        if letters and strange >= _SCRIPT * len(letters):
            return -len(letters)
    found = [word.lower() for word in _WORD.findall(text)]
    english = sum(word in _ENGLISH for word in found)
    return english - sum(word in _OTHERS for word in found)


def _latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "LATIN").startswith("LATIN")


def english(criteria: Sequence[Criterion]) -> list[bool]:
    """For each criterion whether its wording is to be read as English."""
    own = [leaning(criterion.requirement) for criterion in criteria]
    own = [one or leaning(_anchors(c)) for one, c in zip(own, criteria, strict=True)]
    rest = sum((one > 0) - (one < 0) for one in own)
    return [(one or rest) >= 0 for one in own]


def _anchors(criterion: Criterion) -> str:
    return " ".join(f"{option.label} {option.description}" for option in criterion.options)


def unread(rubric: Rubric) -> tuple[str, ...]:
    """The names of the criteria whose wording is not checked, as they are not in English."""
    read = english(rubric.criteria)
    return tuple(c.name for c, is_read in zip(rubric.criteria, read, strict=True) if not is_read)


def unread_words(names: Sequence[str]) -> str:
    """A sentence that says which criteria were not read, and what was looked at all the same.

    >>> unread_words(["Quellen"])
    'Wording is checked in English only: of “Quellen” options, weights and gates were looked at.'
    """
    if len(names) == 1:
        of = f"“{names[0]}”"
    else:
        shown = ", ".join(f"“{name}”" for name in names[:3])
        of = f"{len(names)} criteria ({shown}{', …' if len(names) > 3 else ''})"
    return f"Wording is checked in English only: of {of} options, weights and gates were looked at."
