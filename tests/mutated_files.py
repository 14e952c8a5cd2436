"""Good files of every form that strangers send, small, to be changed at random."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from core.formats.datasets.dataset_file import parse_dataset
from core.formats.rubrics.forms import read_rubrics
from core.formats.tables.table import read_table
from core.formats.votes.vote_layouts import kind_of_table
from tests.formats.office.documents import docx, grid
from tests.formats.office.workbooks import VOTES, ods, ods_row, xlsx, zipped
from tests.places import ROOT

ANSWERS = [
    ["id", "submission", "prompt"],
    *([f"i{n}", f"Answer {n}; “so”.", "Why?"] for n in range(5)),
]
LEVELS = [
    ["Criterion", "Excellent", "Fair"],
    ["Sources", "three (4 points)", "one (2 points)"],
    ["Style", "no slips (8-10 points)", "some (4-7 points)"],
]


def _csv(rows: list[list[str]], delimiter: str = ",") -> bytes:
    return "".join(delimiter.join(f'"{one}"' for one in row) + "\r\n" for row in rows).encode()


class Form(NamedTuple):
    """A file and what reads it."""

    name: str
    data: bytes
    read: Callable[[bytes, str], Any]


def _votes(data: bytes, name: str) -> object:
    return kind_of_table(read_table(data, name))


@cache
def forms() -> tuple[Form, ...]:
    """One file of each form."""
    rubric = (ROOT / "sample_rubrics").glob("*.yaml")
    yaml = min((path.read_bytes() for path in rubric), key=len)
    essay = docx("Essay", "It holds.", grid(LEVELS))
    rubrics = {
        "r.yaml": yaml,
        "r.json": b'{"name": "R", "criteria": [{"requirement": "a", "weight": 2}]}',
        "r.csv": _csv(LEVELS),
        "r.xlsx": xlsx({"Rubric": LEVELS}),
        "r.ods": ods({"Rubric": "".join(ods_row(*row) for row in LEVELS)}),
        "r.docx": essay,
    }
    datasets = {
        "d.csv": _csv(ANSWERS),
        "d.tsv": _csv(ANSWERS, "\t"),
        "d.jsonl": b'{"id": "a", "submission": "x"}\n{"id": "b", "submission": "y"}\n',
        "d.json": b'[{"id": "a", "submission": [{"role": "user", "content": "x"}]}]',
        "d.yaml": b"prompt: Why?\nitems:\n- id: a\n  submission: |\n    Because.\n",
        "d.xlsx": xlsx({"Answers": ANSWERS}),
        "d.zip": zipped({"a.txt": "one", "b.docx": essay, "c.html": "<p>x</p>"}),
    }
    votes = {"v.csv": _csv(VOTES), "v.xlsx": xlsx({"Votes": VOTES})}
    each = ((rubrics, read_rubrics), (datasets, parse_dataset), (votes, _votes))
    return tuple(Form(name, data, read) for files, read in each for name, data in files.items())
