"""Recognise the tool that wrote a file by structure, never by name alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from core.domain.dataset import Dataset
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.formats.datasets.dataset_file import dataset_of, parse_dataset
from core.formats.datasets.submissions import could_be_submissions
from core.formats.datasets.table import table_of_files
from core.formats.folder import DATASET_NAMES, folder_files, read_bytes, read_dataset_file
from core.formats.source.parsed import MAX_DATASET_BYTES, Parsed
from core.formats.votes.imported import TOOL_NAMES, ToolKind
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
from core.formats.votes.tools.tool_results import ToolResults, items_alone
from core.formats.votes.tools.views import Shape, View, views_of

TOOLS: Mapping[ToolKind, Sequence[Shape[Any]]] = {
    "inspect": inspect_logs.SHAPES,
    "promptfoo": promptfoo.SHAPES,
    "deepeval": metric_runs.DEEPEVAL,
    "ragas": metric_runs.RAGAS,
    "openai_evals": metric_runs.OPENAI_EVALS,
    "mt_bench": (*metric_runs.MT_BENCH, *pair_votes.MT_BENCH_PAIRS),
    "arena": pair_votes.ARENA,
    "langfuse": trace_scores.LANGFUSE,
    "langsmith": trace_scores.LANGSMITH,
    "phoenix": trace_scores.PHOENIX,
    "label_studio": annotation_tools.LABEL_STUDIO,
    "argilla": annotation_tools.ARGILLA,
    "prodigy": prodigy.SHAPES,
    "paperbench": paperbench.SHAPES,
}


def recognised(data: bytes, name: str) -> ToolKind | None:
    """Return the tool that wrote this file; unreadable files match no tool."""
    reader = _reader(data, name)
    return None if reader is None else reader[0]


def read_results(data: bytes, name: str) -> ToolResults:
    """Return the results in a recognised file.

    Raises:
        InputError: damaged, or not a file of a known tool.
    """
    reader = _reader(data, name)
    if reader is None:
        tools = ", ".join(TOOL_NAMES.values())
        raise InputError(f"This is no file of results that is known here ({tools}).", (), name)
    return reader[1]()


def read_items(
    data: str | bytes,
    name: str,
    rubric: Rubric | None = None,
    changes: Sequence[str] | None = None,
    sheet: str | None = None,
) -> Parsed[Dataset]:
    """Return the items of a file to grade: a dataset, or a tool's items.

    Raises ``InputError`` as `parse_dataset` does.
    """
    reader = None if isinstance(data, str) or changes else _reader(data, name)
    if reader is None:
        return parse_dataset(data, name, rubric, changes, sheet)
    kind, read = reader
    results = read()
    message = f"Read as results of {TOOL_NAMES[kind]}; the scores are left out here."
    notice = Problem(message, "To measure them, import the file as votes.")
    return Parsed(items_alone(results), (notice, *results.notices))


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


def _reader(data: bytes, name: str) -> tuple[ToolKind, Callable[[], ToolResults]] | None:
    views = views_of(data, name)
    try:
        for kind, shapes in TOOLS.items():
            for shape, view in product(shapes, views):
                if isinstance(view, shape.view) and shape.fits(view):
                    return kind, partial(_results, kind, shape, view)
    except InputError:
        # Unreadable: the reader of another format reports the error.
        return None
    return None


def _results(kind: ToolKind, shape: Shape[Any], view: View) -> ToolResults:
    with damaged_refused(kind, view.name):
        return shape.read(view)


@contextmanager
def damaged_refused(kind: ToolKind, name: str) -> Iterator[None]:
    """Refuse a file whose records lack what the tool always writes, with the reason."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        reason = " ".join(f"{type(error).__name__} {error}".split())[:200]
        message = f"This file of {TOOL_NAMES[kind]} is damaged or was changed ({reason})."
        raise InputError(f"{message} Export it again.", (), name) from error
