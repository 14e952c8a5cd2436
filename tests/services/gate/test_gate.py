"""The gate: bounds hold or not, what is undefined does not, a drop within noise passes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from core.metrics.estimate import Estimate
from core.metrics.intervals.joint_draws import AnswerPairs, Resampled
from core.services.agreement.overall import accuracy, mean_kappa
from core.services.gate.baseline import figure_fall
from tests.command_line import cli

NAME = "Good & <fast>"


def folder(path: Path, right: list[bool], criterion: str = NAME, kind: str = "llm") -> Path:
    """Items labelled MET, UNMET by turns, and one rater who is right where ``right`` says so."""
    path.mkdir()
    truth = ["MET" if at % 2 else "UNMET" for at in range(len(right))]
    other = {"MET": "UNMET", "UNMET": "MET"}
    criteria = [{"name": criterion, "requirement": "Is it?"}]
    (path / "rubric.yaml").write_text(json.dumps({"name": "R", "criteria": criteria}))
    items = [
        {"id": f"i{at}", "submission": "x", "labels": {criterion: label}}
        for at, label in enumerate(truth)
    ]
    (path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    votes = ["item_id,criterion,rater_id,rater_kind,label"]
    votes += [
        f"i{at},{criterion},judge,{kind},{label if good else other[label]}"
        for at, (label, good) in enumerate(zip(truth, right, strict=True))
    ]
    (path / "votes.csv").write_text("\n".join(votes) + "\n")
    return path


@pytest.fixture
def eight_of_ten(tmp_path: Path) -> Path:
    """Wrong twice on a MET and twice on an UNMET: accuracy .8, kappa (.8 - .5) / .5 = .6."""
    return folder(tmp_path / "votes", [True] * 16 + [False] * 4)


def test_bounds_hold_or_not_and_the_status_says_so(eight_of_ten: Path) -> None:
    assert cli("check", eight_of_ten, "--min", "accuracy=0.8").returncode == 0
    low = cli("check", eight_of_ten, "--min", "accuracy=0.81", "--max", "mean_kappa=0.7", "--json")
    assert low.returncode == 1
    found = json.loads(low.stdout)
    assert (found["ok"], found["reference"]) == (False, "gold")
    assert [(c["name"], c["ok"], round(c["value"], 9)) for c in found["checks"]] == [
        ("overall.panel.vs_gold.accuracy", False, 0.8),
        ("overall.panel.vs_gold.mean_kappa", True, 0.6),
    ]


@pytest.mark.parametrize(
    "name",
    [
        f"criteria.{NAME}.panel.vs_gold.cohen_kappa",
        "criteria.*.raters.judge.vs_gold.cohen_kappa",
        "overall.raters.judge.vs_gold.mean_kappa",
    ],
)
def test_paths_reach_every_figure_of_metrics(eight_of_ten: Path, name: str) -> None:
    assert cli("check", eight_of_ten, "--min", f"{name}=0.6").returncode == 0
    assert cli("check", eight_of_ten, "--min", f"{name}=0.61").returncode == 1


def test_per_criterion_names_are_figures_of_each_criterion(eight_of_ten: Path) -> None:
    done = cli("check", eight_of_ten, "--per-criterion", "--min", "cohen_kappa=0.6")
    assert done.returncode == 0
    assert re.search(
        re.escape(f"criteria.{NAME}.panel.vs_gold.cohen_kappa: 0.6 (")
        + r"0\.\d+ to 0\.\d+, n = 20, 100% decided\), at least 0\.6 is asked",
        done.stdout,
    )
    alone = cli("check", eight_of_ten, "--min", "cohen_kappa=0.6")
    assert alone.returncode == 2
    assert "It is one of each criterion: add --per-criterion" in alone.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--min", "acuracy=1"), "Did you mean 'accuracy'? Over all criteria there are"),
        (("--min", "accuracy"), "is not NAME=VALUE"),
        (("--min", "accuracy=nan"), "is not NAME=VALUE"),
        ((), "Nothing is asked."),
        (("--baseline", "no-such.json"), "There is no such file."),
    ],
)
def test_what_is_asked_wrongly_is_refused(
    eight_of_ten: Path, words: tuple[str, ...], said: str
) -> None:
    done = cli("check", eight_of_ten, *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_what_is_undefined_fails_with_its_reason(tmp_path: Path) -> None:
    unlabelled = folder(tmp_path / "votes", [True] * 4)
    items = [{"id": f"i{at}", "submission": "t"} for at in range(4)]
    (unlabelled / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    done = cli("check", unlabelled, "--min", "accuracy=0")
    assert done.returncode == 1
    assert "undefined (There are no labels to compare with), at least 0 is asked" in done.stdout
    (unlabelled / "votes.csv").write_text("item_id,criterion,rater_id,rater_kind,label\n")
    done = cli("check", unlabelled, "--min", "accuracy=0")
    assert (done.returncode, "undefined (There are no votes)" in done.stdout) == (1, True)


def test_too_few_labels_or_decided_cells_are_not_enough_to_tell(tmp_path: Path) -> None:
    one = folder(tmp_path / "one", [True])
    done = cli("check", one, "--min", "accuracy=0.8", "--json")
    (check,) = json.loads(done.stdout)["checks"]
    assert (done.returncode, check["value"], check["n"]) == (1, 1.0, 1)
    assert "not enough to tell: n = 1; at least 20 are asked (--min-n)" in check["why"]
    assert cli("check", one, "--min", "accuracy=0.8", "--min-n", "1").returncode == 0

    # All 30 are right, and the calls of 30 further items failed: 50% are decided.
    half = folder(tmp_path / "half", [True] * 60)
    lines = (half / "votes.csv").read_text().split("\n")
    failed = [line.rpartition(",")[0] + "," for line in lines[31:61]]
    (half / "votes.csv").write_text("\n".join([*lines[:31], *failed]) + "\n")
    assert cli("check", half, "--min", "accuracy=0.8").returncode == 0
    short = cli("check", half, "--min", "accuracy=0.8", "--min-decided", "0.51")
    assert short.returncode == 1
    assert "50% of cells are decided; at least 51% are asked (--min-decided)" in short.stdout


def test_a_figure_just_below_its_bound_is_not_said_to_be_the_bound(tmp_path: Path) -> None:
    # 60 of 121 decided, 49.6 %: "50 %, 50 % are asked" would contradict the exit code.
    nearly = folder(tmp_path / "half", [True] * 121)
    lines = (nearly / "votes.csv").read_text().split("\n")
    failed = [line.rpartition(",")[0] + "," for line in lines[61:122]]
    (nearly / "votes.csv").write_text("\n".join([*lines[:61], *failed]) + "\n")
    done = cli("check", nearly, "--min", "accuracy=0.8")
    assert done.returncode == 1
    assert "49.6% of cells are decided; at least 50% are asked (--min-decided)" in done.stdout
    # 1999 of 2501 are right, .79928: three figures would say .799, two .8.
    right = folder(tmp_path / "right", [True] * 1999 + [False] * 502)
    done = cli("check", right, "--min", "accuracy=0.7993")
    assert done.returncode == 1
    assert "accuracy: 0.79928 (" in done.stdout
    assert "at least 0.7993 is asked" in done.stdout


def test_the_lower_end_is_tested_where_it_is_asked(eight_of_ten: Path) -> None:
    # 16 of 20 with t on 19: Wilson's (1927) lower end is .568 (own arithmetic: t = 2.093,
    # (.8 + t^2/40 - t sqrt(.16/20 + t^2/1600)) / (1 + t^2/20)).
    asked = ("check", eight_of_ten, "--lower", "--min")
    assert cli(*asked, "accuracy=0.56").returncode == 0
    low = cli(*asked, "accuracy=0.57")
    assert low.returncode == 1
    assert "a lower end of at least 0.57 is asked" in low.stdout


def test_a_drop_fails_only_where_its_whole_interval_lies_above_what_is_allowed(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "baseline.json"
    cli("check", folder(tmp_path / "before", [True] * 100), "--write-baseline", kept)
    # 20 of 100 fell: 13 to 28 points. Surely more than 10, not significantly more than 18.
    now = folder(tmp_path / "now", [True] * 80 + [False] * 20)
    asked = ("check", now, "--baseline", kept, "--min", "accuracy=0", "--max-drop")
    assert cli(*asked, "0.1").returncode == 1
    passed = cli(*asked, "0.18")
    assert passed.returncode == 0
    assert "not significantly more than 0.18" in passed.stdout


def test_a_drop_within_noise_passes_and_a_sure_one_fails(tmp_path: Path) -> None:
    kept = tmp_path / "baseline.json"
    before = folder(tmp_path / "before", [True] * 10)
    assert cli("check", before, "--write-baseline", kept).returncode == 0
    # Two of ten fell: of the resamples .8 ** 10 = .11 have neither, so no drop is in the interval.
    small = cli("check", folder(tmp_path / "small", [True] * 8 + [False] * 2), "--baseline", kept)
    assert small.returncode == 0
    assert "a drop of 0.2, not significantly more than 0 (95% interval 0 to 0.5)" in small.stdout
    # Five of ten: .5 ** 10 = .001.
    large = folder(tmp_path / "large", [True] * 5 + [False] * 5)
    fell = cli("check", large, "--baseline", kept, "--min", "accuracy=0", "--json")
    assert fell.returncode == 1
    drop = json.loads(fell.stdout)["checks"][-1]
    assert (drop["kind"], drop["before"], drop["value"], drop["items"]) == ("drop", 1.0, 0.5, 10)
    assert drop["ci"][0] > 0
    asked = ("--min", "accuracy=0", "--min-n", "1", "--max-drop", "0.5")
    allowed = cli("check", large, "--baseline", kept, *asked)
    assert allowed.returncode == 0
    assert "a drop of 0.5, 0.5 is allowed" in allowed.stdout


def test_a_baseline_that_is_watched_asks_more_of_a_drop_the_more_often_it_is_looked_at(
    tmp_path: Path,
) -> None:
    kept = tmp_path / "baseline.json"
    before = folder(tmp_path / "before", [True] * 40)
    now = folder(tmp_path / "now", [True] * 34 + [False] * 6)
    assert cli("check", before, "--write-baseline", kept).returncode == 0
    asked = ("check", now, "--baseline", kept, "--watch", "--json")

    first = cli(*asked)
    drop = json.loads(first.stdout)["checks"][0]
    # A drop of .15 whose resamples have a standard deviation of sqrt(.15 .85 / 40): at the first
    # look, which may use up half of 5 %, two-sided, it reaches 2.24 of these, at the 20th 3.95.
    reach = 2.2414 * (0.15 * 0.85 / 40) ** 0.5
    assert drop["ci"] == pytest.approx([0.15 - reach, 0.15 + reach], abs=0.01)
    assert (first.returncode, json.loads(kept.read_text())["looks"]) == (1, 1)
    for _ in range(18):
        cli(*asked)
    late = json.loads(cli(*asked).stdout)["checks"][0]
    assert (late["ok"], json.loads(kept.read_text())["looks"]) == (True, 20)
    # Without --watch it is one look like any other, and the file stays as it is.
    assert cli("check", now, "--baseline", kept).returncode == 1
    assert json.loads(kept.read_text())["looks"] == 20
    assert cli("check", now, "--watch").returncode == 2


def test_a_baseline_of_other_items_is_compared_as_a_whole(tmp_path: Path) -> None:
    kept = tmp_path / "baseline.json"
    cli("check", folder(tmp_path / "before", [True] * 40), "--write-baseline", kept)
    text = kept.read_text().replace('"i', '"other')
    kept.write_text(text)
    now = folder(tmp_path / "now", [True] * 20 + [False] * 20)
    done = cli("check", now, "--baseline", kept, "--min", "accuracy=0")
    assert done.returncode == 1
    assert "1 before, 0.5 now (no common items): a drop of 0.5" in done.stdout


def test_a_baseline_replaces_a_baseline_and_nothing_else(
    tmp_path: Path, eight_of_ten: Path
) -> None:
    kept, other = tmp_path / "baseline.json", tmp_path / "mine.txt"
    other.write_text("mine")
    for _ in range(2):
        assert cli("check", eight_of_ten, "--write-baseline", kept).returncode == 0
    refused = cli("check", eight_of_ten, "--write-baseline", other)
    assert refused.returncode == 2
    assert other.read_text() == "mine"
    wrong = cli("check", eight_of_ten, "--baseline", other)
    assert "This is not a baseline of the gate. Make one with --write-baseline" in wrong.stderr
    reference = cli("check", eight_of_ten, "--baseline", kept, "--reference", "human")
    assert "Say --reference gold." in reference.stderr
    data = json.loads(kept.read_text())
    assert data["criteria"][NAME]["cells"]["i0"] == [1, 1]  # UNMET is the second option
    assert "submission" not in kept.read_text()


def test_the_checks_are_written_as_junit(tmp_path: Path, eight_of_ten: Path) -> None:
    target = tmp_path / "check.xml"
    words = ("--per-criterion", "--min", "cohen_kappa=0.7", "--max", "accuracy=1")
    cli("check", eight_of_ten, *words, "--junit", target, "--quiet")
    (suite,) = ElementTree.fromstring(target.read_text())
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    failed = suite.find("testcase/failure")
    assert failed is not None
    message = failed.get("message") or ""
    assert message.startswith("0.6 (")
    assert message.endswith("n = 20, 100% decided), at least 0.7 is asked")
    held = suite.find("testcase/system-out")
    assert held is not None
    assert "n = 20" in (held.text or "")
    assert suite[0].get("name") == f"criteria.{NAME}.panel.vs_gold.cohen_kappa (min)"


def test_metrics_say_the_overall_figures_too(eight_of_ten: Path) -> None:
    found = json.loads(cli("metrics", eight_of_ten, "--bootstrap", 500, "--json").stdout)
    panel = found["overall"]["panel"]["vs_gold"]
    assert (panel["criteria"], panel["cells"], panel["accuracy"]) == (1, 20, 0.8)
    assert panel["mean_kappa"] == pytest.approx(0.6)
    low, high = panel["ci"]["accuracy"]
    assert low < 0.8 < high
    people = found["overall"]["panel"]["vs_human_majority"]
    assert (people["accuracy"], people["undefined"]["accuracy"]) == (
        None, "No item has an answer of both.",
    )  # fmt: skip


def pairs(levels: list[int], rated: list[int], name: str = "a") -> AnswerPairs:
    ids = tuple(f"i{at}" for at in range(len(levels)))
    return AnswerPairs(name, ("MET", "UNMET"), False, ids, np.array(levels), np.array(rated))


def test_accuracy_is_over_cells_and_kappa_the_mean_of_those_defined() -> None:
    # Three of four right (kappa .5), two of two right but one option only (no kappa).
    both = [pairs([0, 0, 1, 1], [0, 0, 1, 0]), pairs([0, 0], [0, 0], "b")]
    tables = Resampled(item for one in both for item in one.items).unweighted_tables(both)
    assert accuracy(tables, both).tolist() == [5 / 6]
    assert mean_kappa(tables, both).tolist() == [0.5]


def test_what_was_undefined_cannot_fall_and_what_became_undefined_has() -> None:
    some, none = [pairs([0, 1], [0, 1])], [pairs([0, 0], [0, 0])]
    assert figure_fall(none, none, mean_kappa)[:3] == (None, None, Estimate(None))
    assert figure_fall(some, none, mean_kappa)[:3] == (1.0, None, Estimate(None))
    assert figure_fall([], [], accuracy)[:3] == (None, None, Estimate(None))
