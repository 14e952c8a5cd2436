"""Annotations of Prodigy (`prodigy db-out`): decisions on a label, and choices among options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.formats.votes.tools.annotation_tools import Marked, with_answers
from core.formats.votes.tools.fields import fields_of_items
from core.formats.votes.tools.messages import object_or_empty, objects_in
from core.formats.votes.tools.shapes import Rows, of_rows
from core.formats.votes.tools.tool_results import ToolQuestion, ToolResults

_ANSWERS = ("accept", "reject", "ignore")
#: Keys that are not texts of the task.
_OWN = {"answer", "label", "accept", "options", "config", "spans", "tokens", "html", "priority"}


def _is_task(row: Mapping[str, Any]) -> bool:
    return row.get("answer") in _ANSWERS and {"_input_hash", "_task_hash"} <= row.keys()


def _read_annotations(rows: Rows, title: str) -> ToolResults:
    results = ToolResults("prodigy", title)
    marks, skipped = list[Marked](), Counter[str]()
    raters: dict[Any, str] = {}
    own = [{k: v for k, v in row.items() if k not in _OWN and k[:1] != "_"} for row in rows]
    for row, fields in zip(rows, fields_of_items(own), strict=True):
        item = str(row.get("_input_hash"))
        results.items[item] = fields
        # Sessions without an annotator are often named after a person: a number replaces the name.
        rater = row.get("_annotator_id") or raters.setdefault(
            row.get("_session_id"), f"annotator {len(raters) + 1}"
        )
        if row.get("answer") == "ignore":
            skipped["ignored by their annotator"] += 1
        elif row.get("options"):
            marks.append(_marked_choice(results, item, str(rater), row))
        elif isinstance(row.get("label"), str) and not row.get("spans"):
            value = row["answer"] == "accept"
            marks.append(Marked(item, row["label"][:200], str(rater), "human", (value,), False))
        else:
            skipped["of spans, images or whole tasks"] += 1
    if raters:
        results.note("Sessions are numbered in the order of the file; their names are left out.")
    return with_answers(results, marks, skipped)


def _marked_choice(results: ToolResults, item: str, rater: str, row: Mapping[str, Any]) -> Marked:
    question = str(row.get("label") or "choice")[:200]
    texts = {o.get("id"): str(o.get("text") or o.get("id")) for o in objects_in(row["options"])}
    accepted: Sequence[Any] = row.get("accept") or ()
    several = object_or_empty(row.get("config")).get("choice_style") == "multiple"
    if not several:
        options = tuple((text, 0.0) for text in texts.values())
        results.questions.setdefault(question, ToolQuestion(options=options, nominal=True))
    chosen = tuple(texts.get(choice, str(choice)) for choice in accepted)
    return Marked(item, question, rater, "human", chosen, several)


_ROLES = {
    **dict.fromkeys(("answer", "accept[]", "options[].id", "options[].text"), "label"),
    **dict.fromkeys(("_annotator_id", "_session_id"), "rater"),
    "_input_hash": "item",
    "label": "criterion",
}
SHAPES = of_rows(_is_task, _read_annotations, roles=_ROLES)
