"""Cascades and early stops, over real HTTP: who is asked, who is spared, and what decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core import clock
from core.domain.panel import Asking, Cascade, Judge, Panel, Rules
from core.formats.folder import read_dataset_file, read_rubric_file
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.new_store import new_store
from tests.provider import Provider, ok, sure
from tests.services.runs.world import write_files


def run_of(folder: Path, panel: Panel, **options: Any) -> tuple[Store, int]:
    rubric, dataset = write_files(folder, items=4)
    store = new_store(folder / "studio.db")
    request = RunRequest(
        store.rubrics.create(read_rubric_file(rubric).value, now=clock.now()).id,
        store.datasets.create(read_dataset_file(dataset).value, now=clock.now()).id,
        panel,
        seed=5,
        **options,
    )
    return store, lifecycle.start(store, request)


def agreeing(provider: Provider, abstains: tuple[str, ...] = ()) -> None:
    """Every model takes MET, Cold and Refund, wherever they are shown; some abstain always."""

    def rule(body: dict[str, Any]) -> Any:
        text = body["messages"][-1]["content"]
        lines = [line for line in text.splitlines() if line[:1].isdigit() and ". " in line]
        wanted = ("(abstention)",) if body["model"] in abstains else (". MET", ". Cold", ". Refund")
        return ok(next(int(line[0]) for line in lines if any(w in line for w in wanted)))

    provider.rule = rule


def model(name: str, provider: Provider, **settings: Any) -> Judge:
    return Judge(name=name, model=name, api_base=provider.url, concurrency=2, **settings)


def models_asked(provider: Provider) -> dict[str, int]:
    names = [r.body["model"] for r in provider.requests]
    return {name: names.count(name) for name in sorted(set(names))}


def test_cells_that_the_first_stage_settles_spare_the_second(
    tmp_path: Path, provider: Provider
) -> None:
    agreeing(provider)
    panel = Panel(
        judges=(model("cheap", provider), model("dear", provider, stage=1)), cascade=Cascade()
    )
    store, run_id = run_of(tmp_path, panel)
    assert work_here(store, run_id) == "done"
    assert models_asked(provider) == {"cheap": 12}  # 4 items x 3 criteria
    assert lifecycle.run_summary(store, run_id)["spared"] == 12


def test_judges_who_agree_are_no_split_where_the_rule_settles_between_options(
    tmp_path: Path, provider: Provider
) -> None:
    # Both take the first option and find the second likelier: the mean of their chances settles
    # on one that neither chose, which is no disagreement between them.
    provider.rule = lambda body: sure(1, _1=0.4, _2=0.6)
    cheap = [model(name, provider, logprobs=True, shuffle=False) for name in ("cheap", "other")]
    panel = Panel(
        judges=(*cheap, model("dear", provider, stage=1)),
        cascade=Cascade(),
        rules=Rules(ordinal="soft_mean"),
    )
    store, run_id = run_of(tmp_path, panel)
    assert work_here(store, run_id) == "done"
    cells = {c.criterion: c for c in store.results.cells(run_id, "i000")}
    assert [c.agreement for c in cells.values()].count(0.0) == 1  # the ordinal one
    assert models_asked(provider) == {"cheap": 12, "other": 12}


def test_abstentions_go_on_and_the_last_stage_decides(tmp_path: Path, provider: Provider) -> None:
    agreeing(provider, abstains=("cheap",))
    panel = Panel(
        judges=(model("cheap", provider), model("dear", provider, stage=1)), cascade=Cascade()
    )
    store, run_id = run_of(tmp_path, panel)
    assert work_here(store, run_id) == "done"
    assert models_asked(provider) == {"cheap": 12, "dear": 12}
    cells = {c.criterion: c for c in store.results.cells(run_id, "i000")}
    assert cells["cites"].option == 0
    assert (cells["cites"].votes, cells["cites"].abstentions, cells["cites"].coverage) == (1, 0, 1)


def test_an_early_stop_asks_no_third_judge_where_two_agree(
    tmp_path: Path, provider: Provider
) -> None:
    agreeing(provider)
    judges = tuple(model(name, provider) for name in ("a", "b", "c"))
    store, run_id = run_of(tmp_path, Panel(judges=judges, early_stop=True))
    assert work_here(store, run_id) == "done"
    # Binary and nominal verdicts of two who agree stand whatever a third says; on the ordinal
    # criterion both took the lowest level, and a third could raise the mean to the next option.
    assert models_asked(provider) == {"a": 12, "b": 12, "c": 4}


def test_a_shadow_is_asked_and_does_not_count(tmp_path: Path, provider: Provider) -> None:
    agreeing(provider, abstains=("shadow",))
    judges = (model("a", provider), model("shadow", provider, shadow=True))
    store, run_id = run_of(tmp_path, Panel(judges=judges))
    assert work_here(store, run_id) == "done"
    assert models_asked(provider) == {"a": 12, "shadow": 12}
    assert all(c.votes == 1 and not c.abstained for c in store.results.cells(run_id, "i001"))


@pytest.mark.parametrize("flip", ["check", "require"])
def test_flips_are_planned_asked_and_kept(tmp_path: Path, provider: Provider, flip: Any) -> None:
    agreeing(provider)
    panel = Panel(judges=(model("a", provider),), asking=Asking(flip=flip))
    store, run_id = run_of(tmp_path, panel, replicates=2)
    assert work_here(store, run_id) == "done"
    assert store.runs.row(run_id).planned == provider.count == 4 * 3 * 2 * 2
    orders = {
        v.cell.replicate: v.order
        for v in store.votes.for_item(run_id, "i000")
        if v.cell.criterion == "tone"
    }
    for own in (0, 1):
        assert orders[own + 2] == (*reversed(orders[own][:3]), orders[own][3])  # type: ignore[index]
    assert {c.votes for c in store.results.cells(run_id, "i000")} == {2}
