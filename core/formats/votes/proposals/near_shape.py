"""A layout that a table nearly has."""

from __future__ import annotations

import shlex
from typing import Literal, NamedTuple

from core.formats.datasets.labels import WORD, is_word_change

Kind = Literal["long", "wide", "criteria", "pairs", "dataset"]


class NearShape(NamedTuple):
    """A layout that a table nearly has, with what is missing and the options that supply it.

    A ``sure`` layout is read without asking if it is the only one.
    """

    kind: Kind
    lacks: str
    changes: tuple[str, ...]
    sure: bool = False

    @property
    def options(self) -> str:
        """Return the changes as options of the command line."""
        return " ".join(
            f"--map-label {shlex.quote(change.removeprefix(WORD))}"
            if is_word_change(change)
            else f"--map {shlex.quote(change)}"
            for change in self.changes
        )
