"""Python's own parser, where several threads use it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

Parsed = TypeVar("Parsed")
_TRIES = 20


def parsed(parse: Callable[[str], Parsed], text: str) -> Parsed:
    """Return what ``ast.parse`` or ``ast.literal_eval`` makes of a text.

    CPython 3.11 keeps one depth of recursion for all threads (gh-106905): where another thread
    parses at the same moment, as Streamlit's and a cluster's do, both end with a SystemError.

    >>> import ast
    >>> parsed(ast.literal_eval, "['a', 'b']")
    ['a', 'b']
    """
    for _ in range(_TRIES):
        with suppress(SystemError):
            return parse(text)
    return parse(text)
