"""Results of `promptfoo eval --output` as JSON, JSON lines or CSV.

An output (a test with a prompt and a provider) is an item. Every assertion's metric is a question
that it passed or not. Whether all passed is another question, which people also answer if they
rated by hand. Numbers next to pass and fail become reasons.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from core.errors import Problem
from core.formats.columns.text_columns import heads_a_prompt
from core.formats.datasets.roles import NOTE
from core.formats.source.csv_writer import number_of
from core.formats.source.opened import Opened
from core.formats.source.parsed import MAX_DATASET_BYTES, refusal
from core.formats.tables.cells import parsed_cell
from core.formats.votes.tools.fields import number_in, yes_or_no
from core.formats.votes.tools.messages import (
    conversation_text,
    object_or_empty,
    objects_in,
    text_in,
)
from core.formats.votes.tools.shapes import Rows, ToolShape, of_rows
from core.formats.votes.tools.tool_results import RaterKind, ToolAnswer, ToolQuestion, ToolResults
from core.formats.votes.tools.tool_roles import roles_of_fields

PASSED = "passed"
_WHAT = "file of results"
_ALL = ToolQuestion("All assertions of the test hold for the output.")
#: Assertions that call a model; all others are computed.
_ASKING = frozenset(
    {
        *("llm-rubric", "g-eval", "factuality", "model-graded-closedqa", "model-graded-factuality"),
        *("answer-relevance", "context-faithfulness", "context-recall", "context-relevance"),
        *("conversation-relevance", "select-best", "pi", "moderation", "similar", "classifier"),
        *("trajectory:goal-success", "search-rubric", "video-rubric", "agent-rubric"),
    }
)
_STATUS = frozenset({"PASS", "FAIL", "ERROR"})
_SYSTEM = re.compile(r"\[(?P<system>[^\]]+)\] (?P<prompt>.*)\Z", re.S)
_METRIC = re.compile(r"Metric: (?P<name>.+)\Z", re.S)


def _is_document(file: Opened) -> bool:
    if not file.has_words("evalId", "results", "gradingResult"):
        return False
    rows = objects_in(object_or_empty(object_or_empty(file.value).get("results")).get("results"))
    return "evalId" in file.value and bool(rows) and _is_row(rows[0])


def _is_row(row: Mapping[str, Any]) -> bool:
    """Return whether a row is an output; older and shortened ones have no numbers."""
    numbered = {"promptIdx", "testIdx"} <= row.keys()
    return {"success", "provider"} <= row.keys() and (
        numbered or {"vars", "gradingResult"} <= row.keys()
    )


def _numbered(rows: Rows) -> Rows:
    """Return rows; if none has them, with numbers of test and prompt, by variables and prompts."""
    if any({"promptIdx", "testIdx"} & row.keys() for row in rows):
        return rows
    places = {"testIdx": dict[str, int](), "promptIdx": dict[str, int]()}
    of = {"testIdx": "vars", "promptIdx": "prompt"}
    numbers = [
        {key: seen.setdefault(repr(row.get(of[key])), len(seen)) for key, seen in places.items()}
        for row in rows
    ]
    return [{**row, **number} for row, number in zip(rows, numbers, strict=True)]


def _is_table(file: Opened) -> bool:
    """Return whether columns are outputs, each with status, score and reasons."""
    outputs = [head for head, after in pairwise(file.columns) if after == "Status"]
    return "Grader Reason" in file.columns and any(map(_SYSTEM.match, outputs))


def _read_document(file: Opened) -> ToolResults:
    config = object_or_empty(file.value.get("config"))
    results = object_or_empty(file.value["results"])
    return _read_rows(objects_in(results["results"]), str(config.get("description") or file.title))


def _read_rows(rows: Rows, title: str) -> ToolResults:
    results = ToolResults("promptfoo", title[:200])
    results.questions[PASSED] = _ALL
    everywhere = _shared_assertions(rows)
    for item, row in zip(_read_outputs(results, rows), rows, strict=True):
        _add_answers(results, item, row, everywhere)
    results.roles = tuple(roles_of_fields(rows, results, _ROLES))
    if _is_derived(results):
        message = (
            f"{PASSED!r} is whether all assertions of an output hold: the other criteria say it."
        )
        results.note(message, "It has the weight 0, so that it does not count twice.")
        results.questions[PASSED] = _ALL._replace(weight=0.0)
    return results


def _is_derived(results: ToolResults) -> bool:
    """Return whether an output passed exactly if it passed all of several other questions."""
    held, whole = defaultdict[str, list[bool]](list), dict[str, bool]()
    for answer in results.answers:
        if answer.question != PASSED:
            held[answer.item].append(answer.value is True)
        elif isinstance(answer.value, bool) and answer.kind != "human":
            whole[answer.item] = answer.value
    several = any(len(values) > 1 for values in held.values())
    return several and all(all(held[item]) is passed for item, passed in whole.items())


_GRADED = ("gradingResult.", "gradingResult.componentResults[].")
_ASSERTED = "gradingResult.componentResults[].assertion."
_ROLES = {
    **dict.fromkeys(("testIdx", "promptIdx"), "item"),
    **dict.fromkeys(("provider", "provider.id", "provider.label", "prompt.label"), "system"),
    "prompt.raw": "prompt",
    "vars.": NOTE,
    "response.output": "text",
    "error": "reason",
    **{f"{of}{name}": "label" for of in ("", *_GRADED) for name in ("success", "pass", "score")},
    **{f"{of}{name}": "reason" for of in _GRADED for name in ("reason", "comment")},
    **dict.fromkeys((f"{_ASSERTED}type", f"{_ASSERTED}metric", f"{_ASSERTED}value"), "criterion"),
    **dict.fromkeys((f"{_ASSERTED}provider", f"{_ASSERTED}provider.id"), "rater"),
}


def item_ids(rows: Rows) -> list[str]:
    """Return the item of every output, in order."""
    return list(_read_outputs(ToolResults("promptfoo", ""), rows))


def _read_outputs(results: ToolResults, rows: Rows) -> Iterator[str]:
    rows = _numbered(rows)
    prompts = {row["promptIdx"]: object_or_empty(row.get("prompt")).get("label") for row in rows}
    several = len(set(prompts.values())) > 1
    repeats = Counter[str]()
    for row in rows:
        yield _read_output(results, row, several, repeats)


def _read_output(
    results: ToolResults, row: Mapping[str, Any], several_prompts: bool, repeats: Counter[str]
) -> str:
    provider = row["provider"]
    system = str(
        object_or_empty(provider).get("label") or object_or_empty(provider).get("id") or provider
    )
    prompt = object_or_empty(row.get("prompt"))
    if several_prompts and prompt.get("label"):
        system = f"{system}, {' '.join(str(prompt['label']).split())[:80]}"
    key = f"test {int(row['testIdx']) + 1}, {system}"[:480]
    repeats[key] += 1
    item = key if repeats[key] == 1 else f"{key} ({repeats[key]})"
    test, response = object_or_empty(row.get("testCase")), object_or_empty(row.get("response"))
    variables = {k: v for k, v in object_or_empty(row.get("vars")).items() if not k.startswith("_")}
    asked = next((str(v) for k, v in variables.items() if heads_a_prompt(k)), "")
    fields: dict[str, Any] = {
        "prompt": _prompt_text(str(prompt.get("raw") or asked)),
        "system": system,
        "description": str(test.get("description") or ""),
        "meta": {"vars": variables} if variables else {},
    }
    if "output" in response and response["output"] is not None:
        fields["submission"] = text_in(response["output"])
    results.items[item] = fields
    return item


def _prompt_text(raw: str) -> str:
    """Return the prompt as text; a chat prompt is JSON."""
    if raw.lstrip().startswith("["):
        import json

        try:
            return conversation_text(json.loads(raw))
        except ValueError:
            return raw
    return raw


def _add_answers(
    results: ToolResults, item: str, row: Mapping[str, Any], everywhere: frozenset[str]
) -> None:
    graded = row.get("gradingResult")
    parts = objects_in(object_or_empty(graded).get("componentResults"))
    people = [
        part for part in parts if object_or_empty(part.get("assertion")).get("type") == "human"
    ]
    # A component without an assertion is a set, whose assertions are listed separately.
    judged = [part for part in parts if part.get("assertion") and part not in people]
    if not isinstance(graded, dict) or row.get("failureReason") == 2:
        why = str(row.get("error") or "The provider gave no answer.")
        results.answers.append(ToolAnswer(item, PASSED, "promptfoo", "offline", None, why[:1000]))
        return
    names = Counter[str]()
    for part in judged:
        assertion = object_or_empty(part.get("assertion"))
        name = _question_of(assertion, everywhere, names)
        rater, kind = _rater_of(assertion)
        value = assertion.get("value")
        value_text = value if isinstance(value, str) and name != _assertion_type(assertion) else ""
        results.questions.setdefault(name, ToolQuestion(value_text))
        passed = yes_or_no(part.get("pass"))
        why = str(part.get("reason") or "")
        score = number_in(part.get("score"))
        answer = ToolAnswer(item, name, rater, kind, passed, why, number=score)
        results.answers.append(answer)
    own = graded.get("pass")
    if people:
        own = all(part.get("pass") is True for part in judged) if judged else None
        for part in people:
            passed = yes_or_no(part.get("pass"))
            why = str(part.get("comment") or graded.get("comment") or "")
            results.answers.append(ToolAnswer(item, PASSED, "person", "human", passed, why))
    if isinstance(own, bool):
        why = str(graded.get("reason") or "")
        score = number_in(graded.get("score"))
        answer = ToolAnswer(item, PASSED, "promptfoo", "offline", own, why, number=score)
        results.answers.append(answer)


def _shared_assertions(rows: Rows) -> frozenset[str]:
    """Return the texts of the assertions that every graded output has.

    Such a text becomes the name of the assertion's criterion.
    """
    kinds = [
        {_assertion_text(object_or_empty(part.get("assertion"))) for part in
         objects_in(object_or_empty(row.get("gradingResult")).get("componentResults"))}
        for row in rows
        if isinstance(row.get("gradingResult"), dict)
    ]  # fmt: skip
    return frozenset(set.intersection(*kinds)) if kinds else frozenset()


def _question_of(
    assertion: Mapping[str, Any], everywhere: frozenset[str], names: Counter[str]
) -> str:
    """Return an assertion's question: its metric, shared words, or its kind."""
    words = _assertion_text(assertion)
    name = str(
        assertion.get("metric") or (words if words in everywhere else _assertion_type(assertion))
    )
    name = " ".join(name.split())[:180] or "assertion"
    names[name] += 1
    return name if names[name] == 1 else f"{name} ({names[name]})"


def _assertion_text(assertion: Mapping[str, Any]) -> str:
    value = assertion.get("value")
    return (
        f"{_assertion_type(assertion)}: {value}"
        if isinstance(value, str)
        else _assertion_type(assertion)
    )


def _assertion_type(assertion: Mapping[str, Any]) -> str:
    return str(assertion.get("type") or "assertion")


def _rater_of(assertion: Mapping[str, Any]) -> tuple[str, RaterKind]:
    kind = _assertion_type(assertion)
    asking = kind.removeprefix("not-") in _ASKING
    provider = assertion.get("provider")
    provider = object_or_empty(provider).get("id") or provider
    if asking and isinstance(provider, str):
        return f"{kind} ({provider})", "llm"
    return (kind, "llm") if asking else ("promptfoo", "offline")


def _read_table(file: Opened) -> ToolResults:
    """Read a table with a row per test and columns per output."""
    results = ToolResults("promptfoo", file.title)
    results.questions[PASSED] = _ALL
    columns = file.columns
    outputs = [
        (at, named)
        for at, after in enumerate(columns[1:])
        if after == "Status" and (named := _SYSTEM.match(columns[at]))
    ]
    ends = [*(at for at, _ in outputs[1:]), len(columns)]
    variables = [at for at in range(outputs[0][0]) if columns[at] != "Description"]
    several = len({named["prompt"] for _, named in outputs}) > 1
    table = file.raw(_WHAT, MAX_DATASET_BYTES)
    for number, row in enumerate(table.rows, start=1):
        cells = [cell.text for cell in row.cells]
        if len(cells) != len(columns):
            message = f"has {len(cells)} cells, but the header names {len(columns)}."
            raise refusal(_WHAT, [Problem(message, "Export it again.", (), row.line)], file.name)
        variables_by_name = {columns[at]: cells[at] for at in variables}
        about = cells[columns.index("Description")] if "Description" in columns else ""
        for (start, named), end in zip(outputs, ends, strict=True):
            title = " ".join(named["prompt"].split())[:80]
            system = f"{named['system']}, {title}" if several else named["system"]
            item = f"test {number}, {system}"[:480]
            results.items[item] = {
                "prompt": _filled_prompt(named["prompt"], variables_by_name),
                "system": system,
                "description": about,
                "submission": cells[start],
                "meta": {"vars": variables_by_name},
            }
            beside = zip(columns[start + 1 : end], cells[start + 1 : end], strict=True)
            _add_table_cells(results, item, dict(beside))
    rows = [dict(zip(columns, (c.text for c in row.cells), strict=True)) for row in table.rows]
    known = _TABLE_ROLES | {column: "label" for column in columns if _METRIC.match(column)}
    known |= {columns[at]: NOTE for at in variables} | {columns[at]: "text" for at, _ in outputs}
    results.roles = tuple(roles_of_fields(rows, results, known))
    return results


_TABLE_ROLES = {
    **dict.fromkeys(("Status", "Named Scores"), "label"),
    **dict.fromkeys(("Score", "Grader Reason", "Comment"), "reason"),
    "Description": NOTE,
}


def _filled_prompt(prompt: str, variables: Mapping[str, str]) -> str:
    """Return a prompt's template with simple variables filled in."""
    for name, value in variables.items():
        place = re.compile(r"\{\{\s*" + re.escape(name) + r"\s*\}\}")
        prompt = value.join(place.split(prompt))
    return prompt


def _add_table_cells(results: ToolResults, item: str, cells: Mapping[str, str]) -> None:
    """Add the answers in the columns of an output."""
    status, score = cells.get("Status", ""), number_of(cells.get("Score", ""))
    reason = "\n".join(filter(None, (cells.get("Grader Reason"), cells.get("Comment"))))
    passed = {"PASS": True, "FAIL": False}.get(status)
    if status == "ERROR":
        results.items[item].pop("submission")
    if status in _STATUS:
        score = None if passed is None else score
        answer = ToolAnswer(item, PASSED, "promptfoo", "offline", passed, reason, number=score)
        results.answers.append(answer)
    named = object_or_empty(parsed_cell(cells.get("Named Scores", "")))
    scores = {str(name): number_in(value) for name, value in named.items()}
    told = ((metric["name"], cells[c]) for c in cells if (metric := _METRIC.match(c)))
    scores |= {name: float(text) for name, text in told if text.strip()}
    for name, value in scores.items() if status != "ERROR" else ():
        results.answers.append(ToolAnswer(item, name, "promptfoo", "offline", value))


SHAPES = (
    ToolShape("object", _is_document, _read_document),
    *of_rows(_is_row, _read_rows),
    ToolShape("table", _is_table, _read_table),
)
