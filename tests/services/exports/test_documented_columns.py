"""`docs/exports.md` lists every column of every table that leaves, in its order."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from core.services.exports.run_export import Format, export
from core.store.store import Store
from tests.services import reviewed
from tests.services.reviewed import MET, sit

DOCS = Path(__file__).parents[3] / "docs" / "exports.md"


def documented() -> dict[str, list[str]]:
    """The columns by file: a heading names files, and a table below it their columns."""
    found = dict[str, list[str]]()
    for section in re.split(r"^### ", DOCS.read_text(encoding="utf-8"), flags=re.M)[1:]:
        head, _, body = section.partition("\n")
        columns = re.findall(r"^\| `([^`]+)` \| .+ \|$", body, flags=re.M)
        found |= dict.fromkeys(re.findall(r"`([^`]+)`", head), columns)
    return found


def written(name: str, text: str) -> list[str]:
    """The columns of a file; of one per criterion those of the first stand for all."""
    if name.endswith(".csv"):
        heads = next(csv.reader(io.StringIO(text, newline="")))
    else:
        heads = list(json.loads(text.splitlines()[0]))
    named = [re.sub(r"^verdict: .*", "verdict: NAME", head) for head in heads]
    return list(dict.fromkeys(named))


@pytest.mark.parametrize("form", ["csv", "jsonl", "reviews", "events", "fair", "everything"])
def test_every_column_is_written_down_and_every_one_written_down_is_there(
    store: Store, form: Format
) -> None:
    run = reviewed.graded(store, 4)
    reviewed.settle(store, sit(store, "Ada"), reviewed.make_queue(store, run), "i1", MET)
    files = export(store, run.id, form).files
    known = documented()
    assert {name: written(name, files[name]) for name in files if name != "report.json"} == {
        name: known[name] for name in files if name != "report.json"
    }


def test_of_votes_and_failures_csv_and_reviews_have_the_same_rows(store: Store) -> None:
    run = reviewed.graded(store, 4)
    reviewed.settle(store, sit(store, "Ada"), reviewed.make_queue(store, run), "i1", MET)
    rows = {
        form: [
            row
            for row in csv.DictReader(io.StringIO(export(store, run.id, form).text, newline=""))
            if row["rater_type"] == "judge"
        ]
        for form in ("csv", "reviews")
    }
    assert rows["csv"] == rows["reviews"]
    # Four items, two criteria, three judges.
    assert len(rows["csv"]) == 4 * 6
