"""Scores of traces: Langfuse, LangSmith's feedback, Phoenix's annotations; Open WebUI's feedback.

A trace or span is an item, a score's name a question, and its author a rater. The texts of traces
are in other exports, so the items have none, with a notice; Open WebUI's come with the chats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.formats.tables.cells import parsed_cell
from core.formats.votes.scales import Value
from core.formats.votes.structure.vote_headings import is_users_feedback
from core.formats.votes.tools.fields import number_in
from core.formats.votes.tools.messages import (
    conversation_text,
    object_or_empty,
    objects_in,
    text_in,
)
from core.formats.votes.tools.shapes import Rows, ToolShape, of_rows
from core.formats.votes.tools.tool_results import RaterKind, ToolAnswer, ToolQuestion, ToolResults

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


# Open WebUI: users' feedback on messages, each with its chat

_THUMBS = {-1.0: "thumb down", 1.0: "thumb up"}
#: The scores that a user may give beside the thumb.
_OUT_OF_TEN = range(1, 11)


def _is_feedback(row: Mapping[str, Any]) -> bool:
    data = object_or_empty(row.get("data"))
    return {"user_id", "type", "snapshot"} <= row.keys() and {"rating", "model_id"} <= data.keys()


def _read_feedback(rows: Rows, title: str) -> ToolResults:
    results = ToolResults("open_webui", title)
    shares = [(str(n), (n - 1) / (len(_OUT_OF_TEN) - 1)) for n in _OUT_OF_TEN]
    thumbs = (("thumb down", 0.0), ("thumb up", 1.0))
    results.questions["rating"] = ToolQuestion("Does the user like the answer?", thumbs)
    results.questions["details.rating"] = ToolQuestion(
        "How good is the answer, from 1 to 10?", tuple(shares)
    )
    given = dict.fromkeys(str(row["data"].get("reason") or "")[:200] for row in rows)
    reasons = tuple((reason, 0.0) for reason in given if reason)
    if len(reasons) > 1:  # one reason alone is no choice
        results.questions["reason"] = ToolQuestion("Why so?", reasons, nominal=True, weight=0.0)
    results.note("The text is the message that was rated, the prompt what was said before it.")
    strange = 0
    for at, row in enumerate(rows, start=1):
        item, data = str(row.get("id") or at), row["data"]
        results.items[item] = _fields_of_answer(row) | {"system": str(data["model_id"])}
        score = number_in(object_or_empty(data.get("details")).get("rating"))
        values = {
            "rating": _THUMBS.get(number_in(data["rating"]) or 0.0),
            "details.rating": str(int(score)) if score and score in _OUT_OF_TEN else None,
            "reason": str(data.get("reason") or "")[:200] or None,
        }
        strange += values["rating"] is None
        comment = str(data.get("comment") or "")
        results.answers += [
            ToolAnswer(item, question, str(row["user_id"]), "human", value, comment)
            for question, value in values.items()
            if value is not None and question in results.questions
        ]
    if strange:
        results.note(f"Feedback with neither thumb up nor thumb down: {strange:,}.")
    if any(row["data"].get("sibling_model_ids") for row in rows):
        results.note("Which models were compared in the arena is not read; the thumbs are.")
    return results


def _fields_of_answer(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text of the message that was rated, and what was said before; if it is there."""
    outer = object_or_empty(object_or_empty(row["snapshot"]).get("chat"))
    chat = object_or_empty(outer.get("chat")) or outer
    rated = str(object_or_empty(row.get("meta")).get("message_id"))
    messages = object_or_empty(object_or_empty(chat.get("history")).get("messages"))
    turns, at = list[dict[str, Any]](), rated
    while at in messages and len(turns) < len(messages):
        turns.append(object_or_empty(messages[at]))
        at = str(turns[-1].get("parentId"))
    turns.reverse()
    if not turns:
        listed = objects_in(chat.get("messages"))
        ids = [str(message.get("id")) for message in listed]
        turns = listed[: ids.index(rated) + 1] if rated in ids else []
    if not turns:
        return {}
    *asked, answer = turns
    return {"prompt": conversation_text(asked), "submission": text_in(answer.get("content"))}


#: Messages stand under their ids, so a table of roles would have a line for each of them.
OPEN_WEBUI = of_rows(_is_feedback, _read_feedback)
