"""Imported votes are runs, so they are compared like any others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.services.comparison.costs import cost_points
from core.services.comparison.run_comparison import compare_runs
from core.services.imports.import_files import import_path
from core.store.store import Store
from tests.services.runs.world import RUBRIC

LABELS = ["MET", "MET", "UNMET", "UNMET"]


def folder(root: Path, name: str, given: dict[str, str], kind: str = "llm") -> Path:
    """A folder in the common layout: one letter a vote, M or U, per rater."""
    made = root / name
    made.mkdir()
    (made / "rubric.yaml").write_text(RUBRIC)
    lines = [
        json.dumps({"id": f"i{at}", "submission": f"Text {at}", "labels": {"cites": label}})
        for at, label in enumerate(LABELS)
    ]
    (made / "items.jsonl").write_text("\n".join(lines))
    words = {"M": "MET", "U": "UNMET"}
    rows = [
        f"i{at},cites,{rater},{kind},{words[one]}"
        for rater, votes in given.items()
        for at, one in enumerate(votes)
    ]
    head = "item_id,criterion,rater_id,rater_kind,label"
    (made / "votes.csv").write_text("\n".join([head, *rows]) + "\n")
    return made


def test_two_imports_are_compared_and_their_cost_is_unknown(tmp_path: Path, store: Store) -> None:
    first = import_path(store, folder(tmp_path, "first", {"old": "MUMU"}))["run"]
    second = import_path(store, folder(tmp_path, "second", {"new": "MMUU"}))["run"]

    found = compare_runs(store, first, second)
    cites = next(one for one in found.deltas.criteria if one.name == "cites")

    # Right on items 0 and 3, then on all four.
    assert (cites.accuracy.first.value, cites.accuracy.second.value) == (0.5, 1.0)
    assert (cites.only_first, cites.only_second) == (0, 2)
    assert found.spent[0].now is None
    assert {one.efficient for one in cost_points(store, [first, second])} == {None}
    assert "imported" in found.spent[0].reason


def test_people_alone_are_the_judges_of_an_import(tmp_path: Path, store: Store) -> None:
    pairs = {"ann": "MMUU", "bob": "MMUU"}, {"ann": "MMUU", "bob": "MMMU"}
    runs = [
        import_path(store, folder(tmp_path, f"f{at}", votes, "human"))["run"]
        for at, votes in enumerate(pairs)
    ]

    compared = compare_runs(store, runs[0], runs[1])
    found = compared.deltas.criteria[0]

    # On item 2 the second two are one against one, which is UNMET, the worst, as before.
    assert compared.flips == ()
    assert (found.accuracy.first.value, found.accuracy.second.value) == (1.0, 1.0)
    assert found.agreement.first.value == 1.0
    # 8 values, 5 MET and 3 UNMET, 1 pair of 4 differs: 1 - (2 / 8) / (2 * 5 * 3 / (8 * 7)).
    assert found.agreement.second.value == pytest.approx(1 - 0.25 / (30 / 56))
