"""Metric runs of DeepEval, Ragas, OpenAI evals, MT-Bench and lm-evaluation-harness."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from core.formats.columns.answer_columns import counts_rows
from core.formats.datasets.roles import IGNORED, NOTE
from core.formats.source.opened import Opened
from core.formats.source.parsed import finite
from core.formats.votes.scales import Value
from core.formats.votes.tools.fields import fields_of_items, number_in, value_as_text, yes_or_no
from core.formats.votes.tools.messages import (
    conversation_text,
    object_or_empty,
    objects_in,
    text_in,
)
from core.formats.votes.tools.shapes import Rows, ToolShape, of_rows
from core.formats.votes.tools.tool_results import RaterKind, ToolAnswer, ToolResults
from core.formats.votes.tools.tool_roles import roles_of_fields

# DeepEval: a test case is an item, a metric a question that it passed or not.


def _test_run_in(file: Opened) -> dict[str, Any]:
    value = object_or_empty(file.value)
    return object_or_empty(value.get("testRunData")) or value


def _is_test_run(file: Opened) -> bool:
    if not file.has_words("testCases", "metricsData"):
        return False
    cases = _test_cases(_test_run_in(file))
    return any("metricsData" in case for case in cases)


def _test_cases(run: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*objects_in(run.get("testCases")), *objects_in(run.get("conversationalTestCases"))]


def _read_test_run(file: Opened) -> ToolResults:
    run = _test_run_in(file)
    results = ToolResults("deepeval", str(run.get("testFile") or file.title)[:200])
    for case in _test_cases(run):
        item = _unused_name(results, str(case.get("name") or "test case"))
        fields: dict[str, Any] = {
            "prompt": value_as_text(case.get("input") or case.get("scenario")),
            "reference": value_as_text(case.get("expectedOutput") or case.get("expectedOutcome")),
            "meta": object_or_empty(case.get("metadata")),
            "context": {
                name: text
                for name, key in (("context", "context"), ("retrieved", "retrievalContext"))
                if (text := value_as_text(case.get(key)))
            },
        }
        if case.get("actualOutput") is not None or case.get("turns"):
            fields["submission"] = value_as_text(case.get("actualOutput") or case.get("turns"))
        results.items[item] = fields
        for metric in objects_in(case.get("metricsData")):
            _add_metric(results, item, metric)
    results.roles = tuple(roles_of_fields(_test_cases(run), results, _OF_CASES))
    return results


_OF_CASES = {
    "name": "item",
    **dict.fromkeys(("input", "scenario"), "prompt"),
    **dict.fromkeys(("actualOutput", "turns[].content"), "text"),
    **dict.fromkeys(("expectedOutput", "expectedOutcome"), "reference"),
    **dict.fromkeys(("context[]", "retrievalContext[]"), "context"),
    "metricsData[].name": "criterion",
    "metricsData[].evaluationModel": "rater",
    **dict.fromkeys(("metricsData[].success", "metricsData[].score"), "label"),
    **dict.fromkeys(("metricsData[].reason", "metricsData[].error"), "reason"),
    "metadata.": NOTE,
}


def _add_metric(results: ToolResults, item: str, metric: Mapping[str, Any]) -> None:
    model = metric.get("evaluationModel")
    kind: RaterKind = "llm" if model else "offline"
    passed = None if metric.get("error") else yes_or_no(metric.get("success"))
    number = None if passed is None else number_in(metric.get("score"))
    why = str(metric.get("error") or metric.get("reason") or "")
    answer = ToolAnswer(
        *(item, str(metric.get("name") or "metric")[:200], str(model or "deepeval"), kind),
        *(passed, why, None, number),
    )
    results.answers.append(answer)


def _unused_name(results: ToolResults, name: str) -> str:
    """Return a name that no item has yet."""
    id, count = name[:480], 1
    while id in results.items:
        count += 1
        id = f"{name[:480]} ({count})"
    return id


# Ragas: a row an item, a column of numbers a question.

_RAGAS = {
    "user_input": "prompt",
    "response": "submission",
    "reference": "reference",
    "retrieved_contexts": "retrieved contexts",
    "reference_contexts": "reference contexts",
}


def _is_ragas(row: Mapping[str, Any]) -> bool:
    columns = set(row)
    beside = {"retrieved_contexts", "reference", "reference_contexts"}
    # Without further columns it is a set of items, not results.
    return {"user_input", "response"} <= columns and bool(
        beside & columns and columns - set(_RAGAS)
    )


def _read_ragas(rows: Rows, title: str) -> ToolResults:
    results = ToolResults("ragas", title)
    metrics = _number_columns(rows)
    filled = dict.fromkeys(name for row in rows for name in row if row[name] not in (None, ""))
    unused = [repr(n) for n in filled if n not in (*_RAGAS, *metrics) and not _is_index(rows, n)]
    if unused:
        results.note(
            f"Columns left out, because not all their values are numbers: {', '.join(unused)}."
        )
    for at, row in enumerate(rows, start=1):
        item = f"row {at}"
        fields: dict[str, Any] = {
            field: value_as_text(row.get(key))
            for key, field in _RAGAS.items()
            if "context" not in key
        }
        context = {field: value_as_text(texts_of_list(row.get(key)))
                   for key, field in _RAGAS.items()
                   if "context" in key and row.get(key)}  # fmt: skip
        results.items[item] = fields | {"context": context}
        for name in metrics:
            value = _cell_value(row.get(name))
            answer = ToolAnswer(item, name[:200], "ragas", "llm", value)
            results.answers.append(answer)
    return results


def _number_columns(rows: Rows) -> list[str]:
    """Return the columns that hold only numbers, without an index."""
    names = dict.fromkeys(name for row in rows for name in row if name not in _RAGAS)
    return [
        name
        for name in names
        if any(_cell_value(row.get(name)) is not None for row in rows)
        and all(
            row.get(name) in (None, "") or _cell_value(row.get(name)) is not None for row in rows
        )
        and not _is_index(rows, name)
    ]


def _is_index(rows: Rows, name: str) -> bool:
    return len(rows) > 2 and counts_rows(rows, name)


def _cell_value(value: Any) -> Value:
    if isinstance(value, str):
        return finite(value)
    return value if isinstance(value, bool | int | float) else None


def texts_of_list(value: Any) -> Any:
    """Return a list of texts from Python syntax; anything else unchanged.

    Python's parser would need gigabytes for a cell of some megabytes.

    >>> texts_of_list("['one', 'two']"), texts_of_list("[1, 2]")
    (['one', 'two'], '[1, 2]')
    """
    if not isinstance(value, str) or not _TEXTS.fullmatch(value):
        return value
    try:
        return [_text_of_literal(match[0]) for match in _TEXT.finditer(value)]
    except (ValueError, SyntaxError):
        return value


#: Possessive (``*+``), so that matching takes linear time.
_TEXT = re.compile(r"'(?:[^'\\\n]++|\\.)*+'|\"(?:[^\"\\\n]++|\\.)*+\"")
_TEXTS = re.compile(rf"\[\s*+(?:(?:{_TEXT.pattern})\s*+(?:,\s*+|(?=\])))*+\]")


def _text_of_literal(literal: str) -> str:
    return str(ast.literal_eval(literal)) if "\\" in literal else literal[1:-1]


# OpenAI evals: an output item is an item, a grader a question that it passed or not.


def _is_output_item(row: Mapping[str, Any]) -> bool:
    return row.get("object") == "eval.run.output_item" or (
        {"datasource_item", "results", "sample"} <= row.keys()
    )


def _read_output_items(rows: Rows, title: str) -> ToolResults:
    results = ToolResults("openai_evals", title)
    given = fields_of_items([object_or_empty(row.get("datasource_item")) for row in rows])
    for row, fields in zip(rows, given, strict=True):
        number = row.get("datasource_item_id")
        item = _unused_name(results, f"item {number}" if number is not None else str(row.get("id")))
        sample = object_or_empty(row.get("sample"))
        output = conversation_text(sample.get("output")) or text_in(sample.get("output_text"))
        if output:
            fields["submission"] = output
        prompt = conversation_text(sample.get("input"))
        if prompt:
            fields["prompt"] = prompt
        fields["system"] = str(sample.get("model") or fields.get("system") or "")
        results.items[item] = fields
        error = object_or_empty(sample.get("error")).get("message")
        for result in objects_in(row.get("results")):
            _add_grade(results, item, result, str(error or ""))
    return results


def _add_grade(results: ToolResults, item: str, result: Mapping[str, Any], error: str) -> None:
    sample = object_or_empty(result.get("sample"))
    is_model = bool(sample) or "model" in str(result.get("type") or "")
    name = _without_id(str(result.get("name") or "grader"))
    passed = None if error else yes_or_no(result.get("passed"))
    answer = ToolAnswer(
        *(item, name, str(sample.get("model") or name), "llm" if is_model else "offline"),
        *(passed, error or conversation_text(sample.get("output")), None),
        None if passed is None else number_in(result.get("score")),
    )
    results.answers.append(answer)


def _without_id(name: str) -> str:
    """Return a grader's name without the id that OpenAI appends."""
    head, dash, tail = name.rpartition("-")
    return head if dash and len(tail) >= 32 else name[:200]


# MT-Bench: an answer of a model to a turn is an item; the judge's score is a number from 1 to 10.


def _read_single(rows: Rows, title: str) -> ToolResults:
    results = ToolResults("mt_bench", title)
    for row in rows:
        item = f"question {row['question_id']}, turn {row['turn']}, {row['model']}"[:480]
        judge = row["judge"]
        rater = str(judge[0] if isinstance(judge, list) and judge else judge)
        meta = {"question_id": row["question_id"], "turn": row["turn"]}
        results.items.setdefault(item, {"system": str(row["model"]), "meta": meta})
        score = number_in(row["score"])
        # FastChat writes a score of -1 for a reply without a score.
        value = score if score is not None and score >= 0 else None
        judgment = str(row.get("judgment") or "")
        results.answers.append(ToolAnswer(item, "score", rater, "llm", value, judgment))
    return results


# lm-evaluation-harness: a row a document and filter, with a number for each metric.

_HARNESS = {"doc_id", "doc", "target", "resps", "filtered_resps"}
_BESIDE = _HARNESS | {"arguments", "filter", "metrics", "doc_hash", "prompt_hash", "target_hash"}


def _read_samples(rows: Rows, title: str) -> ToolResults:
    results = ToolResults("lm_eval", title)
    several = len({str(row.get("filter")) for row in rows}) > 1
    for row in rows:
        item, doc = f"document {row['doc_id']}", object_or_empty(row["doc"])
        fields = {"reference": value_as_text(row["target"]), "meta": doc}
        if prompt := _first_text(row.get("arguments")) or text_in(doc.get("question")):
            fields["prompt"] = prompt
        if answer := _first_text(row["resps"]):
            fields["submission"] = answer
        results.items.setdefault(item, fields)
        for name in row.get("metrics") or [key for key in row if key not in _BESIDE]:
            question = f"{name} ({row.get('filter')})" if several else str(name)
            value = _cell_value(row.get(name))
            if value is not None:
                answer_of = ToolAnswer(item, question[:200], "lm-eval", "offline", value)
                results.answers.append(answer_of)
    return results


def _first_text(value: Any) -> str:
    """Return the first text in nested lists and objects; numbers and pairs of chances are none."""
    while isinstance(value, list | dict) and value:
        value = value[0] if isinstance(value, list) else next(iter(value.values()))
    return value if isinstance(value, str) and finite(value) is None else ""


DEEPEVAL = (ToolShape("object", _is_test_run, _read_test_run),)
RAGAS = of_rows(
    _is_ragas,
    _read_ragas,
    table=True,
    roles={
        "user_input": "prompt",
        "response": "text",
        "reference": "reference",
        **{f"{key}{end}": "context" for key in _RAGAS if "context" in key for end in ("", "[]")},
    },
)
OPENAI_EVALS = of_rows(
    _is_output_item,
    _read_output_items,
    "data",
    roles={
        "datasource_item_id": "item",
        "datasource_item.": NOTE,
        "results[].name": "criterion",
        "results[].sample.model": "rater",
        **dict.fromkeys(("results[].passed", "results[].score"), "label"),
        "sample.model": "system",
    },
)
_OF_SINGLE = {"question_id", "model", "judge", "judgment", "score", "turn"}
MT_BENCH = of_rows(
    lambda row: row.keys() >= _OF_SINGLE,
    _read_single,
    roles={
        **dict.fromkeys(("question_id", "turn"), "item"),
        **dict.fromkeys(("judge", "judge[]"), "rater"),
        "model": "system",
        "judgment": "reason",
        "score": "label",
    },
)
LM_EVAL = of_rows(
    lambda row: row.keys() >= _HARNESS,
    _read_samples,
    roles={
        "doc_id": "item",
        "target": "reference",
        "filtered_resps[]": IGNORED,
        "doc.": NOTE,
        **dict.fromkeys(("resps", "resps[]", "resps[][]"), "text"),
        **dict.fromkeys(("filter", "metrics[]"), "criterion"),
    },
)
