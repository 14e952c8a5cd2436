"""A row for each error that a rater marked in a text, as MQM campaigns write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.formats.tables.table import read_table
from core.formats.votes.nested.marked_errors import errors_of_raters
from core.services.imports import import_files
from core.store.store import Store
from tests.formats.strangers import Rows, source, table

SEVERITIES = ("Neutral", "Minor", "Major")
KINDS = ("No error", "Grammar", "Omission")


def wording(n: int, system: str) -> list[str]:
    return ["Rat", "von", f"Stadt{n}", "spricht", f"heute{system}", "lange"]


def marked(n: int, system: str, at: int | None, mark: str = "<v>{}</v>") -> str:
    words = wording(n, system)
    shown = [mark.format(word) if k == at else word for k, word in enumerate(words)]
    return f"Der {' '.join(shown)} von der Brücke."


def found(mark: str = "<v>{}</v>", **more: str) -> Rows:
    """Eight segments of two systems by two raters; the first finds two errors in each third."""
    rows: Rows = []
    for n in range(8):
        for system in "AB":
            for who in range(2):
                worst = (n + who + ord(system)) % 3
                errors = [worst, *([2] if n % 3 == 0 and who == 0 else [])]
                for k, error in enumerate(errors):
                    at = None if error == 0 else 2 * k + who
                    about = {"system": f"sys{system}", "seg_id": str(n), "rater": f"r{who}"}
                    texts = {"source": source(n), "target": marked(n, system, at, mark)}
                    given = {"category": KINDS[error], "severity": SEVERITIES[error]}
                    rows.append(about | texts | given | more)
    return rows


def brought(store: Store, tmp_path: Path, rows: Rows) -> dict[str, Any]:
    path = tmp_path / "mqm.csv"
    path.write_text(table(rows))
    return import_files.import_path(store, path)


@pytest.mark.parametrize("mark", ["<v>{}</v>", '<mark class="x">{}</mark>', "**{}**"])
def test_marked_texts_are_one_text_and_a_raters_errors_one_answer(
    store: Store, tmp_path: Path, mark: str
) -> None:
    report = brought(store, tmp_path, found(mark))
    # Eight segments, two systems, two raters; the category and the severity.
    assert (report["items"], len(report["raters"]), report["votes"]) == (16, 2, 64)
    items = store.datasets.load(report["dataset_version"]).items
    texts = {item.text for item in items}
    assert texts == {marked(n, system, None) for n in range(8) for system in "AB"}
    notices = " ".join(notice["message"] for notice in report["notices"])
    # In three segments of both systems the first rater has two rows.
    assert "12 rows are several errors of one rater in one text, 6 times" in notices
    assert "differ in marks are one text" in notices
    reason = next(role["column"] for role in report["roles"] if role["role"] == "reason")
    assert reason == "remark: errors"


def test_the_worst_error_counts_and_all_are_in_the_remark() -> None:
    rows = found(comment="see above")
    read = errors_of_raters(read_table(table(rows), "mqm.csv"))
    by_rater = [row for row in read.rows if (row["seg_id"], row["rater"]) == ("3", "r0")]
    # sysA: (3 + 65) % 3 = 2, sysB: (3 + 66) % 3 = 0, each with a second error of 2 (Major).
    assert [row["severity"] for row in by_rater] == ["Major", "Major"]
    first, second = (row["remark: errors"] for row in by_rater)
    assert first == "Omission, Major: Rat: see above; Omission, Major: Stadt3: see above"
    assert second == "No error, Neutral: see above; Omission, Major: Stadt3: see above"
    assert "comment" not in read.columns


def test_places_of_errors_are_no_items_and_stand_in_the_remark() -> None:
    rows = [row | {"start": str(n), "end": str(n + 2)} for n, row in enumerate(found())]
    read = errors_of_raters(read_table(table(rows), "mqm.csv"))
    assert {"start", "end"}.isdisjoint(read.columns)
    assert len(read.rows) == 32
    # The first error of the first rater in the third segment of B: a row without a mark.
    assert "No error, Neutral: " in " ".join(row["remark: errors"] for row in read.rows)


def test_severities_without_a_known_order_and_other_rows_are_left_alone() -> None:
    rows = found()
    for row in rows:
        row["severity"] = {"Neutral": "red", "Minor": "blue", "Major": "tall"}[row["severity"]]
    assert len(errors_of_raters(read_table(table(rows), "mqm.csv")).rows) == len(rows)
    apart = [row | {"asked": str(n)} for n, row in enumerate(found())]
    assert len(errors_of_raters(read_table(table(apart), "mqm.csv")).rows) == len(apart)


def test_texts_with_marks_of_their_own_keep_them(store: Store, tmp_path: Path) -> None:
    rows = [
        {"id": n, "response": f"The **city {n}** spoke about its bridge.", "rater": f"r{who}"}
        | {"tone": 1 + (n + who) % 4, "depth": 1 + n % 3}
        for n in range(6)
        for who in range(2)
    ]
    report = brought(store, tmp_path, rows)
    items = store.datasets.load(report["dataset_version"]).items
    assert items[0].text == "The **city 0** spoke about its bridge."
