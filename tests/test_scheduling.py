"""Workers share the tests so that none waits for browsers alone."""

from __future__ import annotations

from pathlib import Path

from tests.places import ROOT
from tests.scheduling import BROWSER, LITELLM, LONG, MEASURED, FileScheduling, next_file

FILES = ["tests/browser/test_a.py", "tests/cli/test_b.py", "tests/browser/test_c.py"]


def test_a_worker_takes_files_of_its_kind_in_order_and_then_what_is_left() -> None:
    assert next_file(FILES, browser=True) == "tests/browser/test_a.py"
    assert next_file(FILES, browser=False) == "tests/cli/test_b.py"
    assert next_file(FILES[::2], browser=False) == "tests/browser/test_a.py"
    assert next_file(FILES[1:2], browser=True) == "tests/cli/test_b.py"


def test_files_that_take_long_are_begun_before_others_of_their_kind() -> None:
    long = "tests/services/runs/test_signals.py"
    assert next_file([*FILES, long], browser=False) == long
    assert next_file([*FILES, long], browser=True) == "tests/browser/test_a.py"
    assert [file for file in LONG if not Path(ROOT, file).is_file()] == []


def test_the_browser_tests_are_where_the_workers_look_for_them() -> None:
    assert list(Path(ROOT, BROWSER).glob("test_*.py"))


def test_a_file_is_one_piece_of_work_and_so_are_those_that_share_what_takes_long() -> None:
    pieces = FileScheduling.__new__(FileScheduling)
    assert pieces._split_scope("tests/cli/test_b.py::test_one[a::b]") == "tests/cli/test_b.py"
    for group in (LITELLM, MEASURED):
        assert {pieces._split_scope(f"{file}::test_one") for file in group} == {group[0]}
        assert group[0] in LONG
        assert [file for file in group if not Path(ROOT, file).is_file()] == []
