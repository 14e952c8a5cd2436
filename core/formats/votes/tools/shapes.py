"""The layouts of tools' files: how each is recognised and read, and a tool's entry in the list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from core.errors import InputError
from core.formats.datasets.table import read_table
from core.formats.source.format import Fit, Format
from core.formats.source.opened import Opened, Shape
from core.formats.votes.tools.messages import mapping_in, objects_in
from core.formats.votes.tools.tool_results import ToolResults


class ToolShape(NamedTuple):
    """A layout of a tool's files: how it begins, how it is recognised and read."""

    shape: Shape
    fits: Callable[[Opened], bool]
    read: Callable[[Opened], ToolResults]


Rows = Sequence[Mapping[str, Any]]


def of_rows(
    fits: Callable[[Mapping[str, Any]], bool],
    read: Callable[[Rows, str], ToolResults],
    within: str = "",
    *,
    table: bool = False,
) -> tuple[ToolShape, ...]:
    """Return the layouts of rows, recognised by the first row: JSON lines, or a JSON list.

    ``within``: also a list under that key of an object. ``table``: also CSV with these headings.
    """

    def inside(opened: Opened) -> list[dict[str, Any]]:
        has_key = opened.has_words(f'"{within}"')
        return objects_in(mapping_in(opened.value).get(within)) if has_key else []

    shapes = [ToolShape("rows", lambda f: fits(f.first), lambda f: read(f.rows, f.title))]
    if within:
        shapes.append(ToolShape("object", lambda f: any(map(fits, inside(f)[:1])),
                                lambda f: read(inside(f), f.title)))  # fmt: skip
    if table:
        shapes.append(ToolShape("table", lambda f: fits(dict.fromkeys(f.columns)),
                                lambda f: read(read_table(f, f.name).rows, f.title)))  # fmt: skip
    return tuple(shapes)


def tool_format(name: str, title: str, shapes: Iterable[ToolShape]) -> Format:
    """Return a tool's entry for the list of formats; its files are read as votes or as items."""

    def shape_of(opened: Opened) -> ToolShape | None:
        of_shape = (form for form in shapes if form.shape in opened.shapes)
        return next((form for form in of_shape if form.fits(opened)), None)

    def fits(opened: Opened) -> Fit | None:
        shape = opened.once(shape_of)
        return None if shape is None else Fit(3, f"what {title} writes")

    def read(opened: Opened) -> ToolResults:
        shape = opened.once(shape_of)
        assert shape is not None
        with damaged_refused(title, opened.name):
            results = shape.read(opened)
        results.of = title
        return results

    return Format(name, title, ("votes", "items"), fits, read)


@contextmanager
def damaged_refused(title: str, name: str) -> Iterator[None]:
    """Refuse a file whose records lack what the tool always writes, with the reason."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        reason = " ".join(f"{type(error).__name__} {error}".split())[:200]
        message = f"This file of {title} is damaged or was changed ({reason})."
        raise InputError(f"{message} Export it again.", (), name) from error
