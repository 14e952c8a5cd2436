"""Keys of a rubric file: ours, the peers' names for them, near misses, and foreign ones.

A near miss of a known key is refused, because it was meant to do something. A foreign key is kept
in ``meta``, with a notice (docs/decisions/0002).
"""

from __future__ import annotations

from typing import Any

from core.domain.base import Path, near
from core.errors import Problem
from core.files.yaml_source import WORDS

RUBRIC_KEYS = frozenset(
    {"name", "description", "guidelines", "scoring", "gates", "prechecks", "decision", "meta"}
)
BODY_KEYS = ("rubric", "sections", "criteria")
SECTION_KEYS = frozenset({"name", "criteria"})
CRITERION_KEYS = frozenset(
    {"name", "requirement", "weight", "scale", "scale_type", "options", "section", "tags"}
    | {"aggregation", "forced_choice", "meta"}
)
#: More keys in one mapping are refused, meta aside.
MAX_KEYS = 300
OPTION_KEYS = frozenset({"label", "description", "value", "na"})

#: What is said of a note that stands at its place and under meta.
TWICE, KEEP_ONE = "is given twice, once under meta.", "Keep one of the two."

#: Keys that hold a number: true and false are refused there, though Python would count them.
NUMERIC = frozenset(
    {"weight", "value", "cap", "multiply", "below", "at_most", "above", "at_least"}
    | {"count_at_least", "partial_credit", "free_budget", "max_cap", "penalty_at_cap", "exponent"}
    | {"pass_at", "fail_below", "review_within", "chars"}
)
THRESHOLDS = frozenset({"below", "at_most", "above", "at_least"})


def sort_keys(
    given: dict[str, Any], known: frozenset[str], path: Path, what: str
) -> tuple[dict[str, Any], dict[str, Any], list[Problem]]:
    """The entries of ``given`` as (known, foreign, problems); a near miss is a problem.

    >>> known, foreign, wrong = sort_keys({"weigth": 1, "colour": 2}, CRITERION_KEYS, (), "it")
    >>> foreign, wrong[0].mend
    ({'colour': 2}, "Did you mean 'weight'? If it is a note of your own, put it under meta.")
    """
    mine, foreign, problems = dict[str, Any](), dict[str, Any](), list[Problem]()
    if len(given) > MAX_KEYS:
        message = f"has {len(given):,} keys; {MAX_KEYS:,} is the limit."
        problems.append(Problem(message, "Put notes under meta.", path))
        return {key: given[key] for key in known & given.keys()}, {}, problems
    for key, value in given.items():
        guess = "" if key in known else near(key, set(known))
        if key in known:
            mine[key] = value
        elif guess:
            mend = f"{guess} If it is a note of your own, put it under meta."
            problems.append(Problem(f"is not a known key of {what}.", mend, (*path, key)))
        else:
            foreign[key] = value
    return mine, foreign, problems


def kept(key: str, path: Path) -> Problem:
    """The notice that a foreign key was kept."""
    return Problem("is not a key of ours; kept under meta, not used.", "", (*path, key))


def join_notes(
    meta: dict[str, Any], part: str, name: str, notes: dict[str, Any], path: Path
) -> list[Problem]:
    """Keep ``notes`` of a part that has no meta of its own, beside what ``meta`` holds of it.

    What cannot stand there without replacing something is a problem.

    >>> meta = {"options": {"good": {"seen": 3}}}
    >>> join_notes(meta, "options", "good", {"colour": "red"}, ())
    []
    >>> meta["options"]
    {'good': {'colour': 'red', 'seen': 3}}
    """
    if not notes:
        return []
    known = meta.get(part, {})
    own = known.get(name, {}) if isinstance(known, dict) else None
    if not isinstance(own, dict):
        return [Problem(TWICE, KEEP_ONE, (*path, key)) for key in notes]
    meta[part] = {**known, name: {**notes, **own}}
    return [Problem(TWICE, KEEP_ONE, (*path, key)) for key in notes if key in own]


def tidied(value: Any, path: Path, problems: list[Problem], key: str = "") -> Any:
    """``value`` with numbers as words where words belong; yes/no in place of a number is a problem.

    ``key`` is the key that the value (or the list it is in) stands under. Nothing below ``meta``
    is touched.
    """
    if isinstance(value, dict):
        return {
            k: v if k == "meta" else tidied(v, (*path, k), problems, k) for k, v in value.items()
        }
    if isinstance(value, list):
        return [tidied(part, (*path, i), problems, key) for i, part in enumerate(value)]
    if isinstance(value, bool):
        if key in NUMERIC:
            problems.append(Problem(f"is {str(value).lower()}.", "Use a number.", path))
        return value
    if isinstance(value, int | float):
        # Beyond [0, 1] a threshold can only be a label: `below: 3` on a scale of 1 to 5.
        beyond = key in THRESHOLDS and not 0 <= value <= 1
        return str(value) if key in WORDS or beyond else value
    return value
