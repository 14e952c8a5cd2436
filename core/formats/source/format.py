"""A file format: one entry of a list says how it is recognised, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from core.errors import InputError
from core.formats.source.opened import Opened

Noun = Literal["rubric", "items", "votes"]


class Fit(NamedTuple):
    """How certainly a file has a format, and by which marks.

    Scores: 3 by marks that only one format has, 2 by its keys or headings, 1 by a layout that
    others may share, 0 by the file's name alone.
    """

    score: int
    reason: str


@dataclass(frozen=True)
class Format:
    """A format: its name, its content, and how it is recognised, read and written.

    ``fits`` must be cheap and may raise ``InputError`` if it cannot decide. ``read`` takes the
    opened file. ``write`` takes the noun; without it a format is only read.
    """

    name: str
    title: str
    holds: tuple[Noun, ...]
    fits: Callable[[Opened], Fit | None]
    read: Callable[..., Any]
    write: Callable[..., Any] | None = field(default=None, kw_only=True)


def formats_of(formats: Iterable[Format], opened: Opened) -> Iterator[tuple[Format, Fit]]:
    """Yield the formats that a file may have, in the list's order, most certain first."""
    for format in formats:
        try:
            fit = format.fits(opened)
        except InputError:
            # The file is unreadable in this format; the reader of another one reports the error.
            continue
        if fit is not None:
            yield format, fit


def format_of(formats: Iterable[Format], opened: Opened) -> Format | None:
    """Return the most certain format of a file, or ``None``."""
    return next((format for format, _ in formats_of(formats, opened)), None)
