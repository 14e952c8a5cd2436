"""What the newest run of a rubric says of its criteria, beside them in the editor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.services.diagnostics import diagnosis
from core.services.rubrics import draft_criteria
from core.services.rubrics.library import draft_of
from core.store.store import Store
from tests.new_store import new_store
from tests.services.diagnostics.test_diagnosis import JUDGES, run


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = new_store(tmp_path / "studio.db")
    yield store
    store.close()


def test_a_criterion_on_which_judges_do_not_agree_is_told_of(store: Store) -> None:
    run_id = run(store, first=1.0)  # ann always takes the option she is shown first
    newest = diagnosis.newest_answer(store, store.runs.row(run_id).rubric_id)
    assert newest is not None
    assert (newest.run.id, newest.passed) == (run_id, None)
    about = diagnosis.findings_on_criterion(newest.findings, "cites")
    assert about
    assert about[0].severity == "serious"
    assert "agree" in about[0].sentence


def test_a_healthy_run_and_a_rubric_without_runs_say_nothing(store: Store) -> None:
    healthy = diagnosis.run_findings(store, run(store))
    assert (healthy.findings, healthy.answers) == ((), True)
    assert diagnosis.newest_answer(store, 99) is None


def test_a_run_with_one_judge_does_not_make_a_fault_forgotten(store: Store) -> None:
    before = run(store, first=1.0)
    row = store.runs.row(before)
    alone = run(store, judges=JUDGES[1:], rubric_version=row.rubric_version_id, labelled=False)
    said = diagnosis.newest_answer(store, row.rubric_id)
    assert said is not None
    assert said.passed is not None
    assert (said.run.id, said.passed.id, said.why) == (before, alone, "one judge")
    assert [
        one.severity == "serious" for one in diagnosis.findings_on_criterion(said.findings, "cites")
    ] == [True]


def test_where_no_run_can_tell_agreement_is_unknown_and_not_healthy(store: Store) -> None:
    alone = run(store, judges=JUDGES[1:], labelled=False)
    said = diagnosis.newest_answer(store, store.runs.row(alone).rubric_id)
    assert said is not None
    assert not said.answers
    assert said.unknown["cites"] == "one judge"


def test_one_judge_beside_labels_can_tell(store: Store) -> None:
    assert diagnosis.run_findings(store, run(store, judges=JUDGES[1:])).answers


def test_only_what_judges_are_shown_makes_a_criterion_another_question(store: Store) -> None:
    row = store.runs.row(run(store))
    draft = draft_of(store, row.rubric_id)
    uid = draft["criteria"][0]["uid"]
    heavier = draft_criteria.set_criterion(draft, uid, "weight", 3.0)
    assert not diagnosis.has_changed_question(store, row, heavier, uid)
    for changed in (
        draft_criteria.set_criterion(draft, uid, "requirement", "Cites the newest policy."),
        draft_criteria.set_criterion(draft, uid, "requirement", ""),  # not even a criterion
        draft_criteria.add_option(draft, uid, na=True),
    ):
        assert diagnosis.has_changed_question(store, row, changed, uid)
