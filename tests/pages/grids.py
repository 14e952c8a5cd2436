"""What a page's grids hold, as it goes to the browser."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from streamlit.testing.v1 import AppTest


class Cell(NamedTuple):
    """A cell as the browser gets it."""

    words: str
    tone: str
    signs: str
    tells: str
    opens: str
    note: str


class Grid(NamedTuple):
    """A grid: its columns, the lines below them, its rows, and what is open."""

    heads: list[dict[str, Any]]
    groups: list[list[Any]]
    lines: list[list[Cell]]
    rows: list[list[Cell]]
    opened: str

    def column(self, words: str) -> list[Cell]:
        """The cells below a head."""
        at = [head["words"] for head in self.heads].index(words)
        return [row[at] for row in self.rows]


def grids(app: AppTest) -> list[Grid]:
    """All grids of a page."""
    protos = [element.proto for element in app.get("bidi_component")]
    data = [json.loads(p.json) for p in protos if p.component_name == "rubric_studio_grid"]
    return [
        Grid(one["heads"], one["groups"], _cells(one["lines"]), _cells(one["rows"]), one["opened"])
        for one in data
    ]


def _cells(rows: list[list[list[str]]]) -> list[list[Cell]]:
    return [[Cell(*cell) for cell in row] for row in rows]
