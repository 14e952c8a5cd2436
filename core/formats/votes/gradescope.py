"""Read Gradescope's evaluations: a table per question, a column per rubric item.

Every such column becomes a binary criterion with its points, and each grader a rater. Names and
e-mail addresses of students are left out. Their number stays with the item, for exporting scores.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from core.domain.base import build_model
from core.domain.dataset import Dataset
from core.domain.rubric import MET, UNMET, Rubric
from core.errors import Problem
from core.formats.datasets.labels import TEXT_AVAILABLE
from core.formats.source.csv_reader import RawRow, RawTable, read_raw
from core.formats.source.csv_writer import number_of
from core.formats.source.format import Fit
from core.formats.source.opened import Opened
from core.formats.source.parsed import limited, refusal, stem, too_many
from core.formats.votes.imported import VoteBundle, VoteChecker, VoteLine
from core.text.names import fold

BEFORE = (
    *("Assignment Submission ID", "Question Submission ID", "First Name", "Last Name", "Name"),
    *("SID", "Email", "Sections", "Score", "Submission Time"),
)
AFTER = ("Adjustment", "Comments", "Grader", "Tags")
_WHAT = "evaluation"
_YES = {"true": MET, "false": UNMET}
_UNNAMED = "grader"


def read_evaluations(
    files: Iterable[tuple[str, Opened]], title: str, dataset: Dataset | None = None
) -> VoteBundle:
    """Return an assignment's rubric, items by submission, and graders' votes.

    Args:
        files: name and content of the table of each question, in order.
        title: the assignment's name.
        dataset: the submissions themselves, by their numbers; ``None`` gives items without text.

    Raises:
        InputError: a cell that is neither true nor false, a row without its submission's number,
            or no column of a rubric item; every problem with its line.
    """
    reader = _GradescopeReader(title)
    for name, data in files:
        reader.read_question(read_raw(data.data, name, _WHAT), stem(name, "Question"))
    return reader.bundle(dataset)


@dataclass
class _Column:
    at: int
    name: str
    text: str
    points: float | None = None


@dataclass
class _GradescopeReader:
    title: str
    criteria: list[dict[str, Any]] = field(default_factory=list)
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    lines: list[VoteLine] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    notices: list[Problem] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    adjusted: int = 0

    def read_question(self, table: RawTable, question: str) -> None:
        """Read the table of a question."""
        columns = self._columns_of(table, question)
        if not columns:
            message = f"{question!r} has no column of a rubric item; it is left out."
            self.notices.append(Problem(message))
            return
        footer = self._footer_rows(table, columns)
        deducts = footer.get("scoring method", "").startswith("negative")
        for column in columns:
            self.criteria.append(self._criterion_data(column, question, deducts))
        if deducts:
            message = f"{question!r} takes points off; its criteria are penalties."
            mend = "A score is 0 with all of them, 1 with none; the file's own stay with the items."
            self.notices.append(Problem(message, mend))
        for row in table.rows:
            if not _is_footer(table, row):
                self._read_row(table, row, columns, question)
            if too_many(self.problems):
                return

    def _columns_of(self, table: RawTable, question: str) -> list[_Column]:
        fixed = {fold(head) for head in (*BEFORE, *AFTER)}
        columns = list[_Column]()
        for at, head in enumerate(table.heads):
            if fold(head) and fold(head) not in fixed:
                columns.append(_Column(at, self._unique_name(head, question), head))
        return columns

    def _unique_name(self, head: str, question: str) -> str:
        """Return a unique name: the item's text, with the question for duplicates."""
        short = " ".join(head.split())[:180]
        name, number = short, 2
        if fold(name) in self.taken:
            name = f"{short} ({question})"[:200]
        while fold(name) in self.taken:
            name, number = f"{short[:170]} ({question}) {number}"[:200], number + 1
        self.taken.add(fold(name))
        return name

    def _footer_rows(self, table: RawTable, columns: list[_Column]) -> dict[str, str]:
        """Return the rows at the end: points per column, and how they count."""
        values: dict[str, str] = {}
        for row in table.rows:
            if not _is_footer(table, row):
                continue
            head = _first_words(row)
            texts = [cell.text.strip() for cell in row.cells if cell.text.strip()]
            values[head.partition(":")[0]] = fold(head.partition(":")[2] or " ".join(texts[1:2]))
            if head.startswith("point values"):
                for column in columns:
                    column.points = number_of(row.text(column.at))
        return values

    def _criterion_data(self, column: _Column, question: str, deducts: bool) -> dict[str, Any]:
        points = column.points
        if points is None:
            message = f"{column.name!r} has no points in the file; its weight is 1."
            mend = "Set it, or infer weights from the scores, which items keep."
            self.notices.append(Problem(message, mend))
            points = 1.0
        weight = -abs(points) if deducts else points
        return {
            "name": column.name,
            "requirement": column.text,
            "weight": weight,
            "section": question[:200],
        }

    def _read_row(
        self, table: RawTable, row: RawRow, columns: list[_Column], question: str
    ) -> None:
        key = row.text(table.column(BEFORE[0])).strip()
        if not key:
            mend = "Export the evaluations again."
            self.problems.append(Problem("has no submission's number.", mend, (), row.line))
            return
        item = self.items.setdefault(
            key, {"id": key, "submission": "", "meta": {TEXT_AVAILABLE: False}}
        )
        self._note_comment(item["meta"], table, row, question)
        grader = " ".join(row.text(table.column("Grader")).split())
        comment = row.text(table.column("Comments")).strip()
        for column in columns:
            mark = row.text(column.at).strip().casefold()
            if mark and mark not in _YES:
                message = f"is {mark[:40]!r} for {column.name!r}."
                self.problems.append(Problem(message, "Use true or false.", (), row.line))
                continue
            if not mark or (not grader and mark == "false"):
                # Not graded: Gradescope writes false for questions that were never opened.
                continue
            self.lines.append(
                (row.line, _vote_fields(key, column.name, grader, _YES[mark], comment))
            )

    def _note_comment(
        self, meta: dict[str, Any], table: RawTable, row: RawRow, question: str
    ) -> None:
        if sid := row.text(table.column("SID")).strip():
            meta["sid"] = sid
        score = number_of(row.text(table.column("Score")))
        if score is not None:
            meta.setdefault("scores", {})[question] = score
        adjusted = number_of(row.text(table.column("Adjustment")))
        if adjusted:
            meta.setdefault("adjustments", {})[question] = adjusted
            self.adjusted += 1

    def bundle(self, dataset: Dataset | None) -> VoteBundle:
        """Return the validated import."""
        if not self.criteria and not self.problems:
            self.problems.append(Problem("holds no rubric item.", "Export evaluations.", (), 1))
        if self.problems:
            raise refusal(_WHAT, self.problems, self.title)
        rubric = build_model(
            Rubric, {"name": self.title[:200], "criteria": self.criteria}, "rubric"
        )
        notices = list(self._import_notices(textless=dataset is None))
        if dataset is None:
            data = {"name": self.title[:200], "items": list(self.items.values())}
            dataset = build_model(Dataset, data, "dataset", self.title)
        votes = VoteChecker(rubric, dataset.items, self.title).read(self.lines)
        notices += self.notices
        return VoteBundle(self.title, "gradescope", rubric, dataset, votes, limited(notices))

    def _import_notices(self, *, textless: bool) -> Iterator[Problem]:
        yield Problem(
            "Names and e-mail addresses of students are left out.",
            "Their number (SID) is kept with the item, for the way back.",
        )
        if textless:
            message = f"The text of {len(self.items):,} submissions was not part of the file."
            yield Problem(message, "Their votes can be measured; to grade them, import the text.")
        if self.adjusted:
            message = f"{self.adjusted:,} scores were adjusted by hand, outside the criteria."
            yield Problem(message, "The adjustments are kept with the items.")


def _vote_fields(
    item: str, criterion: str, grader: str, label: str, comment: str
) -> dict[str, str]:
    return {
        "item_id": item,
        "criterion": criterion,
        "rater_id": grader or _UNNAMED,
        "rater_kind": "human",
        "label": label,
        "reason": comment,
    }


def _is_footer(table: RawTable, row: RawRow) -> bool:
    """Return whether a row follows the students, by its first words."""
    return not re.search(r"\d", row.text(table.column(BEFORE[0]))) and bool(_first_words(row))


def _first_words(row: RawRow) -> str:
    first = next((cell.text for cell in row.cells if cell.text.strip()), "")
    head = fold(first)
    heads = ("point values", "rubric numbers", "rubric type", "scoring method")
    return head if head.startswith(heads) else ""


#: The two columns that only evaluations have.
MARKS = ("Assignment Submission ID", "Question Submission ID")


def looks_like_evaluations(data: bytes) -> bool:
    r"""Return whether a file begins like an evaluation.

    >>> looks_like_evaluations(b"Assignment Submission ID,Question Submission ID,Score\n1,2,3")
    True
    """
    head = data[:4000].split(b"\n", 1)[0]
    return all(mark.encode() in head for mark in MARKS)


def recognised_evaluations(opened: Opened) -> Fit | None:
    """Return the fit of an evaluation."""
    return Fit(3, "two columns of Gradescope") if looks_like_evaluations(opened.head) else None
