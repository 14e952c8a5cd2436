"""Where objects and lists in cells hold what was asked and what was answered, by usual names."""

from __future__ import annotations

from typing import Any

from core.formats.columns.headings import plain_name
from core.formats.tables.cells import parsed_cell
from core.formats.tables.table import Table

#: Headings of columns of messages, and the keys in them that lead to a text, likeliest first.
_ASKED = frozenset(
    {
        *("input", "inputs", "prompt", "prompts", "question", "query", "request", "messages"),
        *("user input", "conversation", "instruction", "task"),
    }
)
_ANSWERED = frozenset(
    {
        *("output", "outputs", "response", "responses", "answer", "completion", "reply"),
        *("generation", "prediction", "result", "model output", "model response", "actual output"),
        *("assistant response", "target output", "generations", "outcome"),
    }
)
_KEYS = (
    *("messages", "message", "contents", "choices", "candidates", "generations", "parts"),
    *("content", "text"),
    *("question", "query", "user input", "user query", "user message", "prompt", "input", "inputs"),
    *("instruction", "answer", "output", "outputs", "response", "completion", "reply"),
    *("generation", "output text", "generated text", "result", "value"),
)
_DEPTH, _ROWS = 6, 500


def message_paths(table: Table) -> dict[str, str]:
    """Return the places in cells of the submission and the prompt, as `output.content`."""
    found: dict[str, str] = {}
    for column in (c for c in table.columns if c in table.nested):
        name = plain_name(column)
        field = "submission" if name in _ANSWERED else "prompt" if name in _ASKED else ""
        if field and field not in found and (path := _path_of_texts(table, column)):
            found[field] = path
    return found


def _path_of_texts(table: Table, column: str) -> str:
    """Return the path to the text in each of a column's cells, or "" if it differs."""
    cells = (parsed_cell(row.get(column)) for row in table.rows[:_ROWS])
    paths = {_path_to_text(cell) for cell in cells if cell not in (None, "", [], {})}
    found = {path for path in paths if path is not None}
    if len(found) > 1:  # some conversations are longer than others: each as a whole
        found = {path.partition("[-1]")[0] for path in found}
    return f"{column}{found.pop()}" if len(found) == 1 and None not in paths else ""


def _path_to_text(value: Any, depth: int = 0) -> str | None:
    """Return the path to the text inside a value, "" for a whole conversation, or ``None``.

    >>> asked = {"role": "user", "content": "Where?"}
    >>> _path_to_text({"messages": [asked]}), _path_to_text({"messages": [asked, asked]})
    ('.messages[-1].content', '.messages')
    """
    if isinstance(value, str):
        return ""
    if depth > _DEPTH:
        return None
    if isinstance(value, dict):
        names = {plain_name(str(key)): str(key) for key in value}
        for name in (name for name in _KEYS if name in names):
            inside = _path_to_text(value[names[name]], depth + 1)
            if inside is not None:
                return f".{names[name]}{inside}"
        return None
    entries = value if isinstance(value, list) else []
    messages = [of for of in entries if isinstance(of, dict) and isinstance(of.get("role"), str)]
    if not entries or (len(entries) > 1 and len(messages) < len(entries)):
        return None
    if len(entries) > 1:
        return ""  # a conversation, as a whole: what the system is told is asked, too
    inside = _path_to_text(entries[-1], depth + 1)
    return None if inside is None else f"[-1]{inside}"


def turns_in(cell: Any) -> list[dict[str, Any]]:
    """Return the messages of a conversation in a cell, or [].

    >>> len(turns_in('[{"role": "user", "content": "Hi"}]')), turns_in("[1]")
    (1, [])
    """
    turns = parsed_cell(cell) if cell else None
    listed = turns if isinstance(turns, list) else []
    are_turns = all(
        isinstance(turn, dict) and turn.keys() == {"role", "content"} for turn in listed
    )
    return listed if are_turns else []


def holds_messages(table: Table, column: str) -> bool:
    """Return whether the texts of a column are conversations in JSON."""
    cells = (row[column] for row in table.rows if table.flat and row.get(column))
    are = (isinstance(cell, str) and bool(turns_in(cell)) for cell in cells)
    return next(are, False) and all(are)
