"""Rubrics and data as people have them in a program: a path, a dict, a list or a DataFrame.

Whatever it is becomes what a file would hold and goes the way of files: the same forms are known,
the same problems are named.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from core.domain.dataset import Dataset, Item
from core.domain.rubric import Rubric
from core.errors import InputError, Problem

if TYPE_CHECKING:
    import pandas as pd

    from core.formats.source.parsed import Parsed

T = TypeVar("T")
#: Which column is what: ``{"submission": "answer"}``, or words as ``--map`` takes them.
Map = Mapping[str, str | Sequence[str]] | Sequence[str]


def load_rubric(source: Any, *, name: str = "") -> Rubric:
    """A rubric from a path (any form that `convert` reads), a dict, a list or a table.

    A list holds criteria: dicts, or texts that each become a yes/no criterion. A DataFrame has the
    columns of a rubric's table (docs/formats.md). ``name`` names the rubric.

    Raises:
        InputError: with every problem found.
    """
    with in_its_words("rubric", source):
        found = source if isinstance(source, Rubric) else _rubric(source)
    return found.model_copy(update={"name": name}) if name else found


def _rubric(source: Any) -> Rubric:
    from core.formats.folder import read_rubric_file
    from core.formats.rubrics.forms import read_rubrics

    source = _listed(source)
    if _is_path(source):
        return _told(read_rubric_file(source), lines=True)
    if _is_frame(source):
        data, name = _csv(source), "rubric.csv"
    elif isinstance(source, Mapping):
        data, name = _json(source), "rubric.json"
    elif _is_list(source):
        data, name = _json({"criteria": [_criterion(one) for one in source]}), "rubric.json"
    else:
        raise _refused(source, "rubric", "Give a path, a dict, a list of criteria or a DataFrame.")
    first, *others = read_rubrics(data, name)
    if others:
        names = ", ".join(repr(one.value.name) for one in (first, *others))
        raise InputError(f"This table holds {1 + len(others)} rubrics: {names}. Give one of them.")
    return _told(first)


def _criterion(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    short = given if len(given) <= 60 else f"{given[:59].rstrip()}…"
    return {"name": short, "requirement": given}


def load_dataset(
    source: Any,
    rubric: Any = None,
    *,
    map: Map = (),
    name: str = "",
) -> Dataset:
    """Data from a path, a list of dicts or texts, a dict (one item, or with ``items``) or a table.

    ``map`` says which column is what, as ``{"submission": "answer"}``; ``rubric`` is what labels
    are checked against.

    Raises:
        InputError: with every problem found, by row.
    """
    against = None if rubric is None else load_rubric(rubric)
    with in_its_words("data", source):
        changes = changes_of(map)
        found = source if isinstance(source, Dataset) else _dataset(source, against, changes)
    return found.model_copy(update={"name": name}) if name else found


def _dataset(source: Any, rubric: Rubric | None, changes: Sequence[str]) -> Dataset:
    from core.formats.datasets.dataset_file import parse_dataset
    from core.formats.folder import read_dataset_file

    source = _listed(source)
    if _is_path(source):
        return _told(read_dataset_file(source, rubric, changes), lines=True)
    if _is_frame(source):
        rows = frame_rows(source)
    elif isinstance(source, Mapping):
        whole = source if "items" in source else {"items": [source]}
        return _told(parse_dataset(_json(whole), "data.json", rubric, changes))
    elif _is_list(source):
        if source and all(isinstance(one, Item) for one in source):
            return Dataset(name="data", items=tuple(source))
        rows = [_row(one) for one in source]
    else:
        raise _refused(source, "dataset", "Give a path, a list of dicts or texts, or a DataFrame.")
    return _told(parse_dataset(_json(rows), "data.json", rubric, changes))


def _listed(source: Any) -> Any:
    """Texts or rows as a list, whatever holds them; a Series keeps its named index."""
    if hasattr(source, "to_frame") and not _is_frame(source):
        return source.to_frame("submission") if source.index.names != [None] else source.tolist()
    if _is_path(source) or _is_list(source) or isinstance(source, Mapping | bytes | Dataset):
        return source
    if hasattr(source, "tolist") and not _is_frame(source):
        return source.tolist()
    return list(source) if isinstance(source, Iterable) and not _is_frame(source) else source


def _row(given: Any) -> Any:
    """A text as an item; a dict without pandas's marks of what is missing."""
    if isinstance(given, str):
        return {"submission": given}
    if not isinstance(given, Mapping):
        return given
    return {key: value for key, value in given.items() if not _is_missing(value)}


def _is_missing(value: Any) -> bool:
    missing = type(value).__name__ in ("NAType", "NaTType")
    return missing or (isinstance(value, float) and isnan(value))


def frame_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A table's rows, each value as it stands there; what is missing is left out."""
    table = _table(frame)
    names = [str(column) for column in table.columns]
    cells, there = table.astype(object).to_numpy(), table.notna().to_numpy()
    return [
        {name: cell for name, cell, has in zip(names, *row, strict=True) if has}
        for row in zip(cells, there, strict=True)
    ]


def _table(frame: pd.DataFrame) -> pd.DataFrame:
    """With the named parts of its index as columns; no two columns may have one name."""
    named = [name for name in frame.index.names if name is not None]
    counted = Counter(str(name) for name in (*named, *frame.columns))
    twice = ", ".join(repr(name) for name, times in counted.items() if times > 1)
    if twice:
        raise InputError(
            f"The table has several columns named {twice}. Rename or drop all but one."
        )
    return frame.reset_index(named) if named else frame


def _csv(frame: pd.DataFrame) -> bytes:
    try:
        return _table(frame).to_csv(index=False).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"A text in the table cannot be kept: {error}.") from None


def on_disk(source: Any, folder: Path, name: str) -> Path:
    """Votes as a file: the path itself, or a table or rows written to ``folder`` for reading."""
    source = _listed(source)
    if _is_path(source):
        return Path(source)
    if _is_frame(source):
        target = folder / f"{name}.csv"
        target.write_bytes(_csv(source))
    elif _is_list(source) or isinstance(source, Mapping):
        target = folder / f"{name}.json"
        target.write_bytes(_json(source))
    else:
        raise _refused(source, "table of votes", "Give a path, a list of dicts or a DataFrame.")
    return target


def changes_of(given: Map | None) -> list[str]:
    """What ``map`` says, as ``--map`` takes it; several columns of a field may be a list."""
    if isinstance(given, Mapping):
        columns = {f: c if isinstance(c, str) else ",".join(c) for f, c in given.items()}
        return [f"{field}={column}" for field, column in columns.items()]
    return [given] if isinstance(given, str) else list(given or ())


def _is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike)


def _is_frame(source: Any) -> bool:
    return hasattr(source, "to_csv") and hasattr(source, "columns")


def _is_list(source: Any) -> bool:
    return isinstance(source, Sequence) and not isinstance(source, str | bytes)


def _json(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError, RecursionError) as error:
        place = "".join(f" ({where})" for where in [", ".join(_place(value))] if where)
        raise InputError(
            f"A value in it{place} is no text, number, list or dict: {error}."
        ) from None


def _plain(value: Any) -> Any:
    """What JSON has no word for: moments, numpy's numbers and lists, sets, exact numbers, ids."""
    for said in ("isoformat", "tolist"):
        if hasattr(value, said):
            return getattr(value, said)()
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, Decimal | UUID | os.PathLike):
        return str(value)
    raise TypeError(f"It is a {type(value).__name__}")


def _place(value: Any) -> Iterator[str]:
    """Which row and which of its values cannot be written."""
    if not (several := _is_list(value)) and not isinstance(value, Mapping):
        return
    for key, inner in enumerate(value, 1) if several else value.items():
        try:
            json.dumps(inner, ensure_ascii=False, allow_nan=False, default=_plain).encode()
        except (TypeError, ValueError, RecursionError) as error:
            yield f"item {key}" if several else repr(key)
            if "ircular" not in str(error):
                yield from _place(inner)
            return


def _told(parsed: Parsed[T], *, lines: bool = False) -> T:
    """What was read; what a person should know of it is a warning, of a file with its ``lines``."""
    for notice in map(_as_argument, parsed.notices):
        warnings.warn(str(notice if lines else _without_lines(notice)), stacklevel=4)
    return parsed.value


@contextmanager
def in_its_words(argument: str, source: Any) -> Iterator[None]:
    """Tell what is wrong in the words of a call: arguments and columns, no lines of our own files.

    Files that the caller named keep their lines.
    """
    try:
        yield
    except InputError as error:
        problems = tuple(map(_as_argument, error.problems))
        where = error.where
        if not _is_path(source):
            problems = tuple(map(_without_lines, problems))
            where = argument if where else ""
        raise InputError(_mapped(error.message), problems, where) from None


def _without_lines(problem: Problem) -> Problem:
    return replace(problem, line=None, message=re.sub(r" of line \d+", "", problem.message))


def _as_argument(problem: Problem) -> Problem:
    return replace(problem, message=_mapped(problem.message), mend=_mapped(problem.mend))


_OPTIONS = re.compile(r"--map (?:'[^']+'|[^\s']+)(?: --map (?:'[^']+'|[^\s'.]+))*")


def _mapped(text: str) -> str:
    """With the command line's ``--map`` as the argument ``map``.

    >>> _mapped("Say --map item=id --map raters=a --map raters=b.")
    'Say map={"item": "id", "raters": ["a", "b"]}.'
    """
    return _OPTIONS.sub(lambda found: _argument(found[0]), text)


def _argument(options: str) -> str:
    columns: dict[str, list[str]] = {}
    ending = "." if options.endswith(".") else ""
    for word in shlex.split(options.removesuffix("."))[1::2]:
        field, _, column = word.partition("=")
        columns.setdefault(field, []).append(column)
    given = {field: of[0] if len(of) == 1 else of for field, of in columns.items()}
    return f"map={json.dumps(given, ensure_ascii=False)}{ending}"


def _refused(source: Any, what: str, mend: str) -> InputError:
    return InputError(f"A {type(source).__name__} is no {what}. {mend}")
