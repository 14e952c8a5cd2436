"""Measuring a folder or a run: the contract's shape, people and judges alike, what is missing."""

import csv
import json

import pytest
from click.testing import CliRunner

from core.cli.main import main
from core.errors import InputError
from core.services import measuring_figures
from core.services.measuring import metrics_source
from core.services.measuring_text import as_text
from core.services.rated import Row, column_names
from core.services.rated_matrix import Rater
from core.store import Store
from tests.store.making import claimed, failure, queued_run, record, vote

RUBRIC = """\
name: Answers
criteria:
- {name: right, requirement: Is right., weight: 3}
- name: depth
  requirement: How deep?
  weight: 1
  scale: ordinal
  options:
  - {label: low, value: 0}
  - {label: mid, value: 0.5}
  - {label: high, value: 1}
  - {label: n/a, na: true}
"""
#: item, criterion, rater, kind, label: ragged, with an abstention (n/a) and a failure (empty).
VOTES = [
    ("a", "right", "ann", "human", "MET"),
    ("a", "right", "bob", "human", "MET"),
    ("a", "right", "J", "llm", "MET"),
    ("b", "right", "ann", "human", "UNMET"),
    ("b", "right", "bob", "human", "MET"),
    ("b", "right", "J", "llm", "MET"),
    ("c", "right", "ann", "human", "UNMET"),
    ("c", "right", "J", "llm", ""),
    ("d", "right", "ann", "human", "UNMET"),
    ("d", "right", "bob", "human", "UNMET"),
    ("d", "right", "J", "llm", "MET"),
    ("a", "depth", "ann", "human", "high"),
    ("a", "depth", "bob", "human", "mid"),
    ("a", "depth", "J", "llm", "high"),
    ("b", "depth", "ann", "human", "n/a"),
    ("b", "depth", "J", "llm", "CANNOT_ASSESS"),
    ("c", "depth", "ann", "human", "low"),
    ("c", "depth", "J", "llm", "mid"),
    ("d", "depth", "ann", "human", "low"),
    ("d", "depth", "bob", "human", "low"),
    ("d", "depth", "J", "llm", "high"),
]
LABELS = {"a": {"right": "MET", "depth": "high"}, "b": {"right": "UNMET"}, "d": {"right": "UNMET"}}
GROUP = {
    "items",
    "raters",
    "ratings",
    "items_with_2plus",
    "percent_agreement",
    "krippendorff_alpha_nominal",
    "krippendorff_alpha_ordinal",
    "krippendorff_alpha_interval",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2_quadratic",
    "mean_pairwise_cohen",
    "icc_2_1",
    "icc_2_k",
    "kendall_w",
    "label_distribution",
    "abstained",
    "failed",
}
PAIR = {
    "n",
    "accuracy",
    "f1_macro",
    "cohen_kappa",
    "kappa_linear",
    "kappa_quadratic",
    "adjacent_accuracy",
    "spearman",
    "kendall_tau_b",
    "pearson",
    "rmse_levels",
    "mae_levels",
    "bias_levels",
    "emd_levels",
    "ks",
    "confusion",
}


@pytest.fixture
def folder(tmp_path):
    return written(tmp_path / "answers", VOTES)


def written(path, votes, extra=()):
    path.mkdir()
    (path / "rubric.yaml").write_text(RUBRIC)
    items = [{"id": i, "submission": f"Text {i}.", "labels": LABELS.get(i, {})} for i in "abcd"]
    (path / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    with (path / "votes.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item_id", "criterion", "rater_id", "rater_kind", "label", *extra])
        writer.writerows(votes)
    return path


def no_store():
    raise AssertionError("a folder needs no data file")


def measured(folder, *more):
    return metrics_source(no_store, str(folder), *more)


def test_the_report_has_the_keys_of_the_contract(folder):
    report = measured(folder)
    assert list(report) == ["criteria", "score"]
    for criterion in report["criteria"].values():
        assert set(criterion) == {"scale", "levels", "groups", "raters", "panel"}
        for group in criterion["groups"].values():
            assert GROUP <= set(group) <= GROUP | {"undefined", "majority"}
        versus = {"vs_human_majority", "vs_human_mean_level", "vs_gold"}
        assert all(set(rater) == versus for rater in criterion["raters"].values())
        assert set(criterion["panel"]) == {"vs_human_majority", "vs_gold"}
        for pair in [p for r in criterion["raters"].values() for p in r.values()]:
            assert PAIR <= set(pair) <= PAIR | {"undefined", "more"}


def test_people_are_counted_with_their_abstentions_and_failures_apart(folder):
    groups = measured(folder)["criteria"]["depth"]["groups"]
    human, judge = groups["human"], groups["llm"]
    counts = ("items", "raters", "ratings", "items_with_2plus", "abstained", "failed")
    assert [human[key] for key in counts] == [3, 2, 5, 2, 1, 0]
    assert [judge[key] for key in counts] == [3, 1, 3, 0, 1, 0]
    assert human["percent_agreement"] == 0.5  # a differs, d agrees
    assert human["label_distribution"] == {"low": 3, "mid": 1, "high": 1}
    assert measured(folder)["criteria"]["right"]["groups"]["llm"]["failed"] == 1


def test_a_judge_meets_the_unique_majority_and_the_labels(folder):
    raters = measured(folder)["criteria"]["right"]["raters"]
    # Majorities: a MET, d UNMET (b tied; the judge failed on c). Judge: MET, MET.
    major = raters["J"]["vs_human_majority"]
    assert (major["n"], major["accuracy"], major["confusion"]) == (2, 0.5, [[1, 0], [1, 0]])
    # Labels of a, b, d: MET, UNMET, UNMET; the judge says MET three times.
    gold = raters["J"]["vs_gold"]
    assert (gold["n"], gold["confusion"]) == (3, [[1, 0], [2, 0]])
    assert gold["more"]["false_positive_rate"] == 1
    assert gold["cohen_kappa"] == 0  # one side constant: nothing beyond chance
    assert gold["undefined"]["spearman"].startswith("One of the two")


def test_a_person_meets_the_others_and_not_the_own_vote(folder):
    ann = measured(folder)["criteria"]["right"]["raters"]["ann"]
    # Bob rated a MET, b MET, d UNMET; ann says MET, UNMET, UNMET.
    assert ann["vs_human_majority"]["confusion"] == [[1, 1], [0, 1]]
    assert ann["vs_human_mean_level"]["n"] == 3


def test_a_mean_level_has_distances_but_no_counts(folder):
    mean = measured(folder)["criteria"]["depth"]["raters"]["J"]["vs_human_mean_level"]
    # Means 1.5, 0, 0 of a, c, d; the judge 2, 1, 2: differences .5, 1, 2.
    assert (mean["n"], mean["bias_levels"]) == (3, pytest.approx(3.5 / 3))
    assert mean["rmse_levels"] == pytest.approx((5.25 / 3) ** 0.5)
    assert mean["confusion"] is None
    assert "no level" in mean["undefined"]["accuracy"]


def test_scores_of_whole_items(folder):
    score = measured(folder)["score"]
    # J scores a (MET, high) 1; b (MET, abstained) 1; d (MET, high) 1; c failed on one criterion.
    # People complete: ann on all, a 1, b 0, c 0, d 0; bob a (MET, mid) 3.5/4, d 0.
    judge = score["raters"]["J"]["vs_human_mean"]
    assert judge["n"] == 3
    assert judge["bias"] == pytest.approx((1 - (1 + 3.5 / 4) / 2 + 1 + 1) / 3)
    assert score["raters"]["J"]["vs_gold"]["n"] == 1  # only a has a label for every criterion
    assert set(score["panel"]) == {"vs_human_mean", "vs_gold"}


@pytest.mark.parametrize(
    ("reference", "keys"),
    [
        ("human", {"vs_human_majority", "vs_human_mean_level"}),
        ("gold", {"vs_gold"}),
        ("ann", {"vs_reference"}),
    ],
)
def test_the_reference_can_be_chosen(folder, reference, keys):
    report = measured(folder, reference)
    assert report["reference"] == reference
    right = report["criteria"]["right"]
    assert set(right["raters"]["J"]) == keys
    assert set(right["panel"]) == keys - {"vs_human_mean_level"}
    assert ("ann" in right["raters"]) == (reference != "ann")
    of_scores = {"vs_human_mean"} if reference == "human" else keys
    assert set(report["score"]["raters"]["J"]) == of_scores


def test_an_unknown_reference_is_refused_with_the_names_there_are(folder):
    with pytest.raises(InputError, match="ann, bob, J"):
        measured(folder, "eve")


def test_intervals_stand_beside_their_figures_and_repeat_with_the_seed(folder):
    report = measured(folder, None, 200, 4)
    assert report == measured(folder, None, 200, 4)
    assert report != measured(folder, None, 200, 5)
    pair = report["criteria"]["right"]["raters"]["ann"]["vs_gold"]
    low, high = pair["ci"]["accuracy"]
    assert low <= pair["accuracy"] <= high
    assert report["bootstrap"]["resamples"] == 200


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
    monkeypatch.setattr(measuring_figures, "MOST_WEIGHTS", 100)
    monkeypatch.setattr(measuring_figures, "TOO_MANY", 400)
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
    store = Store(tmp_path / "studio.db")
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
    assert text.stdout.strip() == as_text(measured(folder)).strip()
    assert not (tmp_path / "none.db").exists()
    for wrong in ([str(tmp_path / "nowhere")], [str(folder), "--reference", "eve"], ["7"]):
        refused = runner.invoke(main, ["metrics", *wrong, "--json", *db])
        assert refused.exit_code == 2
        assert json.loads(refused.stdout)["error"]
