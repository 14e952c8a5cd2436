"""Import and export rubrics in all formats, and create criteria from pasted lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, cast

from core.domain.gates import ScoringPolicy
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError, NotFound, Problem
from core.formats.folder import read_bytes
from core.formats.report.rubric_sheet import SheetRules, rubric_sheet
from core.formats.rubrics.foreign import Scaling
from core.formats.rubrics.forms import (
    FORM_WORDS,
    RUBRIC_FORMS,
    FormWords,
    RubricForm,
    looks_like_table,
    read_rubrics,
    write_rubric,
)
from core.formats.rubrics.tables.grid import looks_like_grid, read_grid
from core.formats.source.archives import is_zip
from core.formats.source.csv_reader import read_raw
from core.formats.source.csv_writer import csv_bytes
from core.formats.source.opened import Opened
from core.formats.source.parsed import MAX_RUBRIC_BYTES, Parsed
from core.rubric_diff.wording import check_words, decision_words, gate_words, penalty_words
from core.services.rubrics.draft_criteria import add_criterion, append_criterion, free_name
from core.services.rubrics.draft_shapes import CriterionDraft, RubricDraft, Template
from core.services.rubrics.library import file_name
from core.store.store import Store
from core.text.names import fold
from core.text.numbers import percent, plural

# Criteria from pasted lines: one requirement per line, as people have them in other documents.
#
# It reads bullets and numbers (``- text``, ``3. text``, ``(b) text``), points in common places
# (``text (10 points)``, ``[-5] text``, ``text: 3 pts``, ``10% text``), a table from a spreadsheet
# (tab-separated: name, requirement, weight), headings (``# Style`` or ``Style:``) as sections, and
# a grid of criteria and levels from a word processor.

DEFAULT_WEIGHT = 10.0
#: The most criteria that a rubric may have.
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


class PastedLine(NamedTuple):
    """A criterion read from a line. ``line`` counts from 1; ``weight`` is as written, or 10.

    ``stated``: the line states the weight.
    """

    line: int
    name: str
    requirement: str
    weight: float
    section: str
    stated: bool


#: Criteria read from pasted text, as lines or as a grid, and notices on what was skipped.
Pasted = tuple[tuple[PastedLine, ...], tuple[Criterion, ...], tuple[Problem, ...]]


def read_paste(text: str) -> Pasted:
    r"""Read pasted lines, at most `MOST`, or a pasted grid, with notices on skipped parts.

    >>> lines, *_ = read_paste("- Cites a source (12 points)\n[-5] Invents facts")
    >>> [(line.name, line.weight) for line in lines]
    [('Cites a source', 12.0), ('Invents facts', -5.0)]

    Raises:
        InputError: the grid is invalid; lists every problem with its line.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    if looks_like_grid(first.split("\t")):
        (grid,) = read_grid(read_raw(text, "pasted text", "rubric"))
        return (), grid.value.criteria, grid.notices
    lines = _all_pasted_lines(text)
    return lines[:MOST], (), (*_left_over_notices(text), *_too_many_notice(lines))


def _left_over_notices(text: str) -> Iterator[Problem]:
    """Yield notices on cells of pasted tables that are neither name, requirement nor weight."""
    for number, raw in enumerate(text.splitlines(), start=1):
        cells = _weight_and_cells(raw)[1] if "\t" in raw and _table_row(number, raw, "") else []
        if len(cells) > 2:
            yield Problem(
                f"“{cells[2][:60]}” and {plural(len(cells) - 2, 'cell')} in all are left out.",
                "If these are levels, paste the line that names them, too: Criterion, Excellent, "
                "Good, Poor.",
                (),
                number,
            )


def _too_many_notice(lines: Sequence[PastedLine]) -> Iterator[Problem]:
    """Yield a notice if there are more lines than a rubric may have criteria."""
    if lines[MOST:]:
        message = f"This line and the rest are left out: a rubric has at most {MOST} criteria."
        yield Problem(message, "Paste the rest into another rubric.", (), lines[MOST].line)


def _all_pasted_lines(text: str) -> tuple[PastedLine, ...]:
    lines, section = list[PastedLine](), ""
    for number, raw in enumerate(text.splitlines(), start=1):
        if not raw.strip():
            continue
        # Spaces are collapsed, because patterns that begin with white space would be slow on long
        # runs of spaces.
        content = " ".join(raw.split())
        heading = _heading_text(content)
        if heading is not None:
            section = heading
            continue
        line = (
            _table_row(number, raw, section)
            if "\t" in raw
            else _plain_line(number, content, section)
        )
        if line is not None:
            lines.append(line)
    return tuple(lines)


def _heading_text(line: str) -> str | None:
    marked = _HEADING.match(line)
    if marked:
        return marked.group(1)
    if line.endswith(":") and len(line) <= _LONGEST_NAME and not _BULLET.match(line):
        return line[:-1].strip()
    return None


def _table_row(number: int, raw: str, section: str) -> PastedLine | None:
    weight, cells = _weight_and_cells(raw)
    if not cells or (weight is None and {fold(cell) for cell in cells} & _HEADS):
        return None  # The line is the table's header.
    name, requirement = (
        (cells[0], cells[1]) if len(cells) > 1 else (_short_name(cells[0]), cells[0])
    )
    return _pasted_line(number, name, requirement, weight, section)


def _weight_and_cells(raw: str) -> tuple[float | None, list[str]]:
    """Return the weight and the other cells of a table row."""
    weight, cells = None, list[str]()
    for cell in filter(None, map(str.strip, raw.split("\t"))):
        plain = re.fullmatch(rf"({_NUMBER})\s*{_UNIT}?", cell, re.IGNORECASE)
        if plain and weight is None:
            weight = _number_in(plain.group(1))
        else:
            cells.append(cell)
    return weight, cells


def _plain_line(number: int, line: str, section: str) -> PastedLine | None:
    text, weight = _BULLET.sub("", line).strip(), None
    for pattern in _WEIGHTS:
        match = pattern.search(text)
        if match:
            weight = _number_in(match.group(1))
            text = (text[: match.start()] + text[match.end() :]).strip()
            break
    text = _BULLET.sub("", text).strip()
    if not text:
        return None
    named = _NAMED.match(text)
    if named:
        return _pasted_line(number, named.group(1), named.group(2), weight, section)
    return _pasted_line(number, _short_name(text), text, weight, section)


def _pasted_line(
    number: int, name: str, requirement: str, weight: float | None, section: str
) -> PastedLine:
    size = DEFAULT_WEIGHT if weight is None else weight
    return PastedLine(number, name[:200], requirement, size, section, weight is not None)


def _number_in(text: str) -> float:
    return float(text.replace("−", "-").replace(",", "."))


def _short_name(text: str) -> str:
    """Return the first words as a name: up to a full stop, not too long, and only whole words."""
    first = re.split(r"(?<=\w)[.;!?](?:\s|$)", text, maxsplit=1)[0].strip().rstrip(".,;:")
    if len(first) <= _LONGEST_NAME:
        return first or text[:_LONGEST_NAME]
    cut = first[:_LONGEST_NAME].rsplit(" ", 1)[0]
    return cut.rstrip(".,;:") or first[:_LONGEST_NAME]


def with_lines_added(
    draft: RubricDraft, lines: Sequence[PastedLine], template: Template = "yes_no"
) -> RubricDraft:
    """Return the draft with a criterion per line at its end; repeated names get a number."""
    for line in lines:
        name = free_name(line.name, (c["name"] for c in draft["criteria"]))
        draft, _ = add_criterion(draft, template)
        fields = {
            "name": name,
            "requirement": line.requirement,
            "weight": line.weight,
            "section": line.section,
        }
        filled = cast("CriterionDraft", {**draft["criteria"][-1], **fields})
        draft = {**draft, "criteria": [*draft["criteria"][:-1], filled]}
    return draft


def with_criteria_added(draft: RubricDraft, criteria: Iterable[Criterion]) -> RubricDraft:
    """Return the draft with the criteria of a grid at its end, including their levels."""
    for criterion in criteria:
        draft = append_criterion(draft, criterion)
    return draft


ShareForm = Literal[RubricForm, "sheet"]
SHARE_FORMS: tuple[ShareForm, ...] = (*RUBRIC_FORMS, "sheet")
SHARE_WORDS: dict[ShareForm, FormWords] = {
    **{form: FORM_WORDS[form] for form in RUBRIC_FORMS},
    "sheet": FormWords("Sheet to print (HTML)", "One page for people.", "html", "text/html"),
}
_ABSTAINED = {
    "zero": "What cannot be assessed earns nothing and stays in the total.",
    "fail": "What cannot be assessed counts as the worst answer.",
}


@dataclass(frozen=True)
class RubricExport:
    """A rubric as a file: its text, name and type, and the parts that the format cannot store."""

    text: str
    file_name: str
    mime: str
    losses: tuple[Problem, ...]
    for_spreadsheets: bool = False

    def data(self, *, mark: bool = True) -> bytes:
        """Return the file's bytes; ``mark=False`` omits the byte order mark that Excel needs."""
        return csv_bytes(self.text, mark=mark and self.for_spreadsheets)


def export_rubric(rubric: Rubric, form: ShareForm) -> RubricExport:
    """Return the rubric in a format. ``losses`` is empty if it reads back unchanged.

    Raises:
        InputError: the file would be empty, because the format can store none of the criteria.
    """
    if form in ("canvas", "moodle") and all(c.weight <= 0 for c in rubric.criteria):
        title = FORM_WORDS[form].title
        advice = "Write it as YAML, JSON or CSV, or give a criterion a positive weight."
        raise InputError(f"{title} would be empty: no criterion earns points. {advice}")
    labels = SHARE_WORDS[form]
    stem = file_name(rubric.name, "yaml").removesuffix(".yaml")
    name = f"{stem}{'-sheet' if form == 'sheet' else ''}.{labels.ending}"
    if form == "sheet":
        text = rubric_sheet(rubric, rules_of(rubric), "Made with Rubric Studio")
        losses = (Problem("The sheet is for people; it cannot be imported."),)
        return RubricExport(text, name, labels.mime, losses)
    written = write_rubric(rubric, form)
    # Canvas and Moodle read their own tables, and expect no byte order mark.
    return RubricExport(written.text, name, labels.mime, written.losses, form == "csv")


def rules_of(rubric: Rubric) -> SheetRules:
    """Return gates, pre-checks, scoring and decision as sentences."""
    gates = [gate_words(gate.model_dump(mode="json", by_alias=True)) for gate in rubric.gates]
    gates += [check_words(check.model_dump(mode="json")) for check in rubric.prechecks]
    rules, scoring = list[str](), rubric.scoring
    if scoring.abstention == "partial":
        credit = percent(scoring.partial_credit)
        rules.append(f"What cannot be assessed earns {credit} of its points.")
    elif scoring.abstention in _ABSTAINED:
        rules.append(_ABSTAINED[scoring.abstention])
    if scoring.min_coverage != ScoringPolicy().min_coverage:
        least = percent(scoring.min_coverage)
        rules.append(f"There is a grade where {least} of the weight or more was assessed.")
    if scoring.length_penalty is not None:
        rules.append(f"Length: {penalty_words(scoring.length_penalty.model_dump(mode='json'))}")
    if rubric.decision is not None:
        rules.append(decision_words(rubric.decision.model_dump(mode="json")))
    return SheetRules(tuple(gates), tuple(rules))


def rubrics_in(
    data: str | bytes | Opened, name: str, scaling: Scaling = "ratio"
) -> tuple[Parsed[Rubric], ...]:
    """Read the rubrics in a file or pasted text of any format, with notices.

    Raises:
        InputError: the text is empty or invalid; lists every problem with its line.
    """
    opened = Opened.of(data, name)
    if not opened.head.strip():
        raise InputError("There is nothing to read.", where=name)
    return read_rubrics(opened, name, scaling)


def is_table(data: str | bytes, name: str) -> bool:
    """Return whether this is a table of criteria, which may have points for its levels."""
    if isinstance(data, bytes) and is_zip(data):
        return True
    text = data[:4000].decode("utf-8", "ignore") if isinstance(data, bytes) else data
    return bool(text.strip()) and looks_like_table(text, name)


def rubrics_at(
    store: Store, source: str, scaling: Scaling, data: bytes | None = None
) -> tuple[Parsed[Rubric], ...]:
    """Return the rubrics of a file path, or a rubric's newest version by its number.

    ``data`` is the content, if it was not read from a path (standard input).

    Raises:
        InputError: the file cannot be read, or is not a rubric.
        NotFound: no file or rubric has that name.
    """
    if data is not None:
        return rubrics_in(data, "standard input", scaling)
    path = Path(source)
    if source.isdecimal() and not path.exists():
        return (Parsed(store.rubrics.latest(int(source)).rubric),)
    if not path.exists():
        raise NotFound(f"There is no file {source}, and no rubric of that number.")
    return rubrics_in(read_bytes(path, MAX_RUBRIC_BYTES), path.name, scaling)
