"""A format of files: one entry of a list says how it is recognised, read and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from core.errors import InputError
from core.formats.source.opened import Opened

Noun = Literal["rubric", "items", "votes"]


class Fit(NamedTuple):
    """How surely a file is of a format, and by what it is recognised.

    Scores: 3 by marks that only one format has, 2 by its keys or headings, 1 by a shape that others
    may have, 0 by its name alone.
    """

    score: int
    reason: str


@dataclass(frozen=True)
class Format:
    """A format: what it is called, what it holds, and how it is recognised, read and written.

    ``fits`` must cost little and may raise ``InputError`` where it cannot tell. ``read`` takes the
    opened file. ``write`` takes the noun; without it a format is only read.
    """

    name: str
    title: str
    holds: tuple[Noun, ...]
    fits: Callable[[Opened], Fit | None]
    read: Callable[..., Any]
    write: Callable[..., Any] | None = field(default=None, kw_only=True)


def formats_of(formats: Iterable[Format], opened: Opened) -> Iterator[tuple[Format, Fit]]:
    """Yield the formats that a file may have, in the list's order, which begins with the surest."""
    for format in formats:
        try:
            fit = format.fits(opened)
        except InputError:
            # Unreadable as that: the reader of another format reports the error.
            continue
        if fit is not None:
            yield format, fit


def format_of(formats: Iterable[Format], opened: Opened) -> Format | None:
    """Return the surest format of a file, or ``None``."""
    return next((format for format, _ in formats_of(formats, opened)), None)
