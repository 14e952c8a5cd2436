"""A run is an immutable plan: what is edited afterwards never changes or reuses it silently."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from core import clock
from core.domain.panel import Judge, Panel
from core.formats.folder import read_dataset_file, read_rubric_file
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from tests.new_store import new_store
from tests.provider import Provider
from tests.services.runs.world import votes_of, write_files


class Desk:
    """A store with a rubric, a dataset and a judge, to make runs of."""

    def __init__(self, folder: Path, provider: Provider) -> None:
        rubric, dataset = write_files(folder, items=5)
        self.store = new_store(folder / "studio.db")
        self.rubric = self.store.rubrics.create(read_rubric_file(rubric).value, now=clock.now())
        self.dataset = self.store.datasets.create(read_dataset_file(dataset).value, now=clock.now())
        judge = Judge(name="ada", model="ada", api_base=provider.url)
        self.panel = Panel(judges=(judge,))

    def run(self, rubric: int | None = None, dataset: int | None = None) -> int:
        request = RunRequest(
            rubric or self.rubric.id, dataset or self.dataset.id, self.panel, seed=1
        )
        run_id = lifecycle.start(self.store, request)
        assert work_here(self.store, run_id) == "done"
        return run_id


@pytest.fixture
def desk(tmp_path: Path, provider: Provider) -> Desk:
    return Desk(tmp_path, provider)


def test_editing_the_rubric_leaves_the_run_and_asks_anew(desk: Desk, provider: Provider) -> None:
    first = desk.run()
    before, scores = votes_of(desk.store, first), desk.store.results.items(first)
    edited = desk.rubric.rubric.model_copy(
        update={"criteria": desk.rubric.rubric.criteria[:1], "guidelines": "Be strict."}
    )
    version = desk.store.rubrics.add_version(
        desk.rubric.rubric_id, edited, parent=1, now=clock.now()
    )
    asked = provider.count
    second = desk.run(rubric=version.id)
    assert provider.count - asked == 5  # one criterion, five items: nothing was reused
    assert votes_of(desk.store, first) == before
    assert desk.store.results.items(first) == scores
    assert desk.store.runs.get(first).rubric_number == 1
    assert desk.store.runs.get(second).rubric_number == 2


def test_editing_the_data_leaves_the_run_and_asks_what_changed_anew(
    desk: Desk, provider: Provider
) -> None:
    first = desk.run()
    before = votes_of(desk.store, first)
    data = desk.store.datasets.load(desk.dataset.id)
    changed = data.items[0].model_copy(update={"submission": "Something else."})
    version = desk.store.datasets.add_version(
        desk.dataset.dataset_id,
        data.model_copy(update={"items": (changed, *data.items[1:])}),
        parent=1,
        now=clock.now(),
    )
    asked = provider.count
    second = desk.run(dataset=version.id)
    # 3 criteria of the changed item; the 12 other requests are the same as before, and known
    assert provider.count - asked == 3
    row = desk.store.runs.row(second)
    assert (row.votes, row.calls, row.cached) == (15, 3, 12)
    assert votes_of(desk.store, first) == before
    plans = {desk.store.runs.get(run).plan_hash for run in (first, second)}
    assert len(plans) == 2
    assert desk.store.datasets.item(desk.dataset.id, "i000").output.startswith("Reply number 0")


def test_changing_a_judge_of_the_registry_leaves_the_runs_panel(desk: Desk) -> None:
    run = desk.run()
    desk.store.judges.save(desk.panel.judges[0].model_copy(update={"weight": 9}), now=clock.now())
    assert desk.store.runs.get(run).panel == desk.panel


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE vote SET option = 0",
        "DELETE FROM vote",
        "UPDATE rubric_version SET content = '{}'",
        "UPDATE item SET content = '{}'",
        "UPDATE call SET reply = ''",
        "UPDATE run SET panel = '{}'",
    ],
)
def test_the_data_file_itself_refuses_to_rewrite_facts(desk: Desk, statement: str) -> None:
    desk.run()
    with pytest.raises(sqlite3.IntegrityError), desk.store.write() as db:
        db.execute(statement)
    assert desk.store.verify() == []
