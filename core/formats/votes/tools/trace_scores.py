"""Scores of traces: Langfuse, LangSmith's feedback, Phoenix's annotations.

A trace or span is an item, a score's name a question, and its author a rater. The texts of traces
are in other exports, so the items have none, with a notice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.formats.tables.cells import parsed_cell
from core.formats.votes.scales import Value
from core.formats.votes.structure.vote_headings import is_users_feedback
from core.formats.votes.tools.messages import object_or_empty
from core.formats.votes.tools.shapes import Rows, ToolShape, of_rows
from core.formats.votes.tools.tool_results import RaterKind, ToolAnswer, ToolResults

Row = Mapping[str, Any]


def _number_or_text(value: Any) -> Value:
    """Return a cell as a number if possible, otherwise its text or ``None``."""
    if value is None or value == "" or isinstance(value, dict | list):
        return None
    if not isinstance(value, str):
        return value if isinstance(value, bool | int | float) else None
    try:
        return float(value)
    except ValueError:
        return value[:200]


def _first_filled(row: Row, *names: str) -> Any:
    """Return the first nonempty value; tables nest ``feedback_source.type``."""
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


# Langfuse


def _is_langfuse(row: Row) -> bool:
    columns = set(row)
    return {"name", "value", "source"} <= columns and bool(
        {"traceId", "dataType"} <= columns or {"trace_id", "data_type"} <= columns
    )


def _add_langfuse_score(results: ToolResults, row: Row) -> None:
    trace = _first_filled(row, "traceId", "trace_id", "sessionId", "session_id")
    part = _first_filled(row, "observationId", "observation_id")
    if trace is None:
        results.note(f"A score {row.get('name')!r} hangs on no trace; it is left out.")
        return
    item = f"{trace}/{part}" if part else str(trace)
    source = str(row.get("source") or "API")
    author = _first_filled(row, "authorUserId", "author_user_id")
    rater, kind = _rater_of(_LANGFUSE, source, str(row["name"]))
    form = str(_first_filled(row, "dataType", "data_type") or "")
    label = _first_filled(row, "stringValue", "string_value")
    value = _number_or_text(row.get("value"))
    if form == "CATEGORICAL":
        value = str(label) if label is not None else value
    elif form == "BOOLEAN":
        value = None if value is None else value in (1, True, "True", "true")
    results.items.setdefault(item, {})
    comment = str(row.get("comment") or "")
    rater = f"{rater} {author}" if author and kind == "human" else rater
    answer = ToolAnswer(item, str(row["name"])[:200], rater, kind, value, comment)
    results.answers.append(answer)


def _rater_of(
    raters: Mapping[str, tuple[str, RaterKind]], source: str, name: str
) -> tuple[str, RaterKind]:
    """Return the rater and kind of a source; what a program sent may be the users' feedback."""
    if source in ("API", "api") and is_users_feedback(name):
        return "user", "human"
    return raters.get(source, (source, "offline"))


_LANGFUSE: Mapping[str, tuple[str, RaterKind]] = {
    "ANNOTATION": ("annotator", "human"),
    "EVAL": ("evaluator", "llm"),
    "API": ("API", "offline"),
}


# LangSmith


def _add_langsmith_score(results: ToolResults, row: Row) -> None:
    item = str(row.get("run_id") or _first_filled(row, "trace_id", "session_id") or "")
    if not item:
        results.note(f"Feedback {row.get('key')!r} hangs on no run; it is left out.")
        return
    source = object_or_empty(parsed_cell(row.get("feedback_source")))
    form, user = str(source.get("type") or "api"), source.get("user_id")
    rater, kind = _rater_of(_LANGSMITH, form, str(row["key"]))
    rater = f"{rater} {user}" if user and kind == "human" else rater
    score = _number_or_text(row.get("score"))
    value = score if score is not None else _number_or_text(row.get("value"))
    results.items.setdefault(item, {})
    comment = str(row.get("comment") or "")
    answer = ToolAnswer(item, str(row["key"])[:200], rater, kind, value, comment)
    results.answers.append(answer)


_LANGSMITH: Mapping[str, tuple[str, RaterKind]] = {
    "app": ("person", "human"),
    "model": ("evaluator", "llm"),
    "auto_eval": ("evaluator", "llm"),
    "api": ("api", "offline"),
}


# Phoenix


def _is_phoenix(row: Row) -> bool:
    columns = set(row)
    named = bool({"name", "annotation_name"} & columns)
    spans = bool({"span_id", "trace_id", "context.span_id"} & columns)
    return "annotator_kind" in columns and named and spans


def _add_phoenix_score(results: ToolResults, row: Row) -> None:
    item = _first_filled(row, "span_id", "context.span_id", "trace_id")
    if item is None:
        return
    result = object_or_empty(parsed_cell(row.get("result"))) or row
    kind = _PHOENIX.get(str(row.get("annotator_kind")), "offline")
    user = str(_first_filled(row, "identifier", "user_id") or "")
    rater_noun = {"human": "person", "llm": "evaluator", "offline": "code"}[kind]
    label, score = result.get("label"), _number_or_text(result.get("score"))
    value = _number_or_text(label) if label not in (None, "") else score
    name = str(_first_filled(row, "name", "annotation_name"))[:200]
    explanation = str(result.get("explanation") or "")
    results.items.setdefault(str(item), {})
    number = float(score) if isinstance(score, int | float) and value != score else None
    rater = f"{rater_noun} {user}".strip()
    results.answers.append(
        ToolAnswer(str(item), name, rater, kind, value, explanation, None, number)
    )


_PHOENIX: Mapping[str, RaterKind] = {"HUMAN": "human", "LLM": "llm", "CODE": "offline"}


def _row_shapes(
    kind: str, fits: Callable[[Row], bool], take: Callable[[ToolResults, Row], None]
) -> tuple[ToolShape, ...]:
    """Return the layouts of rows: JSON lines or list, an API page, a table."""

    def read(rows: Rows, title: str) -> ToolResults:
        results = ToolResults(kind, title)
        for row in rows:
            take(results, row)
        return results

    return of_rows(fits, read, "data", table=True, roles=_ROLES)


#: What the fields of all three tools are.
_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("traceId", "trace_id", "observationId", "observation_id"), "item"),
    **dict.fromkeys(("run_id", "span_id", "context.span_id"), "item"),
    **dict.fromkeys(("name", "annotation_name", "key"), "criterion"),
    **dict.fromkeys(("value", "stringValue", "string_value", "score", "label"), "label"),
    **dict.fromkeys(("result", "result.label", "result.score"), "label"),
    **dict.fromkeys(("source", "annotator_kind", "feedback_source.type"), "kind"),
    **dict.fromkeys(("authorUserId", "author_user_id", "feedback_source.user_id"), "rater"),
    **dict.fromkeys(("feedback_source", "identifier", "user_id"), "rater"),
    **dict.fromkeys(("comment", "explanation", "result.explanation"), "reason"),
}


LANGFUSE = _row_shapes("langfuse", _is_langfuse, _add_langfuse_score)
_OF_FEEDBACK = {"run_id", "key", "score", "feedback_source"}
LANGSMITH = _row_shapes("langsmith", lambda row: row.keys() >= _OF_FEEDBACK, _add_langsmith_score)
PHOENIX = _row_shapes("phoenix", _is_phoenix, _add_phoenix_score)
