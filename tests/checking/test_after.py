"""What the newest run of a rubric says of its criteria, beside them in the editor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.services import draft_edits as edits
from core.services import draft_options as options
from core.services.authoring import opened
from core.services.checking import after
from core.store import Store
from tests.ailments.test_diagnosing import run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "studio.db")
    yield store
    store.close()


def test_a_criterion_on_which_judges_do_not_agree_is_told_of(store: Store) -> None:
    run_id = run(store, first=1.0)  # ann always takes the option she is shown first
    newest = after.newest_run(store, store.runs.row(run_id).rubric_id)
    assert newest is not None
    assert newest.id == run_id
    told = after.told(store, run_id)
    about = after.of_criterion(told, "cites")
    assert about
    assert about[0].serious
    assert "agree" in about[0].sentence


def test_a_healthy_run_and_a_rubric_without_runs_say_nothing(store: Store) -> None:
    assert after.told(store, run(store)) == ()
    assert after.newest_run(store, 99) is None


def test_only_what_judges_are_shown_makes_a_criterion_another_question(store: Store) -> None:
    row = store.runs.row(run(store))
    draft = opened(store, row.rubric_id)
    uid = draft["criteria"][0]["uid"]
    heavier = edits.set_criterion(draft, uid, "weight", 3.0)
    assert not after.asked_otherwise(store, row, heavier, uid)
    for changed in (
        edits.set_criterion(draft, uid, "requirement", "Cites the newest policy."),
        edits.set_criterion(draft, uid, "requirement", ""),  # not even a criterion
        options.add_option(draft, uid, na=True),
    ):
        assert after.asked_otherwise(store, row, changed, uid)
