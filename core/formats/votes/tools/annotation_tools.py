"""Annotations of Label Studio (JSON, CSV) and Argilla (records), reviews of OpenReview.

A single choice is a word. If several choices were possible at once, every choice is a yes-or-no
question. Spans and boxes are not votes: they are left out and counted. So are free texts, which
in Label Studio are the reasons of their annotation's answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from core.formats.datasets.roles import NOTE
from core.formats.source.opened import Opened
from core.formats.source.parsed import finite
from core.formats.tables.cells import parsed_cell
from core.formats.tables.table import read_table
from core.formats.votes.scales import MOST_LEVELS, Value
from core.formats.votes.tools.fields import fields_of_items, value_as_text
from core.formats.votes.tools.messages import object_or_empty, objects_in
from core.formats.votes.tools.shapes import Rows, ToolShape, of_rows
from core.formats.votes.tools.tool_results import RaterKind, ToolAnswer, ToolQuestion, ToolResults
from core.formats.votes.tools.tool_roles import roles_of_fields

#: What is said where annotators' e-mail addresses and names are replaced by a number.
_BY_NUMBER = "Annotators are known by number alone; their names and addresses are left out."
#: The longest choice; a longer answer is a text.
_LONGEST = 80


class Marked(NamedTuple):
    """An answer as in the file: a value, or several chosen at once."""

    item: str
    question: str
    rater: str
    kind: RaterKind
    values: tuple[Value, ...]
    several: bool
    reason: str = ""


def with_answers(
    results: ToolResults, marks: Sequence[Marked], left: Mapping[str, int]
) -> ToolResults:
    """Return the results with these answers, multiple choices split into questions.

    ``left`` counts what is left out, for a notice.
    """
    for what, count in sorted(left.items()):
        results.note(f"Left out: {count:,} {what}.")
    several = {mark.question for mark in marks if mark.several and len(mark.values) != 1}
    choices: dict[str, dict[Value, None]] = {}
    for mark in marks:
        choices.setdefault(mark.question, {}).update(dict.fromkeys(mark.values))
    for mark in marks:
        item, question, rater, kind, values, _, reason = mark
        if question in several:
            for choice in choices[question]:
                name = f"{question}: {choice}"[:200]
                answer = ToolAnswer(item, name, rater, kind, choice in values, reason)
                results.answers.append(answer)
        elif values:
            results.answers.append(ToolAnswer(item, question, rater, kind, values[0], reason))
    if several:
        names = ", ".join(map(repr, sorted(several)))
        results.note(f"Several choices at once were possible for {names}; each is a question.")
    return results


# Label Studio


def _row_id(results: ToolResults, row: Mapping[str, Any]) -> str:
    """Return the row's own id (0 is valid), otherwise its number."""
    row_id = row.get("id")
    return str(row_id) if row_id not in (None, "") else f"row {len(results.items) + 1}"


def item_ids(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the item of every task or record, in order."""
    results = ToolResults("argilla", "")
    ids = list[str]()
    for row in rows:
        ids.append(_row_id(results, row))
        results.items[ids[-1]] = {}
    return ids


def _is_task(row: Mapping[str, Any]) -> bool:
    marks = objects_in(row.get("annotations"))
    return isinstance(row.get("data"), dict) and bool(marks) and "result" in marks[0]


def _read_tasks(rows: Rows, title: str) -> ToolResults:
    results = ToolResults("label_studio", title)
    marks, left = list[Marked](), Counter[str]()
    texts = fields_of_items([object_or_empty(task.get("data")) for task in rows])
    for task, fields in zip(rows, texts, strict=True):
        item = _row_id(results, task)
        results.items[item] = fields
        for entry in objects_in(task.get("annotations")):
            if entry.get("was_cancelled"):
                left["skipped by its annotator"] += 1
                continue
            answers = _marked_regions(item, _annotator_of(entry), "human", entry, left)
            if entry.get("ground_truth"):
                _add_truth(results, answers)
            else:
                marks += answers
        for entry in objects_in(task.get("predictions")):
            rater = str(entry.get("model_version") or "prediction")
            marks += _marked_regions(item, rater, "llm", entry, left)
    people = [
        object_or_empty(of.get("completed_by"))
        for task in rows
        for of in objects_in(task.get("annotations"))
    ]
    if any("email" in person for person in people):
        results.note(_BY_NUMBER)
    _add_stars(results, rows, marks)
    return with_answers(results, marks, left)


def _add_stars(results: ToolResults, rows: Rows, marks: Sequence[Marked]) -> None:
    """Give ratings in stars their levels: from 1 to the most stars that any of them has."""
    given = (entry for task in rows for entry in objects_in(task.get("annotations")))
    regions = [region for entry in given for region in objects_in(entry.get("result"))]
    names = {str(r.get("from_name"))[:200] for r in regions if r.get("type") == "rating"}
    stars = {v for of in results.truth.values() for name, v in of.items() if name in names}
    stars |= {mark.values[0] for mark in marks if mark.question in names}
    counts = [n for n in stars if isinstance(n, int | float) and n in range(1, MOST_LEVELS)]
    if counts and len(counts) == len(stars) and max(counts) > 1:
        levels = tuple(range(1, int(max(counts)) + 1))
        asked = dict.fromkeys(mark.question for mark in marks)
        results.questions |= {q: ToolQuestion(levels=levels if q in names else ()) for q in asked}
        results.note("Stars begin at 1; those of all questions are taken to end alike.")


def _annotator_of(annotation: Mapping[str, Any]) -> str:
    annotator = annotation.get("completed_by")
    # Annotators' e-mail addresses and names are replaced by a number.
    number = object_or_empty(annotator).get("id") if isinstance(annotator, dict) else annotator
    return f"annotator {number}" if number is not None else "annotator"


def _marked_regions(
    item: str, rater: str, kind: RaterKind, annotation: Mapping[str, Any], left: Counter[str]
) -> list[Marked]:
    marks, reasons = list[Marked](), list[str]()
    for region in objects_in(annotation.get("result")):
        value, form = object_or_empty(region.get("value")), str(region.get("type"))
        name = str(region.get("from_name") or form)[:200]
        is_whole_text = "start" not in value and "x" not in value
        if form == "choices" and is_whole_text:
            chosen = tuple(str(choice) for choice in value.get("choices") or ())
            marks.append(Marked(item, name, rater, kind, chosen, True))
        elif (
            form in ("rating", "number")
            and is_whole_text
            and isinstance(value.get(form), int | float)
        ):
            marks.append(Marked(item, name, rater, kind, (value[form],), False))
        elif form == "pairwise" and isinstance(value.get("selected"), str):
            marks.append(Marked(item, name, rater, kind, (value["selected"],), False))
        elif form == "textarea" and is_whole_text:
            reasons.append(value_as_text(value.get("text")))
        else:
            left[f"marks of the kind {form!r}"] += 1
    return _with_reasons(marks, reasons, left)


def _with_reasons(
    marks: Sequence[Marked], reasons: Sequence[str], left: Counter[str]
) -> list[Marked]:
    """Return an annotation's marks with its texts; texts without a mark are counted."""
    if reasons and not marks:
        left["texts of annotations without any other answer"] += len(reasons)
    return [mark._replace(reason="\n\n".join(reasons)) for mark in marks]


#: The columns that Label Studio's CSV adds to those of the task and its marks.
_ABOUT = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time")
_MORE = {*_ABOUT, "id", "agreement", "history", "is_gt", "annotator_reviews"}


def _read_table(file: Opened) -> ToolResults:
    """Read a table with a row per annotation: the task's fields, id, marks, who and when."""
    results = ToolResults("label_studio", file.title)
    marks, left, people = list[Marked](), Counter[str](), dict[str, str]()
    rows = read_table(file, file.name).rows
    others = [column for column in file.columns if column not in _MORE]
    after = {*file.columns[file.columns.index("id") :]}
    kinds = {column: _kind_of_column(rows, column, column in after) for column in others}
    own = [column for column in others if kinds[column] == NOTE]
    texts = fields_of_items([{column: row[column] for column in own} for row in rows])
    for row, fields in zip(rows, texts, strict=True):
        item = _row_id(results, row)
        results.items.setdefault(item, fields)
        annotator = row["annotator"]
        # E-mail addresses are replaced by a number.
        rater = (
            annotator
            if annotator.isdecimal()
            else people.setdefault(annotator, str(len(people) + 1))
        )
        given = [
            mark
            for column in others
            if kinds[column] == "label"
            for mark in _marked_cell(item, column, f"annotator {rater}", row[column], left)
        ]
        reasons = [row[column] for column in others if kinds[column] == "reason" and row[column]]
        marks += _with_reasons(given, reasons, left)
    if people:
        results.note(_BY_NUMBER, "They are counted in the order of the file.")
    results = with_answers(results, marks, left)
    known = {"id": "item", "annotator": "rater"} | {f"{column}.": NOTE for column in own}
    known |= {column: kind for column, kind in kinds.items() if kind == "reason"}
    known |= {mark.question: "label" for mark in marks}
    results.roles = tuple(roles_of_fields(rows, results, known))
    return results


def _kind_of_column(rows: Sequence[dict[str, Any]], column: str, after_id: bool) -> str:
    """Return whether a column is the task's own (a note), its annotators' answers or reasons.

    Columns may be sorted, so answers may also stand before the id: where they differ within a task
    or are written as several choices.
    """
    first, filled = dict[str, str](), [row[column] for row in rows if row[column].strip()]
    differs = any(first.setdefault(row["id"], row[column]) != row[column] for row in rows)
    is_written_as_marks = any(cell[0] in "[{" for cell in filled)
    wordy = sum(len(cell.split()) for cell in filled) >= 4 * len(filled)
    if is_written_as_marks and (after_id or any(cell.startswith('{"choices"') for cell in filled)):
        return "label"
    if differs:
        sentences = wordy and not is_written_as_marks and 2 * len({*filled}) > len(filled)
        return "reason" if sentences else "label"
    return "label" if after_id and not wordy else NOTE


def _marked_cell(
    item: str, column: str, rater: str, text: str, left: Counter[str]
) -> Iterator[Marked]:
    if not text.strip():
        return
    value = parsed_cell(text)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = value[0].get("rating", value[0].get("number", value))
    if isinstance(value, dict) and isinstance(value.get("choices"), list):
        yield Marked(item, column, rater, "human", tuple(map(str, value["choices"])), True)
    elif isinstance(value, dict | list) or len(text) > _LONGEST or "\n" in text:
        left[f"marks of {column!r} that are texts, spans or boxes"] += 1
    else:
        yield Marked(item, column, rater, "human", (_number_or_word(value),), False)


def _number_or_word(value: Any) -> Value:
    """Return a cell as a number if possible, otherwise as a word."""
    number = finite(value)
    if number is None:
        return str(value)
    return int(number) if number.is_integer() else number


def _add_truth(results: ToolResults, given: Sequence[Marked]) -> None:
    """Use an annotation accepted as ground truth as the item's label."""
    for mark in given:
        if len(mark.values) == 1:
            results.truth.setdefault(mark.item, {})[mark.question] = mark.values[0]


# Argilla


def _is_record(row: Mapping[str, Any]) -> bool:
    if not ({"fields", "responses"} <= row.keys() and isinstance(row["fields"], dict)):
        return False
    listed = objects_in(row["responses"])
    return "suggestions" in row or any({"values", "user_id"} <= of.keys() for of in listed)


def _responses_by_question(responses: Any) -> dict[str, list[Any]]:
    """Return each question's answers, also from a list of users' answers to all questions."""
    if not isinstance(responses, list):
        return {name: objects_in(of) for name, of in object_or_empty(responses).items()}
    by_question = dict[str, list[Any]]()
    for response in objects_in(responses):
        for question, answer in object_or_empty(response.get("values")).items():
            value = answer.get("value") if isinstance(answer, dict) else answer
            by_question.setdefault(question, []).append({**response, "value": value})
    return by_question


def _read_records(rows: Rows, title: str) -> ToolResults:
    results = ToolResults("argilla", title)
    marks, left = list[Marked](), Counter[str]()
    texts = fields_of_items([row["fields"] for row in rows])
    for row, fields in zip(rows, texts, strict=True):
        item = _row_id(results, row)
        about = object_or_empty(row.get("metadata"))
        results.items[item] = fields | {"meta": {**fields.get("meta", {}), **about}}
        for question, answers in _responses_by_question(row.get("responses")).items():
            for response in answers:
                if response.get("status") not in (None, "submitted"):
                    left[f"responses that are {response['status']}"] += 1
                    continue
                rater = str(response.get("user_id") or response.get("user") or "annotator")
                marks += _marked_answers(
                    item, question, rater, "human", response.get("value"), left
                )
        for question, response in object_or_empty(row.get("suggestions")).items():
            suggestion = object_or_empty(response)
            rater = str(suggestion.get("agent") or "suggestion")
            marks += _marked_answers(item, question, rater, "llm", suggestion.get("value"), left)
    return with_answers(results, marks, left)


def _marked_answers(
    item: str, question: str, rater: str, kind: RaterKind, value: Any, left: Counter[str]
) -> Iterator[Marked]:
    is_choice = isinstance(value, str) and len(value) <= _LONGEST and "\n" not in value
    if isinstance(value, int | float) or is_choice:
        yield Marked(item, question[:200], rater, kind, (value,), False)
    elif isinstance(value, list) and all(isinstance(choice, str) for choice in value):
        yield Marked(item, question[:200], rater, kind, tuple(value), True)
    elif value is not None:
        left[f"answers to {question!r} that are a text, spans or a ranking"] += 1


# OpenReview: a note is a review; fields that begin with a number are questions.

_SCORED = re.compile(r"(-?\d+(?:\.\d+)?)(?:\s*[:.)-]|\s+[^\W\d]|\Z)")


def _is_review(row: Mapping[str, Any]) -> bool:
    scores = {"rating", "recommendation", "overall", "soundness", "confidence"}
    return {"forum", "signatures", "content"} <= row.keys() and bool(
        scores & object_or_empty(row["content"]).keys()
    )


def _read_reviews(rows: Rows, title: str) -> ToolResults:
    results = ToolResults("openreview", title)
    for row in rows:
        content = {
            name: value.get("value") if isinstance(value, dict) else value
            for name, value in object_or_empty(row["content"]).items()
        }
        scores = {name: m for name, v in content.items() if (m := _SCORED.match(str(v)))}
        scores = {name: m for name, m in scores.items() if len(str(content[name])) <= _LONGEST}
        if not scores:
            continue  # the paper itself, a comment or the decision
        item, who = str(row["forum"]), row["signatures"]
        rater = str(who[0] if isinstance(who, list) and who else who).rpartition("/")[2]
        results.items.setdefault(item, {})
        texts = [str(v) for n, v in content.items() if n not in scores and n != "title" and v]
        for name in (n for n in scores if n != "confidence"):
            value, why = finite(scores[name][1]), "\n\n".join([str(content[name]), *texts])
            results.answers.append(ToolAnswer(item, name[:200], rater, "human", value, why))
    if any("confidence" in object_or_empty(row["content"]) for row in rows):
        results.note("A reviewer's confidence is no judgement of the paper, and is left out.")
    return results


LABEL_STUDIO = (
    *of_rows(_is_task, _read_tasks, roles={}),
    ToolShape("table", lambda file: {*_ABOUT, "id"} <= {*file.columns}, _read_table),
)
ARGILLA = of_rows(_is_record, _read_records, "records", roles={})
OPENREVIEW = of_rows(
    _is_review, _read_reviews, "notes", roles={"forum": "item", "signatures[]": "rater"}
)
