"""Lines below a table: no items, quoted, and a warning where one says that a scale was turned."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.services.imports import import_files
from core.store.store import Store
from tests.formats.office.workbooks import xlsx
from tests.formats.strangers import essay
from tests.services.imports.test_strangers import brought

HEAD = ["Case", "Care", "Depth", "Why"]
SCALE = ["Scale 1-5, 5 = best"]
LATE = "I read the scale too late and used 1 = best, 5 = worst. Lo"


def panel(name: str, below: list[list[str]]) -> list[list[str]]:
    marks = [[f"C{n}", str(1 + n % 5), str(1 + n * n % 5), ""] for n in range(6)]
    return [[f"Panel of {name}"], SCALE, HEAD, *marks, *below]


def test_a_remark_below_one_sheet_of_several_is_quoted_and_warns(
    store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "panel.xlsx"
    mean = ["Mean", "2.67", "2.5", ""]
    sheets = {"Lo": panel("Lo", [[], [LATE]]), "Mi": panel("Mi", [mean]), "Su": panel("Su", [])}
    file.write_bytes(xlsx(sheets))
    changes = ("item=Case", "rater=sheet", "criteria=Care,Depth")
    report = import_files.import_path(store, file, sheet="*", changes=changes)
    # Three people, six cases, two criteria; the mean and the remark are no items.
    assert (report["votes"], report["items"], len(report["raters"])) == (36, 6, 3)
    notices = [notice["message"] for notice in report["notices"]]
    (warning,) = (n for n in notices if n.startswith("A rater's marks may run the other way"))
    assert "'Lo'" in warning
    assert LATE in warning
    # The others' 5 is best: nothing is turned.
    assert not any("lowest number is the best" in n for n in notices)


@pytest.mark.parametrize(
    ("below", "said"),
    [
        (["", "Handed out in week 3"], "Handed out in week 3"),
        (["* Kim was ill"], "* Kim was ill"),
        (["Nota: el segundo corrector falta"], "Nota: el segundo corrector falta"),
        (["Two of these pupils were away for most of the term.", "See the list."], "See the list."),
    ],
)
def test_lone_lines_below_a_table_are_no_items(
    store: Store, tmp_path: Path, below: list[str], said: str
) -> None:
    file = tmp_path / "marks.tsv"
    rows = [f"E{n}\t{essay(n)}\t{n % 4}" for n in range(8)]
    file.write_text(
        "\n".join(["id\tessay\tpoints", *rows, *(f"{b}\t\t" if b else b for b in below)])
    )
    report = brought(store, file, ("submission=essay", "labels=points"))
    assert report["items"] == 8
    assert said in str(report["notices"])


def test_a_last_pupil_without_marks_stays(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "texts.tsv"
    rows = [f"Pupil {n}\t{essay(n)}" for n in range(8)]
    file.write_text("\n".join(["name\tessay", *rows, "Pupil 8\t"]))
    assert brought(store, file)["items"] == 9
