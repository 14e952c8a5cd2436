"""Experiment folders, loaded by the package that they are meant for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.domain.dataset import Dataset
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.domain.runs import RunPlan
from core.formats.rubrics.forms import write_rubric
from core.formats.rubrics.rubric_file import parse_rubric
from core.services.exports.run_export import export
from core.services.imports.import_files import import_path
from core.services.rubrics.library import SAMPLES
from core.store.store import Store
from tests.new_store import new_store
from tests.pages import flipped, graded
from tests.places import ROOT
from tests.services import reviewed
from tests.services.exports import peer_runs
from tests.services.reports import made

HERE = ROOT
Found = dict[str, dict[str, Any]]


def _settled(store: Store) -> int:
    run = reviewed.graded(store, 4)
    queue = reviewed.make_queue(store, run, rule=reviewed.EVERYTHING)
    reviewed.settle(store, reviewed.sit(store, "Ada"), queue, "i0", reviewed.UNMET)
    return run.id


RUNS: dict[str, Callable[[Store], int]] = {
    "every kind": peer_runs.every_kind,
    "people": peer_runs.people_only,
    "two judges": graded.graded,
    "running": lambda store: graded.graded(store, "running"),
    "failed": graded.all_failed,
    "queued": graded.planned,
    "one judge": made.decided,
    "cascade": flipped.flipped,
    "settled": _settled,
}


@pytest.fixture(scope="module")
def rubrics() -> dict[str, Rubric]:
    """Every rubric that comes with the program, and that of the runs."""
    files = SAMPLES.rglob("*.yaml")
    found = {file.name: parse_rubric(file.read_bytes(), file.name).value for file in files}
    return found | {"Every kind": peer_runs.RUBRIC}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An experiment folder of every run."""
    written = dict[str, Path]()
    for name, make in RUNS.items():
        folder = written[name] = tmp_path_factory.mktemp("peer")
        store = new_store(tmp_path_factory.mktemp("data") / "studio.db")
        for file, text in export(store, make(store), "autorubric").files.items():
            (folder / file).write_text(text, encoding="utf-8")
        store.close()
    (written["one judge"] / "truth.json").write_text(
        json.dumps(
            {
                "rubric": json.dumps([{"name": "short", "requirement": "Is it short?"}]),
                # 5 of 20 are MET (tests.services.reports.made); the first is labelled otherwise.
                "labels": [["MET" if at % 4 == 0 and at else "UNMET"] for at in range(20)],
            }
        )
    )
    return written


@pytest.fixture(scope="module")
def loaded(
    folders: dict[str, Path], rubrics: dict[str, Rubric], tmp_path_factory: pytest.TempPathFactory
) -> Found:
    """What the peer found in each of them, and in the rubrics."""
    beside = tmp_path_factory.mktemp("rubrics")
    written = folders | {name: beside / f"{name}.json" for name in rubrics}
    for name, rubric in rubrics.items():
        written[name].write_text(write_rubric(rubric, "autorubric").text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "tests.services.exports.peer_reading",
        *map(str, written.values()),
    ]
    surrounding = os.environ | {"PYTHONPATH": str(HERE)}
    done = subprocess.run(
        command, env=surrounding, cwd=HERE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    return {name: found[str(folder)] for name, folder in written.items()}


def test_the_peer_loads_every_run_we_can_have(loaded: Found) -> None:
    assert {name: one["refused"] for name, one in loaded.items() if "refused" in one} == {}
    # What it writes of it, it reads as the same again: nothing was bent to fit.
    assert all(loaded[name]["stable"] for name in RUNS)


def reports(found: Found, run: str, item: int) -> dict[str, dict[str, Any]]:
    """The peer's report of every criterion of an item, by the criterion's name."""
    given = found[run]["items"][item]["report"]["criterion_reports"]
    return {one["criterion"]["name"]: one for one in given}


def test_every_verdict_and_vote_is_the_one_of_the_run(loaded: Found) -> None:
    # The table of tests.services.exports.peer_runs; the first judge asked is ann's first replicate.
    a, b = (reports(loaded, "every kind", at) for at in (0, 1))

    assert (a["Kind"]["final_verdict"], b["Kind"]["final_verdict"]) == ("MET", "CANNOT_ASSESS")
    assert [v["verdict"] for v in a["Kind"]["votes"]] == ["MET"] * 4
    assert {v["judge_id"]: v["weight"] for v in a["Kind"]["votes"]} == {
        "ann|0": 2.0,
        "ann|1": 2.0,
        "bob|0": 1.0,
        "bob|1": 1.0,
    }
    flaws = a["Flaws"]["final_multi_choice_verdict"]
    assert (flaws["selected_label"], flaws["value"]) == ("Many", 1.0)
    assert flaws["aggregated_value"] == pytest.approx(0.7)
    assert a["Flaws"]["agreement"] == 0.5
    field = a["Field"]["final_multi_choice_verdict"]
    assert (field["selected_label"], field["na"], field["aggregated_value"]) == (
        *("Cannot assess", True),
        0.0,
    )
    forced = b["Forced"]
    assert forced["final_multi_choice_verdict"]["selected_index"] is None
    assert forced["final_multi_choice_verdict"]["na"]
    lost = [v["error"] for v in forced["multi_choice_votes"] if v["error"]]
    assert lost == ["infrastructure: timeout: No answer in time."] * 2


def test_scores_of_items_and_judges_are_those_of_the_run(loaded: Found) -> None:
    a, b, c, d = (one["report"] for one in loaded["every kind"]["items"])

    # Worked out in tests.services.exports.peer_runs: 5 of 15, 5 of 10, and Own met.
    assert [a["score"], b["score"], c["score"]] == [pytest.approx(5 / 15), 0.5, 1.0]
    assert (d["score"], d["error"]) == (None, "no judge answered")
    assert loaded["every kind"]["done"] == [0, 1, 2]
    # 10 - .4 * 5 + 10 + 0 of 25 points; bob's answer on Forced is missing.
    assert a["judge_scores"]["ann|0"] == pytest.approx(18 / 25)
    assert a["judge_scores"]["bob|0"] is None


def test_the_peer_measures_our_run_as_we_do(loaded: Found) -> None:
    found = loaded["one judge"]["metrics"]

    # One of 20 labels is not the vote: 19 of 20 are right, and the score is off by 1 once.
    assert found == {
        "accuracy": pytest.approx(0.95),
        "mae": pytest.approx(0.05),
        "judges": {"ann": [pytest.approx(0.95), pytest.approx(0.05)]},
    }


def test_a_run_that_goes_on_or_failed_loads_as_what_it_is(loaded: Found) -> None:
    assert loaded["running"]["status"] == "running"
    assert loaded["queued"]["failed"] == 3
    assert loaded["failed"]["failed"] == 3
    report = reports(loaded, "failed", 0)["Clear"]
    assert (report["final_verdict"], report["error"]) == (
        "CANNOT_ASSESS",
        "infrastructure: server: It is down.",
    )


def test_votes_that_a_later_stage_replaced_are_marked(loaded: Found) -> None:
    # tests.pages.flipped: on b, ann abstained and bob decided.
    report = reports(loaded, "cascade", 1)["Clear"]

    assert [(v["judge_id"], v["superseded"]) for v in report["votes"]] == [
        ("ann", True),
        ("bob", False),
    ]
    assert report["escalated"]


def test_every_field_of_a_criterion_is_in_the_folder_or_named(store: Store) -> None:
    rubric = Rubric.model_validate(
        {
            "criteria": [
                {
                    "name": "Right",
                    "requirement": "It is right.",
                    "section": "Facts",
                    "tags": ["facts"],
                    "meta": {"source": "us"},
                }
            ]
        }
    )
    plan = RunPlan(
        name="Run",
        rubric_version_id=store.rubrics.create(rubric, now=reviewed.NOW).id,
        dataset_version_id=store.datasets.create(
            Dataset(items=reviewed.items(1)), now=reviewed.NOW
        ).id,
        panel=Panel(judges=(Judge(name="ann", model="m"),)),
    )
    run = store.runs.create(plan, [("i0", 1)], now=reviewed.NOW)
    assert export(store, run.id, "autorubric").losses[1:] == (
        "The section of 'Right' is left out.",
        "The tags of 'Right' are left out.",
        "The additional data of 'Right' is left out.",
    )


def test_what_people_settled_is_the_verdict_there(loaded: Found) -> None:
    # tests.services.reviewed: all three say MET on i0; Ada settled on UNMET.
    report = reports(loaded, "settled", 0)["Right"]

    assert report["final_verdict"] == "UNMET"
    assert {v["verdict"] for v in report["votes"]} == {"MET"}


@pytest.mark.parametrize("run", ["every kind", "people", "cascade"])
def test_the_folder_comes_back_to_us_with_the_same_votes(
    run: str, folders: dict[str, Path], store: Store
) -> None:
    back = store.runs.get(import_path(store, folders[run])["run"] or 0)

    kinds = {judge.name: (judge.rater_kind, judge.weight) for judge in back.panel.judges}
    expected = {
        # Two replicates of each; eve does not count and is left out.
        "every kind": ({f"ann|{n}": ("llm", 2.0) for n in (0, 1)})
        | {f"bob|{n}": ("llm", 1.0) for n in (0, 1)},
        "people": {"Ada": ("human", 1.0), "Ben": ("human", 1.0)},
        "cascade": {"ann": ("llm", 1.0), "bob": ("llm", 1.0)},
    }
    # Of 2 x (2 x 4 + 1) answers of two replicates 4 are timeouts; the stage before is replaced.
    votes = {"every kind": (32, 4), "people": (4, 0), "cascade": (2, 0)}
    assert kinds == expected[run]
    assert (back.votes, back.failures_open) == votes[run]


def test_the_peer_loads_every_rubric_that_we_write_for_it(
    loaded: Found, rubrics: dict[str, Rubric]
) -> None:
    for name, rubric in rubrics.items():
        found = loaded[name]["criteria"]
        assert [(c["name"], c["weight"]) for c in found] == [
            (c.name, c.weight) for c in rubric.criteria
        ]
        # A question of yes or no has no options there; elsewhere every label is kept.
        assert [[o["label"] for o in c["options"] or ()] for c in found] == [
            [] if c.scale == "binary" else [o.label for o in c.options] for c in rubric.criteria
        ]
        assert (loaded[name]["guidelines"] or "").strip() == rubric.guidelines.strip()
