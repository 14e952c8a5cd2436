"""`score`: whose votes count, and that a folder, its imported run and the app say the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.cli.rescore import score_source
from core.errors import InputError, NotFound
from core.formats.known import kind_of
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_path
from core.services.agreement.metrics_report import metrics_source
from core.services.imports.vote_import import bring_in
from core.store.store import Store
from tests.services.reviewed import EVERYTHING, UNMET, graded, make_queue, seats, settle

RUBRIC = "criteria:\n- {name: cites, requirement: R, weight: 1}\n"
ITEMS = '{"id": "i", "submission": "x", "labels": {"cites": "MET"}}\n{"id": "j", "submission": "y"}'
#: Two people say UNMET where one model says MET; nobody rates j.
VOTES = """item_id,criterion,rater_id,rater_kind,label
i,cites,ann,human,UNMET
i,cites,bob,human,UNMET
i,cites,m,llm,MET
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "rated"
    made.mkdir()
    for name, text in (("rubric.yaml", RUBRIC), ("items.jsonl", ITEMS), ("votes.csv", VOTES)):
        (made / name).write_text(text)
    return made


def imported(store: Store, folder: Path) -> str:
    source = open_path(folder)
    return str(bring_in(store, read_bundle(source, kind_of(source))).run)


def scores(report: dict[str, Any]) -> dict[str, float | None]:
    return {item["id"]: item["score"] for item in report["items"]}


@pytest.mark.parametrize(("raters", "score"), [("all", 0.0), ("people", 0.0), ("judges", 1.0)])
def test_a_folder_and_its_imported_run_score_alike_where_it_is_said_who_counts(
    raters: Any, score: float, store: Store, folder: Path
) -> None:
    run = imported(store, folder)
    one = score_source(lambda: store, str(folder), raters=raters)
    other = score_source(lambda: store, run, raters=raters)
    assert one == other
    assert scores(one) == {"i": score, "j": None}


def test_beside_judges_people_do_not_count_in_a_folder_as_in_its_imported_run(
    store: Store, folder: Path
) -> None:
    said: list[str] = []
    assert scores(score_source(lambda: store, str(folder), on_remark=said.append))["i"] == 1
    assert said == ["Only judges' votes count here. --raters all counts people's, too."]
    assert scores(score_source(lambda: store, str(folder), raters="all"))["i"] == 0
    run = imported(store, folder)
    assert scores(score_source(lambda: store, run, on_remark=said.append))["i"] == 1
    assert store.results.item(int(run), "i").score == 1
    assert len(said) == 1


def test_metrics_of_a_folder_and_of_its_imported_run_are_the_same(
    store: Store, folder: Path
) -> None:
    run = imported(store, folder)
    assert metrics_source(lambda: store, run) == metrics_source(lambda: store, str(folder))


def test_raters_that_a_run_does_not_have_are_refused(store: Store) -> None:
    graded(store, 1)
    with pytest.raises(InputError, match="--raters people: run 1 has none of them"):
        score_source(lambda: store, "1", raters="people")


def test_what_a_person_settled_stands_in_score_as_in_the_app(store: Store) -> None:
    run = graded(store, 2)
    (kim,) = seats(store, "Kim")
    queue = make_queue(store, run, EVERYTHING)
    # Item 0 is MET and MET by all its votes, so by any rule (3 + 1) / 4. Kim says UNMET twice.
    settle(store, kim, queue, "i0", UNMET, note="No.")
    report = score_source(lambda: store, str(run.id), ["binary=any"])
    assert scores(report)["i0"] == store.results.item(run.id, "i0").score == 0
    assert report["items"][0]["verdicts"]["Right"]["label"] == "UNMET"


@pytest.mark.parametrize("source", ["999", "9" * 18, "9" * 30, "9" * 5000])
def test_a_number_that_is_no_runs_is_said_however_long(store: Store, source: str) -> None:
    for look in (score_source, metrics_source):
        with pytest.raises(NotFound, match="There is no run 9"):
            look(lambda: store, source)


def test_a_digit_of_another_script_is_a_folders_name(store: Store) -> None:
    with pytest.raises(InputError, match="This is not a folder"):
        score_source(lambda: store, "²")


def test_chances_in_a_file_settle_by_the_soft_mean_in_a_folder_and_in_the_app(
    store: Store, tmp_path: Path
) -> None:
    made = tmp_path / "soft"
    made.mkdir()
    levels = "[{label: bad, value: 0}, {label: fair, value: 0.5}, {label: good, value: 1}]"
    (made / "rubric.yaml").write_text(
        f"criteria:\n- {{name: c, requirement: R, weight: 1, scale: ordinal, options: {levels}}}"
    )
    (made / "items.jsonl").write_text('{"id": "i", "submission": "x"}\n')
    (made / "votes.csv").write_text(
        "item_id,criterion,rater_id,rater_kind,label,p_bad,p_fair,p_good\n"
        "i,c,m,llm,good,0.1,0.4,0.5\n"
    )
    # .4 * .5 + .5 * 1 = .7, which is nearer to fair (.5) than to good (1).
    for source in (str(made), imported(store, made)):
        plain = score_source(lambda: store, source)
        soft = score_source(lambda: store, source, rules=["ordinal=soft_mean"])
        before, after = (one["items"][0]["verdicts"]["c"] for one in (plain, soft))
        assert (before["label"], scores(plain)) == ("good", {"i": 1.0})
        assert (after["label"], after["continuous"], scores(soft)) == ("fair", 0.7, {"i": 0.5})
