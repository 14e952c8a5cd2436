"""Graded trees of PaperBench: every leaf's score is a vote, with the judge's explanation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.formats.rubrics.benchmarks import is_tree, leaves_of, tree_rubric
from core.formats.rubrics.rubric_file import rubric_from_data
from core.formats.source.opened import Opened
from core.formats.votes.tools.fields import number_in
from core.formats.votes.tools.messages import object_or_empty
from core.formats.votes.tools.shapes import ToolShape
from core.formats.votes.tools.tool_results import ToolAnswer, ToolResults


def _graded_tree(file: Opened) -> Mapping[str, Any]:
    """Return the graded tree, also from a judge's output; {} if there is none."""
    if not file.has_words("sub_tasks", "requirements", "score", "explanation"):
        return {}
    value = object_or_empty(file.value)
    root = object_or_empty(value.get("graded_task_tree", value))
    return root if is_tree(root) and "score" in root else {}


def _read_tree(file: Opened) -> ToolResults:
    root = _graded_tree(file)
    results = ToolResults("paperbench", file.title)
    data, _ = tree_rubric(root)
    results.rubric = rubric_from_data(data, file.name, lambda path: None).value
    results.items[file.title] = {"description": str(root["requirements"])}
    for criterion, leaf in zip(results.rubric.criteria, leaves_of(root), strict=True):
        score = number_in(leaf.get("score")) if leaf.get("valid_score") is not False else None
        value = bool(score) if score in (0, 1) else score
        about = object_or_empty(leaf.get("judge_metadata"))
        rater = str(about.get("judge_model") or about.get("model") or "judge")
        why = str(leaf.get("explanation") or "")
        results.answers.append(
            ToolAnswer(file.title, criterion.name, rater, "llm", value, why, number=score)
        )
    return results


SHAPES = (ToolShape("object", lambda file: bool(_graded_tree(file)), _read_tree),)
