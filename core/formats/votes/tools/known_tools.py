"""The tools with known results: one entry each, recognised by structure, never by name.

The first entry that fits is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.domain.dataset import Dataset
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.datasets.dataset_file import dataset_of, parse_dataset
from core.formats.folder import DATASET_NAMES, folder_files, read_bytes, read_dataset_file
from core.formats.source.format import Format, format_of
from core.formats.source.opened import Opened
from core.formats.source.parsed import MAX_DATASET_BYTES, Parsed
from core.formats.tables.submissions import could_be_submissions
from core.formats.tables.table import table_of_files
from core.formats.votes.tools import (
    annotation_tools,
    inspect_logs,
    metric_runs,
    pair_votes,
    paperbench,
    prodigy,
    promptfoo,
    trace_scores,
)
from core.formats.votes.tools.fields import with_mapped_fields
from core.formats.votes.tools.shapes import tool_format
from core.formats.votes.tools.tool_results import ToolResults, items_without_answers

TOOLS = (
    tool_format("inspect", "Inspect", inspect_logs.SHAPES),
    tool_format("promptfoo", "promptfoo", promptfoo.SHAPES),
    tool_format("deepeval", "DeepEval", metric_runs.DEEPEVAL),
    tool_format("ragas", "Ragas", metric_runs.RAGAS),
    tool_format("openai_evals", "OpenAI evals", metric_runs.OPENAI_EVALS),
    tool_format("lm_eval", "lm-evaluation-harness", metric_runs.LM_EVAL),
    tool_format("langfuse", "Langfuse", trace_scores.LANGFUSE),
    tool_format("langsmith", "LangSmith", trace_scores.LANGSMITH),
    tool_format("phoenix", "Phoenix", trace_scores.PHOENIX),
    tool_format("label_studio", "Label Studio", annotation_tools.LABEL_STUDIO),
    tool_format("argilla", "Argilla", annotation_tools.ARGILLA),
    tool_format("openreview", "OpenReview", annotation_tools.OPENREVIEW),
    tool_format("prodigy", "Prodigy", prodigy.SHAPES),
    tool_format("open_webui", "Open WebUI", trace_scores.OPEN_WEBUI),
    tool_format("paperbench", "PaperBench", paperbench.SHAPES),
    tool_format("mt_bench", "MT-Bench", (*metric_runs.MT_BENCH, *pair_votes.MT_BENCH_PAIRS)),
    tool_format("arena", "Chatbot Arena", pair_votes.ARENA),
)
#: The names of tools on screen.
TOOL_NAMES = {tool.name: tool.title for tool in TOOLS}


def tool_of(opened: Opened) -> Format | None:
    """Return the tool that wrote this file; unreadable files match no tool."""
    return format_of(TOOLS, opened)


def read_results(
    data: str | bytes | Opened, name: str, fields: Mapping[str, str] = {}
) -> ToolResults:
    """Return the results in a recognised file; ``fields`` are places of its items' fields.

    Raises:
        InputError: damaged, or not a file of a known tool.
    """
    opened = Opened.of(data, name)
    tool = tool_of(opened)
    if tool is None:
        tools = ", ".join(TOOL_NAMES.values())
        raise InputError(f"This is not a known file of results ({tools}).", (), name)
    return with_mapped_fields(tool.read(opened), fields)


def read_items(
    data: str | bytes | Opened,
    name: str,
    rubric: Rubric | None = None,
    changes: Sequence[str] | None = None,
    sheet: str | None = None,
    *,
    spend: bool = False,
) -> Parsed[Dataset]:
    """Return the items of a file to grade: a dataset, or a tool's items.

    ``spend``, and the exceptions, are those of `parse_dataset`.
    """
    opened = Opened.of(data, name)
    tool = None if isinstance(data, str) or changes else tool_of(opened)
    if tool is None:
        spend = spend or opened is not data
        return parse_dataset(opened, name, rubric, changes, sheet, spend=spend)
    results: ToolResults = tool.read(opened)
    message = f"Read as results of {tool.title}; the scores are left out here."
    notice = Problem(message, "To measure them, import the file as votes.")
    return Parsed(items_without_answers(results), (notice, *results.notices))


def read_items_file(
    path: Path,
    rubric: Rubric | None = None,
    changes: Sequence[str] | None = None,
    sheet: str | None = None,
) -> Parsed[Dataset]:
    """Return the items of a file on disk, or of a folder."""
    if not path.is_dir():
        return read_items(read_bytes(path, MAX_DATASET_BYTES), str(path), rubric, changes, sheet)
    if any((path / file_name).is_file() for file_name in DATASET_NAMES):
        return read_dataset_file(path, rubric, changes, sheet)
    files, name = folder_files(path), path.resolve().name or "folder"
    if not could_be_submissions(files):
        mend = f"It has no {' or '.join(DATASET_NAMES)}, and no submissions."
        raise InputError(f"This is a folder. {mend}", (), str(path))
    return dataset_of(table_of_files(files, name), name, rubric, changes)
