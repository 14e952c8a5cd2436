"""Python's own parser for tests that read the source."""

from __future__ import annotations

import ast
from contextlib import suppress

TRIES = 20


def parsed(text: str) -> ast.Module:
    """Return the tree of a source text.

    CPython 3.11 keeps one depth of recursion for all threads (gh-106905): where another thread
    parses at the same moment, as Streamlit's and a cluster's do, both end with a SystemError.
    """
    for _ in range(TRIES):
        with suppress(SystemError):
            return ast.parse(text)
    return ast.parse(text)
