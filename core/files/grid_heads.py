"""What the headings of a grid rubric say: which column is what, what its levels are worth.

A grid has a row for each criterion and a column for each level, as teachers write rubrics in a
word processor or a spreadsheet.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from core.domain.names import fold

Role = Literal["criterion", "requirement", "weight", "section", "aside", "level"]
#: Whether the best level stands first; ``None`` where neither points nor words tell.
Order = Literal["best_first", "worst_first"] | None


def _known(words: str) -> frozenset[str]:
    return frozenset(" ".join(word.split()) for word in words.split("|"))


_ROLES: dict[Role, frozenset[str]] = {
    "criterion": _known(
        """criterion|criteria|aspect|category|dimension|trait|element|component|objective|
        standard|skill|learning outcome|outcome|task|area|name|title|what is assessed"""
    ),
    "requirement": _known(
        """requirement|description|question|text|definition|what to look for|guiding question"""
    ),
    "weight": _known(
        """weight|weighting|points|pts|max|max points|max. points|maximum|maximum points|worth|
        points possible|possible points|out of"""
    ),
    "section": _known("section|group|part"),
    "aside": _known(
        """score|points earned|earned|your score|grade|mark|comment|comments|feedback|notes|
        total"""
    ),
}
#: Headings of tables of votes: a table with one of them is no grid of levels.
_VOTES = _known("item|item_id|item id|rater|rater_id|annotator|judge|label|vote|rating")
#: Words for levels, from the best to the worst; those of a line are alike.
_RANKS = (
    "exemplary|excellent|outstanding|exceptional|distinguished|advanced|superior|mastery|mastered|"
    "exceeds expectations|exceeds|expert|full marks|full credit|fully met|complete|strong|high|"
    "always|very good|a",
    "good|proficient|accomplished|meets expectations|meets|competent|above average|usually|"
    "mostly met|met|yes|b",
    "fair|satisfactory|adequate|developing|average|basic|acceptable|partially meets|partial|"
    "partial credit|partly met|partially met|approaching|approaches expectations|emerging|"
    "sometimes|medium|moderate|sufficient|c",
    "needs improvement|needs work|limited|weak|below expectations|below average|novice|marginal|"
    "rarely|low|d",
    "poor|unsatisfactory|inadequate|insufficient|beginning|failing|fail|no credit|no marks|"
    "not met|unmet|no|absent|missing|none|incomplete|never|unacceptable|does not meet|"
    "does not meet expectations|very poor|f",
)
_RANK = {word: at for at, line in enumerate(_RANKS) for word in line.split("|")}
_NUMBER = r"[-−+]?\d+(?:[.,]\d+)?"
_UNIT = r"(?:points?|pts?\.?|p\.|marks?)"
_SPAN = rf"(?P<first>{_NUMBER})(?:\s*(?:-|–|—|to)\s*(?P<second>{_NUMBER}))?"
#: Points alone, before words or after them; these have a unit, or are all there is.
_SURE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?P<label>){_SPAN}\s*{_UNIT}?$",
        rf"^(?P<label>.*\S)\s*[\[(]\s*{_SPAN}\s*{_UNIT}\s*[\])]\.?$",
        rf"^(?P<label>.*\S)\s*(?:[:,–—-]\s*|\s){_SPAN}\s*{_UNIT}$",
        rf"^[\[(]?\s*{_SPAN}\s*{_UNIT}\s*[\])]?\s*[:.=–—-]?\s+(?P<label>\S.*)$",
    )
)
#: The same without a unit, as headings have them.
_BARE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^(?P<label>.*\S)\s*[\[(]\s*{_SPAN}\s*[\])]$",
        rf"^(?P<label>.*[^\s\d])\s*[:,–—-]\s*{_SPAN}$",
        rf"^[\[(]?\s*{_SPAN}\s*[\])]?\s*[:.=)–—-]\s*(?P<label>[^\W\d].*)$",
        rf"^(?P<label>[^\W\d].*\S)\s+{_SPAN}$",
    )
)


class Points(NamedTuple):
    """What a heading or a cell says: its words, and points (``None``: it names none).

    Of a range of points (8-10) ``points`` are the most and ``least`` the fewest.
    """

    label: str
    points: float | None
    least: float | None


def points_in(text: str, *, heading: bool = False) -> Points:
    """The points at the beginning or the end of a text; in a ``heading`` they need no unit.

    >>> points_in("Good (3 points)"), points_in("8-10")
    (Points(label='Good', points=3.0, least=3.0), Points(label='8-10', points=10.0, least=8.0))
    >>> points_in("Good (3)").points, points_in("Good (3)", heading=True).points
    (None, 3.0)
    """
    words = " ".join(text.split())
    for pattern in (*_SURE, *_BARE) if heading else _SURE:
        match = pattern.match(words)
        if match:
            ends = [_number(n) for n in (match["first"], match["second"]) if n is not None]
            return Points(match["label"] or words, max(ends), min(ends))
    return Points(words, None, None)


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", "."))


def roles_of(heads: Sequence[str]) -> tuple[Role, ...] | None:
    """What every column of a grid is; ``None`` where the headings are none of a grid's.

    >>> roles_of(["Criterion", "Excellent", "Poor", "Comments"])
    ('criterion', 'level', 'level', 'aside')
    """
    known = [fold(head) for head in heads]
    if len(known) < 3 or any(head in _VOTES for head in known):
        return None
    roles = [_role(head) for head in known]
    named = "criterion" in roles
    if not named:
        # An empty corner, or a title of its own: the first column has the criteria.
        roles[0] = "criterion"
    levels = [head for head, role in zip(heads, roles, strict=True) if role == "level"]
    said = [points_in(head, heading=True) for head in levels]
    told = sum(fold(one.label) in _RANK or one.points is not None for one in said)
    if len(levels) < 2 or not all(map(fold, levels)) or roles.count("criterion") != 1:
        return None
    return tuple(roles) if (named or told >= 2) else None


def looks_like_grid(heads: Sequence[str]) -> bool:
    """Whether these are the headings of a grid.

    >>> looks_like_grid(["", "Good (2)", "Poor (0)"]), looks_like_grid(["id", "ann", "bob"])
    (True, False)
    """
    return roles_of(heads) is not None


def _role(head: str) -> Role:
    return next((role for role, words in _ROLES.items() if head in words), "level")


def order_of(labels: Sequence[str]) -> Order:
    """Which end is the best, by the words that are known; they must not contradict each other.

    >>> order_of(["Poor", "Fair", "Wonderful"]), order_of(["Gold", "Silver"])
    ('worst_first', None)
    """
    ranks = [_RANK[fold(label)] for label in labels if fold(label) in _RANK]
    if len(set(ranks)) < 2:
        return None
    if ranks == sorted(ranks):
        return "best_first"
    return "worst_first" if ranks == sorted(ranks, reverse=True) else None
