"""Fields of votes by English headings, checked by the values of their columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from core.formats.columns.answer_columns import MOST_SHARED, could_answer, words_in
from core.formats.columns.headings import (
    GENERATORS,
    MODELS,
    is_sum,
    lower_heading,
    names_a_person,
    names_a_rater,
    plain_name,
    without_prefix,
)
from core.formats.columns.message_texts import message_paths
from core.formats.columns.text_columns import (
    LONG,
    WRITTEN,
    WRITTEN_BY,
    is_remark,
    is_worded,
    prompt_beside,
    text_column,
    text_shape,
    topics_in,
)
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import ITEMS, has_word
from core.formats.tables.table import Table
from core.formats.votes.structure.rater_columns import item_columns
from core.formats.votes.structure.values import values_of
from core.formats.votes.structure.vote_headings import LABELS, what_is_remarked_on

#: Column names of each field, most specific first.
NAMES: dict[str, tuple[str, ...]] = {
    "item": (
        *("item id", "item", "example id", "sample id", "submission id", "document id", "doc id"),
        *("ticket id", "case id", "response id", "student id", "participant id", "essay id"),
        *("id", "doc", "document", "example", "ticket", "case", "essay", "student"),
        *("unit", "nr", "no", "number", "key", "uid", "task"),
    ),
    "criterion": (
        *("criterion", "criterion name", "criterion id", "dimension", "aspect", "metric"),
        "question",
    ),
    "rater": (
        *("rater id", "rater", "annotator id", "annotator", "judge id", "judge", "grader"),
        *("reviewer", "coder", "worker id", "worker", "evaluator", "assessor", "scorer", "marker"),
        *("rater name", "annotator name", "judge name", "judge model", "grader model"),
        *("evaluator model", "scorer model", "user", "model"),
    ),
    "kind": ("rater kind", "kind", "rater type", "judge kind"),
    "label": (
        *("label", "rating", "verdict", "vote", "option", "answer", "decision", "judgement"),
        *("judgment", "annotation", "value", "score"),
    ),
    "reason": (
        *("reason", "rationale", "explanation", "comment", "note", "justification"),
        *("reasoning", "feedback", "critique"),
    ),
    "weight": ("weight", "rater weight"),
    "replicate": ("replicate", "repetition", "attempt", "run", "iteration"),
    "order": ("order", "shown order"),
    "submission": ("submission", "text", "submission text", *WRITTEN_BY, *WRITTEN),
    "prompt": ("prompt", "instruction", "input", "question"),
    "reference": (
        *("reference", "ref", "reference answer", "reference text", "reference submission"),
        *("gold answer", "desired answer", "ideal answer", "expected answer", "expected output"),
        "expected",
    ),
    "system": ("system", "system name", *MODELS),
}
#: The two answers of a table of pairs, and their authors.
PAIR = ("first", "second", "first_system", "second_system")
#: Fields of a row that describe its item.
ABOUT_ITEM = ("submission", "prompt", "reference", "system")
WIDE = ("item", "criterion", *ABOUT_ITEM)
#: Names that end in "id" and do not name the item.
_NO_ITEM = re.compile(
    r"(worker|annotator|rater|judge|user|grader|reviewer|coder|assignment|session|batch|system"
    r"|model|prompt|hit type|task|run|thread|parent|request|criterion|group|class|school) id\Z"
)
#: Columns that name either the rater or the author of the judged answer.
WEAK = ("user", "model")
#: Columns that name the author of one of an item's texts.
_AUTHORS = (*GENERATORS, "candidate", "candidate model", "agent", "assistant", "bot", "engine")

#: An id such as 7, S7 or sub-07.
_NUMBERED = re.compile(r"(?:[A-Za-z]{1,5}[-_ ]?)?0*(\d{1,5})\Z")

_MODELS = re.compile(
    r"gpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|command-r|palm|grok"
    r"|prometheus-|vicuna|nemotron|internlm|baichuan|chatglm|glm-\d|hunyuan|doubao|judgelm|pandalm"
    r"|(?<![a-z])llm(?![a-z])|(?<![a-z])(?:sonnet|haiku|phi-\d|o[134]-mini|o[134]-preview)(?![a-z])"
    r"|(?-i:-(?:mini|small|large|turbo|instruct|flash|(?:\d{1,2}x)?\d{1,3}b)(?![a-z]))",
    re.I,
)


def names_a_model(name: str) -> bool:
    """Return whether a rater's name is that of a language model."""
    return _MODELS.search(name) is not None


def flat_columns(table: Table) -> list[str]:
    """Return the columns without objects and lists in their cells."""
    return [column for column in table.columns if column not in table.nested]


def named_fields(columns: Sequence[str], fields: Iterable[str]) -> dict[str, str]:
    """Return the column of each field: the first of its known names that no earlier field uses."""
    free = {plain_name(column.replace(".", " ")): column for column in reversed(columns)}
    free |= {plain_name(without_prefix(column)): column for column in reversed(columns)}
    free |= {plain_name(column): column for column in reversed(columns)}
    by_field = dict[str, str]()
    for field in fields:
        free = {name: c for name, c in free.items() if c not in by_field.values()}
        name = next((n for n in NAMES[field] if n in free), None)
        if name is None and field == "item":
            ids = [n for n in free if n.endswith(" id") and not _NO_ITEM.search(n)]
            name = ids[0] if len(ids) == 1 else None
        if name is not None:
            by_field[field] = free[name]
    return by_field


def fields_checked_by_values(table: Table, fields: dict[str, str]) -> dict[str, str]:
    """Return the fields, checked by values.

    The submission and the reference must be texts, a question that differs in every row is a
    prompt, and a text that rows repeat is the item if no column names it.
    """
    fields = _rater_by_heading(table, _with_id_as_item(table, _label_by_values(table, fields)))
    if "item" not in fields and "rater" in fields and _numbers_texts(table, fields):
        fields = {"item": fields.pop("submission"), **fields}
    if not is_worded(table, fields.get("reference", "")):
        fields = {name: column for name, column in fields.items() if name != "reference"}
    criterion = fields.get("criterion", "")
    if plain_name(criterion) == "question" and _is_free_text(table, criterion):
        fields = {name: column for name, column in fields.items() if name != "criterion"}
        fields = {"prompt": criterion} | fields
    fields = message_paths(table) | fields
    if "submission" not in fields and (text := _text_of_items(table, fields)):
        fields = fields | {"submission": text}
    if "item" not in fields and "submission" in fields and "rater" in fields:
        if item := _item_of_reviews(table, fields):
            fields = {"reason": fields.pop("submission")} | fields | {"item": item}
        else:
            text = fields["submission"]
            fields = fields | {"item": _id_of_texts(table, text, [*fields.values()])}
    fields = _checked_within_items(table, fields)
    if "weight" in fields and not _is_rater_weight(table, fields):
        fields = {name: column for name, column in fields.items() if name != "weight"}
    fields = _with_author(table, _with_prompt(table, fields))
    asked = words_in(table, fields["prompt"]) if fields.get("prompt") in table.columns else ()
    if asked and all(_NUMBERED.match(word.strip()) for word in asked):
        fields = {name: column for name, column in fields.items() if name != "prompt"}  # codes
    column = fields.get("submission", "")
    shape = text_shape(table, column) if plain_name(column) in (*WRITTEN_BY, *WRITTEN) else None
    if shape is None or shape.sentences or shape.length > LONG:
        return fields
    return {name: column for name, column in fields.items() if name != "submission"}


def _numbers_texts(table: Table, fields: Mapping[str, str]) -> bool:
    """Return whether the column called a text holds ids: numbers, perhaps after a letter."""
    words = words_in(table, fields.get("submission", ""))
    numbers = {match[1] for word in words if (match := _NUMBERED.match(str(word).strip()))}
    return len(numbers) == len(words) > 2 and all(int(n) <= 5 * len(words) for n in numbers)


def _with_prompt(table: Table, fields: dict[str, str]) -> dict[str, str]:
    """Return the fields with the prompt beside the texts, the same for each item."""
    values, item, text = values_of(table), fields.get("item", ""), fields.get("submission", "")
    if "prompt" in fields or {item, text or item} - {*values.columns}:
        return fields
    free = [c for c in values.columns if c not in fields.values()]
    prompt = prompt_beside(table, text, free) if text else next(iter(topics_in(table, free)), "")
    known = prompt and not values.varies([item], prompt)
    return fields | {"prompt": prompt} if known else fields


def _with_author(table: Table, fields: dict[str, str]) -> dict[str, str]:
    """Return the fields with the author of each of an item's several texts as the system.

    The author of an item's only text needs the heading of a model.
    """
    values, item, text = values_of(table), fields.get("item", ""), fields.get("submission", "")
    if "system" in fields or item == text or {item, text} - {*values.columns}:
        return fields
    free = [c for c in values.columns if c not in fields.values() and plain_name(c) in _AUTHORS]
    several = values.varies([item], text)
    if not several:
        free = [c for c in free if plain_name(c) in GENERATORS and not values.varies([item], c)]
        free = [c for c in free if len(values.distinct[c]) > 1]
    author = next((c for c in free if not values.varies([item, c], text)), "")
    return fields | {"system": author} if author else fields


def _label_by_values(table: Table, fields: dict[str, str]) -> dict[str, str]:
    """Return the fields with texts as no label, and only numbers as repetitions."""
    replicate, label = fields.get("replicate"), fields.get("label", "")
    if replicate and not all(number_of(word) is not None for word in words_in(table, replicate)):
        fields = {name: column for name, column in fields.items() if name != "replicate"}
    shape = text_shape(table, label)
    free = [c for c in flat_columns(table) if c not in fields.values()]
    other = named_fields(free, ["label"])
    if shape is None or not shape.has_phrases:
        return fields
    if not other and len(words_in(table, label)) <= MOST_SHARED:
        return fields
    fields = {name: column for name, column in fields.items() if name != "label"}
    texts = {} if "submission" in fields else {"submission": label}
    return {**fields, **texts, **other}


def _is_rater_weight(table: Table, fields: dict[str, str]) -> bool:
    """Return whether a weight belongs to the rater: it is the same in all of the rater's rows."""
    values, rater, weight = values_of(table), fields.get("rater", ""), fields["weight"]
    return not {rater, weight} <= {*values.columns} or not values.varies([rater], weight)


def _rater_by_heading(table: Table, fields: dict[str, str]) -> dict[str, str]:
    """Return the fields with the only column headed for raters if the present one is ``WEAK``.

    The present column then names the system.
    """
    rater = fields.get("rater", "")
    if plain_name(rater) not in WEAK:
        return fields
    free = [c for c in flat_columns(table) if c not in fields.values() and names_a_rater(c)]
    free = [c for c in free if 1 < len(words_in(table, c)) < len(table.rows)]
    if len(free) != 1 or {plain_name(free[0]).rpartition(" ")[2]} & {
        *NAMES["reason"],
        *NAMES["label"],
    }:
        return fields
    return {"system": rater, **fields, "rater": free[0]}


def _item_of_reviews(table: Table, fields: dict[str, str]) -> str:
    """Return the id whose reviewers each wrote their own summary of it, or ""."""
    values, text, rater = values_of(table), fields["submission"], fields["rater"]
    if {text, rater} - {*values.columns} or "system" in fields:
        return ""
    own = "summary" in plain_name(text).split() and values.uniqueness([text]) > 0.9
    free = [c for c in values.columns if c not in fields.values() and has_word(c, ITEMS)]
    ids = (c for c in free if values.may_be_key(c) and values.uniqueness([c]) <= 0.5)
    return next((c for c in ids if own and values.uniqueness([c, rater]) == 1), "")


def _id_of_texts(table: Table, text: str, taken: Sequence[str]) -> str:
    """Return the column named for items with one value for each text, or the texts' own."""
    values = values_of(table)
    free = [c for c in values.columns if c not in taken and has_word(c, ITEMS)]
    free = free if text in values.columns else []
    same = (c for c in free if not (values.varies([c], text) or values.varies([text], c)))
    return next(same, text)


def _with_id_as_item(table: Table, fields: dict[str, str]) -> dict[str, str]:
    """Return the fields with an id as the item, if the item's column holds long texts."""
    text = fields.get("item", "")
    shape = text_shape(table, text)
    if shape is None or not shape.sentences or shape.length <= LONG:
        return fields
    free = [c for c in flat_columns(table) if c not in fields.values()]
    ids = [c for c in item_columns(values_of(table)) if c in free]
    named = named_fields(free, ["item"]) or dict(zip(["item"], ids, strict=False))
    return {"submission": text, **fields, **named}


def _checked_within_items(table: Table, fields: dict[str, str]) -> dict[str, str]:
    """Return the fields without a criterion or long label that is constant within an item."""
    if not {"criterion", "label"} & fields.keys():
        return fields
    values, wrong = values_of(table), list[str]()
    item = [fields["item"]] if "item" in fields else list(item_columns(values))
    if not item:
        return fields
    for field in ("criterion", "label"):
        column = fields.get(field, "")
        if {column, *item} - set(values.columns) or values.varies(item, column):
            continue
        constant = plain_name(column) == "question" or values.uniqueness(item) < 1
        several = constant and len(values.distinct[column]) > 1
        shape = text_shape(table, column)
        if several and (field == "criterion" or (shape is not None and shape.has_phrases)):
            wrong.append(field)
    return {name: column for name, column in fields.items() if name not in wrong}


def _text_of_items(table: Table, fields: dict[str, str]) -> str | None:
    """Return the only column of long texts that is constant within items."""
    if "item" not in fields:
        return None
    free = {plain_name(c): c for c in table.columns if c not in fields.values()}
    first = {str(row.get(fields["item"])): row for row in reversed(table.rows)}
    text = text_column(replace(table, rows=tuple(first.values())), free).column
    if text is None:
        return None
    pairs = {(str(row.get(fields["item"])), str(row.get(text))) for row in table.rows}
    return text if len(pairs) == len(words_in(table, fields["item"])) else None


def _is_free_text(table: Table, column: str) -> bool:
    """Return whether a column holds sentences, or a different value in most rows."""
    shape = text_shape(table, column)
    if shape is not None and shape.sentences:
        return True
    return 2 * len(words_in(table, column)) > len(table.rows) > 1


#: `gpt-4o | score`, beside `gpt-4o | reason`.
_SCORE = re.compile(r"(?P<judge>.+?)[\s_|:./–-]+(?P<asked>[^\W_]+)")
#: Words in headings of what people say beside models.
_PEOPLE = frozenset({"human", "people", "manual", "expert"})


def judges_with_reasons(table: Table) -> tuple[str, ...]:
    """Return the raters and the criterion of a score and a reason of each judge, or ().

    The judges are models or people. What a person marks beside them, on their scale, is one, too.
    """
    remarks = {what_is_remarked_on(c) for c in table.columns if is_remark(c)}
    parts = {c: part for c in table.columns if (part := _SCORE.fullmatch(c))}
    scored = {c: part["judge"] for c, part in parts.items()
              if part["asked"].lower() in LABELS and plain_name(part["judge"]) in remarks
              and could_answer(table, c)}  # fmt: skip
    asked = {parts[c]["asked"] for c in scored}
    named = (names_a_model(j) or names_a_rater(j) or names_a_person(j) for j in scored.values())
    if len({*scored.values()}) < 2 or len(asked) != 1 or not all(named):
        return ()
    marks = set[str]().union(*(words_in(table, c) for c in scored))
    people = [
        c
        for c in table.columns
        if _PEOPLE & {*lower_heading(c).split()}
        and could_answer(table, c)
        and not is_sum(c)
        and {*map(number_of, words_in(table, c))} <= {*map(number_of, marks)}
    ]
    return (
        *(f"raters={judge}" for judge in (*scored.values(), *people)),
        *(f"criteria={name}" for name in asked),
    )
