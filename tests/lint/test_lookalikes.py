"""Names that look the same: refused where nothing seen differs, remarked where letters do."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from pydantic import ValidationError

from core.domain.rubric import Criterion, Option, Rubric
from core.lint.check import check
from core.services.pairwise.system_answers import _similar_name_notes
from core.store.store import Store

CYRILLIC = "\u0421larity"  # with the Cyrillic letter Es
GREEK = "Cl\u03b1rity"


def rubric(*names: str) -> Rubric:
    texts = ("Says why.", "Cites a source.", "Has a title.")
    pairs = zip(names, texts, strict=False)
    return Rubric(name="r", criteria=tuple(Criterion(name=n, requirement=t) for n, t in pairs))


def remarked(made: Rubric) -> list[tuple[str | int, ...]]:
    return [found.path for found in check(made) if found.rule == "lookalike-names"]


@pytest.mark.parametrize(
    "other",
    [
        "Clar\u200bity",  # zero width space
        "Clar\u2060ity",  # word joiner
        "\ufeffClarity",
        "Cla\u00adrity",  # soft hyphen
        "Clarity\ufe0f",  # variation selector
        "\u202eClarity",  # direction
        "\uff23\uff4c\uff41\uff52\uff49\uff54\uff59",  # full width
        "CLARITY",
    ],
)
def test_names_that_differ_in_nothing_one_sees_are_refused(other: str) -> None:
    with pytest.raises(ValidationError, match="repeats the name"):
        rubric("Clarity", other)
    with pytest.raises(ValidationError, match="repeats the label"):
        labelled("Clarity", other)


def labelled(*labels: str) -> Criterion:
    steps = range(len(labels))
    options = tuple(Option(label=x, value=n / 9) for n, x in zip(steps, labels, strict=True))
    return Criterion(name="c", requirement="Says why.", scale="nominal", options=options)


def test_a_name_of_nothing_one_sees_is_empty() -> None:
    with pytest.raises(ValidationError, match="empty"):
        rubric("\u200b\u2060")


@pytest.mark.parametrize("other", [CYRILLIC, GREEK, "C1arity", "CIarity", CYRILLIC.upper()])
def test_names_that_look_alike_are_remarked(other: str) -> None:
    assert remarked(rubric("Clarity", "Depth", other)) == [("criteria", 2, "name")]


def test_labels_that_look_alike_are_remarked() -> None:
    made = Rubric(name="r", criteria=(labelled("Clarity", CYRILLIC),))
    assert remarked(made) == [("criteria", 0, "options", 1, "label")]


@pytest.mark.parametrize(
    "names",
    [
        ("Mail", "Mall"),
        ("Modern", "Modem"),  # pairs of letters are not covered, and these are words
        ("Ясность", "Точность"),
        ("Σαφήνεια", "Ακρίβεια"),
        ("Clarity", "Charity"),
        ("Step 1", "Step 2"),
    ],
)
def test_names_that_can_be_told_apart_are_not(names: tuple[str, str]) -> None:
    assert remarked(rubric(*names)) == []


def test_systems_that_look_alike_are_said() -> None:
    (said,) = _similar_name_notes(["gpt-4", "gрt-4"])
    assert "look the same" in said
    assert "\\u0440" in said


def test_a_rubric_that_was_stored_with_such_names_stays_readable(tmp_path: Path) -> None:
    path = tmp_path / "studio.db"
    store = Store(path)
    row = store.rubrics.create(rubric("Clarity", "Depth"), now="2026-01-01T00:00:00+00:00")
    store.close()
    db = sqlite3.connect(path)
    for (name,) in db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'rubric_version'"
    ).fetchall():
        db.execute(f"DROP TRIGGER {name}")
    db.execute("UPDATE rubric_version SET content = replace(content, 'Depth', 'Clar\u200bity')")
    db.commit()
    db.close()
    kept = Store(path).rubrics.version(row.id).rubric
    assert [c.name for c in kept.criteria] == ["Clarity", "Clar\u200bity"]
