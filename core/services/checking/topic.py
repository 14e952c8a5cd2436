"""What a requirement says of the world, told apart from what it says of the text.

"States that the strong force binds quarks" asks for a statement; "strong" is no praise of the text
there. Words of quality, amount and doubt are looked for only outside of such statements.
"""

from __future__ import annotations

import re
from functools import lru_cache

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
#: Terms in which a word of quality or amount is none.
_TERMS = re.compile(
    r"\b(?:significant (?:digit|figure)s?|statistically significant|strong (?:nuclear )?"
    r"(?:force|acid|base|interaction|verb)s?|quality (?:control|assurance|management|of life|"
    r"of care|standards?)|(?:air|water|sleep|image|sound|data) quality|good faith|public goods?|"
    r"optimal (?:stopping|control|transport)|proper (?:noun|name|fraction|subset|divisor|time)s?|"
    r"useful life|great (?:war|depression|britain|powers?)|effective (?:date|rate|mass)|"
    r"(?:health(?: ?care)?|medical|legal|qualified|licensed|trained|other) professionals?|"
    r"an? professional(?=\s*(?:[.,;?!]|$|(?:who|that|if|when|for|about|and|or)\b))|"
    r"professional (?:code|conduct|development|advice|help|bod(?:y|ies)|"
    r"association|support|services?|guidance|care)|solid (?:state|waste|food)s?|"
    r"short (?:story|stories))\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def of_the_text(text: str) -> str:
    """The requirement with every statement, quotation and term of art blanked out.

    Same length as before, so that places in it are places in the requirement.

    >>> of_the_text("States that the strong force acts.").split()
    ['States', 'that', '.']
    """
    for pattern in (_STATEMENT, _QUOTED, _BETWEEN, _TERMS):
        text = pattern.sub(_blank, text)
    return text


def _blank(match: re.Match[str]) -> str:
    inner = next((at for at in range(1, len(match.groups()) + 1) if match[at] is not None), 0)
    start, end = match.span(inner)
    shift = match.start()
    whole = match[0]
    return whole[: start - shift] + " " * (end - start) + whole[end - shift :]
