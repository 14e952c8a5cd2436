"""Quizzes of survey and course tools: each answer to a question becomes a row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import Problem

Row = dict[str, Any]
#: Headings of what belongs to a question, by field, with a group for the question; "" is the
#: question itself. Microsoft Forms, Google Forms, Moodle.
_FORMS: tuple[Mapping[str, str], ...] = (
    {"answer": "", "score": r"(?:points|punkte|puntos) - (.+)", "feedback": r"feedback - (.+)"},
    {"answer": "", "score": r"(.+) \[(?:score|points)\]", "feedback": r"(.+) \[feedback\]"},
    {
        "answer": r"(?:response|answer|antwort|réponse|respuesta) (\d+)",
        "score": r"(?:q|f|p)\. ?(\d+) ?/ ?[\d.,]+",
        "question": r"(?:question|frage|pregunta) (\d+)",
        "reference": r"(?:right answer|richtige antwort|bonne réponse|respuesta correcta) (\d+)",
    },
)
_OUT_OF = re.compile(r"(-?[\d.,]+) ?/ ?[\d.,]+\Z")
#: Columns about the whole attempt and the person: times, sums and names.
_WHOLE = re.compile(
    r"(start time|completion time|started on|completed|time taken|duration|state|status|timestamp"
    r"|last modified time|grade posted time|total points|quiz feedback|score|(grade|bewertung)/.*"
    r"|begonnen am|beendet|verbrauchte zeit|e-?mail.*|username|name|surname|(first|last) name"
    r"|nachname|vorname)\Z",
    re.IGNORECASE,
)
_PERSON = re.compile(r"(id|id number|matrikelnummer|student id|response id)\Z", re.IGNORECASE)


def answers_as_rows(
    columns: Sequence[str], rows: Sequence[Row], lines: Sequence[int | None]
) -> tuple[tuple[str, ...], tuple[Row, ...], tuple[int | None, ...], tuple[Problem, ...]]:
    """Return a quiz with a row for each person and question; any other table unchanged.

    >>> row = {"ID": "7", "Why?": "So.", "Points - Why?": "2 / 3"}
    >>> answers_as_rows([*row], [row], [2])[1]
    ({'item id': '7', 'question': 'Why?', 'answer': 'So.', 'score': '2'},)
    """
    questions = _questions([column.strip() for column in columns])
    parts = {column for question in questions.values() for column in question.values()}
    if not questions or len({column.strip() for column in columns}) < len(columns):
        return tuple(columns), tuple(rows), tuple(lines), ()
    left = [c for c in columns if c.strip() not in parts]
    ids = [
        c for c in left if _PERSON.match(c.strip()) and len({r.get(c) for r in rows}) == len(rows)
    ]
    whole = [c for c in left if c not in ids[:1] and _WHOLE.match(c.strip())]
    kept = [c for c in left if c not in (*ids[:1], *whole)]
    heads = {column.strip(): column for column in columns}
    longer, of_lines = list[Row](), list[int | None]()
    for at, (row, line) in enumerate(zip(rows, lines, strict=True), start=1):
        person = row.get(ids[0]) if ids else at
        for n, (name, question) in enumerate(questions.items(), start=1):
            cells = {field: _cell(row.get(heads[column])) for field, column in question.items()}
            if cells["answer"] not in (None, ""):
                number = f"{person} / {n}" if len(questions) > 1 else str(person)
                same = {column: row.get(column) for column in kept}
                asked = {"number" if name.isdigit() else "question": name}
                longer.append({"item id": number} | same | asked | cells)
                of_lines.append(line)
    message = f"Each answer to one of the {len(questions)} questions is a row, its points a label."
    mend = f"Columns of the whole attempt are left out: {', '.join(whole)}." if whole else ""
    of_row = dict.fromkeys(column for row in longer for column in row)
    return tuple(of_row), tuple(longer), tuple(of_lines), (Problem(message, mend),)


def _questions(columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the columns of each question by field, in the first form that headings have."""
    for form in _FORMS:
        found = dict[str, dict[str, str]]()
        for field, pattern in form.items():
            matches = (re.fullmatch(pattern, column, re.IGNORECASE) for column in columns)
            for match in filter(None, matches if pattern else ()):
                found.setdefault(match[1].strip(), {})[field] = match[0]
        if not form["answer"]:
            found = {n: {"answer": n, **of} for n, of in found.items() if n in columns}
        found = {
            n: of
            for n, of in found.items()
            if "answer" in of and of.keys() & {"score", "reference"}
        }
        if found:
            return found
    return {}


def _cell(cell: Any) -> Any:
    """Return a cell; of points out of a maximum, only the points."""
    match = _OUT_OF.match(cell.strip()) if isinstance(cell, str) else None
    return match[1] if match else cell
