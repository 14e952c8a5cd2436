"""Many criteria from pasted lines: one requirement per line, as people have them in other places.

Understood: bullets and numbers (``- text``, ``3. text``, ``(b) text``), points anywhere people put
them (``text (10 points)``, ``[-5] text``, ``text: 3 pts``, ``10% text``), a table from a
spreadsheet (tab-separated: name, requirement, weight), headings (``# Style`` or ``Style:``) as
sections, and a grid of criteria and levels as a word processor has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from core.domain.names import fold
from core.domain.rubric import Criterion
from core.errors import Problem
from core.files.grid_heads import looks_like_grid
from core.files.grid_rubric import read_grid
from core.services.draft_edits import add_criterion, append_criterion, free_of
from core.services.draft_templates import Template
from core.services.draft_types import CriterionDraft, Draft
from core.services.numbers import plural

DEFAULT_WEIGHT = 10.0
MOST = 500
_LONGEST_NAME = 60
_BULLET = re.compile(r"^\s*(?:[-*•–—▪◦]\s+|\(?(?:\d{1,3}|[a-zA-Z])[.)]\s+|\[[ xX]\]\s+)+")
_NUMBER = r"[-−+]?\d+(?:[.,]\d+)?"
_UNIT = r"(?:points?|pts?\.?|p\.|%)"
_WEIGHTS = (
    re.compile(rf"^\s*[\[(]\s*({_NUMBER})\s*{_UNIT}?\s*[\])]\s*[:.-]?\s*"),
    re.compile(rf"\s*[\[(]\s*({_NUMBER})\s*{_UNIT}?\s*[\])]\s*[.]?\s*$", re.IGNORECASE),
    re.compile(rf"\s*[:,–—-]\s*({_NUMBER})\s*{_UNIT}\s*[.]?\s*$", re.IGNORECASE),
    re.compile(rf"^\s*({_NUMBER})\s*{_UNIT}\s*[:,–—-]?\s+", re.IGNORECASE),
)
_HEADING = re.compile(r"^\s*#{1,6}\s+(.+?)\s*#*\s*$")
_NAMED = re.compile(r"^(\S(?:[^:]{0,58}\S)?):\s+(\S.*)$")
_HEADS = {"name", "criterion", "criteria", "title", "requirement", "description", "text"}


class Line(NamedTuple):
    """A criterion that a line was read as. ``line`` counts from 1; ``weight`` as written or 10.

    ``stated``: the line stated the weight itself.
    """

    line: int
    name: str
    requirement: str
    weight: float
    section: str
    stated: bool


class Pasted(NamedTuple):
    """What pasted text was read as: lines, or the criteria of a grid; and what of it was not."""

    lines: tuple[Line, ...]
    criteria: tuple[Criterion, ...]
    notices: tuple[Problem, ...]


def read_paste(text: str) -> Pasted:
    """Pasted lines, or a pasted grid, and what of them is left out.

    Raises:
        InputError: a grid that cannot be read, with every problem and its line.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    if looks_like_grid(first.split("\t")):
        found = read_grid(text, "pasted text")
        return Pasted((), found.value.criteria, found.notices)
    return Pasted(read_lines(text), (), tuple(_left_over(text)))


def _left_over(text: str) -> Iterator[Problem]:
    """Cells of pasted tables that are neither name, requirement nor weight."""
    for number, raw in enumerate(text.splitlines(), start=1):
        rest = _cells(raw)[1] if "\t" in raw and _table_row(number, raw, "") else []
        if len(rest) > 2:
            yield Problem(
                f"“{rest[2][:60]}” and {plural(len(rest) - 2, 'cell')} in all are left out.",
                "If these are levels, paste the line that names them, too: Criterion, Excellent, "
                "Good, Poor.",
                (),
                number,
            )


def read_lines(text: str) -> tuple[Line, ...]:
    r"""The criteria in pasted text; empty lines are passed over.

    >>> found = read_lines("- Cites a source (12 points)\n[-5] Invents facts")
    >>> [(one.name, one.weight) for one in found]
    [('Cites a source', 12.0), ('Invents facts', -5.0)]
    """
    found, section = list[Line](), ""
    for number, raw in enumerate(text.splitlines(), start=1):
        if not raw.strip():
            continue
        # Runs of spaces would be tried at every place by patterns that begin with white space.
        words = " ".join(raw.split())
        heading = _heading(words)
        if heading is not None:
            section = heading
            continue
        line = _table_row(number, raw, section) if "\t" in raw else _plain(number, words, section)
        if line is not None:
            found.append(line)
    return tuple(found[:MOST])


def _heading(words: str) -> str | None:
    marked = _HEADING.match(words)
    if marked:
        return marked.group(1)
    if words.endswith(":") and len(words) <= _LONGEST_NAME and not _BULLET.match(words):
        return words[:-1].strip()
    return None


def _table_row(number: int, raw: str, section: str) -> Line | None:
    weight, rest = _cells(raw)
    if not rest or (weight is None and {fold(cell) for cell in rest} & _HEADS):
        return None  # the heads of the table
    name, requirement = (rest[0], rest[1]) if len(rest) > 1 else (_short(rest[0]), rest[0])
    return _line(number, name, requirement, weight, section)


def _cells(raw: str) -> tuple[float | None, list[str]]:
    """The weight and the other cells of a row of a table."""
    weight, rest = None, list[str]()
    for cell in (cell.strip() for cell in raw.split("\t")):
        plain = re.fullmatch(rf"({_NUMBER})\s*{_UNIT}?", cell, re.IGNORECASE)
        if plain and weight is None:
            weight = _number(plain.group(1))
        elif cell:
            rest.append(cell)
    return weight, rest


def _plain(number: int, line: str, section: str) -> Line | None:
    words, weight = _BULLET.sub("", line).strip(), None
    for pattern in _WEIGHTS:
        match = pattern.search(words)
        if match:
            weight = _number(match.group(1))
            words = (words[: match.start()] + words[match.end() :]).strip()
            break
    words = _BULLET.sub("", words).strip()
    if not words:
        return None
    named = _NAMED.match(words)
    if named:
        return _line(number, named.group(1), named.group(2), weight, section)
    return _line(number, _short(words), words, weight, section)


def _line(number: int, name: str, requirement: str, weight: float | None, section: str) -> Line:
    size = DEFAULT_WEIGHT if weight is None else weight
    return Line(number, name[:200], requirement, size, section, weight is not None)


def _number(text: str) -> float:
    return float(text.replace("−", "-").replace(",", "."))


def _short(words: str) -> str:
    """The first words, as a name: up to a full stop, at most so long, never half a word."""
    first = re.split(r"(?<=\w)[.;!?](?:\s|$)", words, maxsplit=1)[0].strip().rstrip(".,;:")
    if len(first) <= _LONGEST_NAME:
        return first or words[:_LONGEST_NAME]
    cut = first[:_LONGEST_NAME].rsplit(" ", 1)[0]
    return cut.rstrip(".,;:") or first[:_LONGEST_NAME]


def added(draft: Draft, lines: Sequence[Line], template: Template = "yes_no") -> Draft:
    """The draft with a criterion for every line at its end; names that are taken get a number."""
    for line in lines:
        name = free_of(line.name, (c["name"] for c in draft["criteria"]))
        draft, _ = add_criterion(draft, template)
        fields = {
            "name": name,
            "requirement": line.requirement,
            "weight": line.weight,
            "section": line.section,
        }
        made = cast("CriterionDraft", {**draft["criteria"][-1], **fields})
        draft = {**draft, "criteria": [*draft["criteria"][:-1], made]}
    return draft


def added_whole(draft: Draft, criteria: Iterable[Criterion]) -> Draft:
    """The draft with the criteria of a grid at its end, their levels and all."""
    for criterion in criteria:
        draft = append_criterion(draft, criterion)
    return draft
