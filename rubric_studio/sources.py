"""Rubrics and data as people have them in a program: a path, a dict, a list or a DataFrame.

Whatever it is becomes what a file would hold and goes the way of files: the same forms are known,
the same problems are named.
"""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
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


def load_rubric(source: Any, *, name: str = "") -> Rubric:
    """A rubric from a path (any form that `convert` reads), a dict, a list or a table.

    A list holds criteria: dicts, or texts that each become a yes/no criterion. A DataFrame has the
    columns of a rubric's table (docs/formats.md). ``name`` names the rubric.

    Raises:
        InputError: with every problem found.
    """
    found = source if isinstance(source, Rubric) else _rubric(source)
    return found.model_copy(update={"name": name}) if name else found


def _rubric(source: Any) -> Rubric:
    from core.formats.folder import read_rubric_file
    from core.formats.rubrics.forms import read_rubrics

    if _is_path(source):
        return _told(read_rubric_file(source))
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
    map: Mapping[str, str] | Sequence[str] = (),
    name: str = "",
) -> Dataset:
    """Data from a path, a list of dicts or texts, a dict (one item, or with ``items``) or a table.

    ``map`` says which column is what, as ``{"submission": "answer"}``; ``rubric`` is what labels
    are checked against.

    Raises:
        InputError: with every problem found, by row.
    """
    against = None if rubric is None else load_rubric(rubric)
    found = source if isinstance(source, Dataset) else _dataset(source, against, changes_of(map))
    return found.model_copy(update={"name": name}) if name else found


def _dataset(source: Any, rubric: Rubric | None, changes: Sequence[str]) -> Dataset:
    from core.formats.datasets.dataset_file import parse_dataset
    from core.formats.folder import read_dataset_file

    if _is_path(source):
        return _told(read_dataset_file(source, rubric, changes))
    if _is_frame(source):
        rows = frame_rows(source)
    elif isinstance(source, Mapping):
        whole = source if "items" in source else {"items": [source]}
        return _told(parse_dataset(_json(whole), "data.json", rubric, changes))
    elif _is_list(source):
        if source and all(isinstance(one, Item) for one in source):
            return Dataset(name="data", items=tuple(source))
        rows = [{"submission": one} if isinstance(one, str) else one for one in source]
    else:
        raise _refused(source, "dataset", "Give a path, a list of dicts or texts, or a DataFrame.")
    return _told(parse_dataset(_json(rows), "data.json", rubric, changes))


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


def changes_of(given: Mapping[str, str] | Sequence[str] | None) -> list[str]:
    """What ``map`` says, as ``--map`` takes it."""
    if isinstance(given, Mapping):
        return [f"{field}={column}" for field, column in given.items()]
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


def _told(parsed: Parsed[T]) -> T:
    """What was read; what a person should know of it is a warning."""
    for notice in parsed.notices:
        warnings.warn(_words(notice), stacklevel=4)
    return parsed.value


def _words(notice: Problem) -> str:
    place = f"{notice.place}: " if notice.place else ""
    return f"{place}{notice.message} {notice.mend}".strip()


def _refused(source: Any, what: str, mend: str) -> InputError:
    return InputError(f"A {type(source).__name__} is no {what}. {mend}")
