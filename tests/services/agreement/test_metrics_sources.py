"""What is measured from where: folders, runs, rubrics of items, the command line."""

import csv
import json

import pytest
from click.testing import CliRunner

from core.cli.main import main
from core.cli.reports_as_text import metrics_as_text
from core.errors import InputError
from core.services.agreement import group_figures
from core.services.agreement.load_ratings import Row, column_names
from core.services.agreement.metrics_report import metrics_source
from core.services.agreement.ratings import Rater
from tests.new_store import new_store
from tests.services.measured import VOTES, measured, written
from tests.store.making import claimed, failure, queued_run, record, vote


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "answers", VOTES)


def test_answers_under_two_orders_are_two_raters(tmp_path):
    twice = [(*row, order) for row in VOTES if row[3] == "llm" for order in ("as is", "swapped")]
    people = [(*row, "") for row in VOTES if row[3] == "human"]
    report = measured(written(tmp_path / "twice", people + twice, ["order"]))
    assert set(report["criteria"]["right"]["raters"]) == {"ann", "bob", "J|as is", "J|swapped"}
    assert report["criteria"]["right"]["groups"]["llm"]["raters"] == 2


def test_replicates_are_raters_and_one_order_per_answer_is_not():
    j, k = Rater("J", "llm"), Rater("K", "llm")
    rows = [Row("i", "c", j, "", 3), Row("i", "c", j, "", 5), Row("i", "c", k, "", 0)]
    assert column_names(rows) == ["J|3", "J|5", "K"]
    balanced = [Row("i", "c", j, "as is", 0), Row("j", "c", j, "swapped", 0)]
    assert column_names(balanced) == ["J", "J"]
    both = [Row("i", "c", j, o, r) for o in ("x", "y") for r in (0, 1)]
    assert column_names(both) == ["J|x|0", "J|x|1", "J|y|0", "J|y|1"]


def test_a_name_that_people_and_judges_share_is_told_apart(tmp_path):
    votes = [("a", "right", "J", kind, "MET") for kind in ("human", "llm")]
    report = measured(written(tmp_path / "same", votes))
    assert set(report["criteria"]["right"]["raters"]) == {"J (human)", "J (llm)"}


def test_abstaining_and_failing_lower_the_coverage_and_are_told_apart(folder):
    report = measured(folder, "ann", 100, 1)
    depth = report["criteria"]["depth"]["raters"]["J"]["vs_reference"]["more"]["abstention"]
    # Ann: high, n/a, low, low; the judge: high, abstains, mid, high.
    assert (depth["n"], depth["agreement"], depth["kappa"], depth["coverage"]) == (4, 1, 1, 1)
    right = report["criteria"]["right"]["raters"]["J"]["vs_reference"]["more"]["abstention"]
    # Ann rated all four; the judge failed on c, which says nothing about abstaining.
    assert (right["coverage"], right["n"], right["agreement"]) == (0.75, 3, 1)
    assert right["ci"]["coverage"][0] < 0.75 < right["ci"]["coverage"][1]
    panel = report["criteria"]["depth"]["panel"]["vs_reference"]["more"]["abstention"]
    assert panel["agreement"] == 1  # the panel of one judge abstains where the judge does


def test_more_resamples_than_fit_are_refused_with_what_would_fit(folder, monkeypatch):
    monkeypatch.setattr(group_figures, "MOST_WEIGHTS", 100)
    monkeypatch.setattr(group_figures, "TOO_MANY", 400)
    assert measured(folder, None, 100)["criteria"]["right"]["raters"]["J"]["vs_gold"]["ci"]
    with pytest.raises(InputError, match="Use 100 or fewer"):
        measured(folder, None, 101)


def test_an_item_with_a_rubric_of_its_own_is_measured_by_it(tmp_path):
    path = written(tmp_path / "own", [])
    own = {
        "criteria": [
            {"name": "right", "requirement": "Is right."},
            {
                "name": "depth",
                "requirement": "How deep?",
                "scale": "nominal",
                "options": [{"label": "x", "value": 0}, {"label": "y", "value": 1}],
            },
        ]
    }
    lines = (path / "items.jsonl").read_text().splitlines()
    lines.append(json.dumps({"id": "e", "submission": "Own.", "rubric": own}))
    (path / "items.jsonl").write_text("\n".join(lines))
    with (path / "votes.csv").open("a", newline="") as file:
        csv.writer(file).writerows(
            [("e", "depth", "J", "llm", "y"), ("e", "right", "J", "llm", "MET")]
        )
    criteria = measured(path)["criteria"]
    assert list(criteria) == ["right", "depth", "depth (2)"]
    assert criteria["right"]["groups"]["llm"]["items"] == 1
    assert criteria["depth (2)"]["groups"]["llm"]["label_distribution"] == {"x": 0, "y": 1}
    assert criteria["depth"]["groups"] == {}


def test_a_run_has_its_judges_its_labels_and_its_panels_verdicts(tmp_path):
    store = new_store(tmp_path / "studio.db")
    run_id = queued_run(store)
    lease = claimed(store, run_id)
    # Clear: ann MET, MET; bob UNMET, MET and an abstention; ann's call on c failed. Labels of
    # Clear: a MET, b MET. The panel of these tests settles on the first vote, which is ann's.
    record(
        store,
        lease,
        vote("a", option=0),
        vote("a", judge="bob", option=1),
        vote("b", option=0),
        vote("b", judge="bob", option=0),
        vote("c", judge="bob", option=2),
        failure("c"),
    )
    report = metrics_source(lambda: store, str(run_id))
    clear = report["criteria"]["Clear"]
    group = clear["groups"]["llm"]
    assert [group[key] for key in ("items", "raters", "ratings", "abstained", "failed")] == [
        2, 2, 4, 1, 1,
    ]  # fmt: skip
    assert clear["raters"]["ann"]["vs_gold"]["accuracy"] == 1
    assert clear["raters"]["bob"]["vs_gold"]["accuracy"] == 0.5
    assert clear["panel"]["vs_gold"]["confusion"] == [[2, 0], [0, 0]]
    assert report["criteria"]["Brief"]["groups"] == {}
    store.close()


def test_the_command_prints_the_report_and_refuses_what_is_wrong(folder, tmp_path):
    runner, db = CliRunner(), ["--db", str(tmp_path / "none.db")]
    shown = runner.invoke(main, ["metrics", str(folder), "--bootstrap", "50", "--json", *db])
    assert shown.exit_code == 0
    assert json.loads(shown.stdout)["criteria"]["depth"]["levels"] == ["low", "mid", "high"]
    text = runner.invoke(main, ["metrics", str(folder), *db])
    assert "J against the labels:" in text.stdout
    assert text.stdout.strip() == metrics_as_text(measured(folder)).strip()
    assert not (tmp_path / "none.db").exists()
    for wrong in ([str(tmp_path / "nowhere")], [str(folder), "--reference", "eve"], ["7"]):
        refused = runner.invoke(main, ["metrics", *wrong, "--json", *db])
        assert refused.exit_code == 2
        assert json.loads(refused.stdout)["error"]


def test_one_rater_whom_nothing_is_compared_with_is_not_said_to_have_rated_nothing(tmp_path):
    """What a first run of one judge over texts without labels shows."""
    alone = [row for row in VOTES if row[3] == "llm" and row[2] == "J"][:1]
    text = metrics_as_text(measured(written(tmp_path / "alone", alone)))
    assert "  llm: 1 rater, 1 item, 1 rating, 0 abstained, 0 failed" in text
    assert "No item has both such a score and one by people or labels to compare it with." in text
