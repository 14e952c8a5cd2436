"""A rubric in a foreign form: its text, and what that form cannot hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.domain.rubric import Criterion, Rubric, ScoringPolicy
from core.errors import Problem


@dataclass(frozen=True)
class WrittenRubric:
    """The text of a file, and one problem for everything that is not in it."""

    text: str
    losses: tuple[Problem, ...] = ()


#: Parts of a rubric that no foreign form has, in the words of the editor.
_WHOLE = {
    "description": "The description",
    "guidelines": "The guidelines",
    "scoring": "The scoring policy (abstentions, length penalty)",
    "gates": "The gates",
    "prechecks": "The pre-checks",
    "decision": "The decision (pass and fail)",
    "meta": "The additional data",
}


def lost_of_rubric(rubric: Rubric, keeps: Iterable[str] = ()) -> list[Problem]:
    """What a form that has only criteria, and ``keeps``, does not hold of a rubric.

    >>> rubric = Rubric(guidelines="Be kind.", criteria=[{"name": "a", "requirement": "b"}])
    >>> [str(loss) for loss in lost_of_rubric(rubric)]
    ['guidelines: The guidelines are left out.']
    """
    kept = set(keeps)
    return [
        Problem(f"{words} {_are(words)} left out.", "", (name,))
        for name, words in _WHOLE.items()
        if name not in kept and getattr(rubric, name) not in ("", (), {}, None, ScoringPolicy())
    ]


def _are(words: str) -> str:
    return "are" if words.split(" (", maxsplit=1)[0].endswith("s") else "is"


#: Parts of a criterion that some forms lack.
_PART = {
    "section": "The section",
    "tags": "The tags",
    "aggregation": "The rule by which votes are settled",
    "forced_choice": "That judges may not abstain",
    "meta": "The additional data",
}


def lost_of_criteria(criteria: Sequence[Criterion], keeps: Iterable[str] = ()) -> list[Problem]:
    """What a form that has only names, texts, levels and points lacks, one loss per part."""
    kept, found = set(keeps), list[Problem]()
    for name, words in _PART.items():
        having = [c.name for c in criteria if getattr(c, name)]
        if name not in kept and having:
            found.append(Problem(f"{words} of {listed(having)} {_are(words)} left out."))
    return found


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names in quotes, the first few of many.

    >>> listed(["a", "b"]), listed(list("abcdefg"), 3)
    ("'a', 'b'", "'a', 'b', 'c' and 4 more")
    """
    head = ", ".join(map(repr, names[:most]))
    more = len(names) - most
    return f"{head} and {more} more" if more > 0 else head
