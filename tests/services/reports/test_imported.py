"""Votes from elsewhere have a report like any others, and come back from what is exported."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from core.blocks.markdown import markdown_paper
from core.blocks.terminal import terminal_text
from core.cli import main
from core.cli.reports_as_text import metrics_as_text
from core.services.agreement.metrics_report import metrics_source
from core.services.comparison.comparison_blocks import comparison_sections
from core.services.comparison.run_comparison import compare_runs, comparison_data
from core.services.imports.import_files import import_path
from core.services.reports.paper import report_as_paper
from core.services.reports.run_report import report_run
from core.store.store import Store
from tests.services.reports.made import MADE, decided

RUBRIC = "name: Tone\ncriteria:\n- name: kind\n  requirement: Is it kind?\n"
#: Per item: what three people and two models said (M: MET, U: UNMET, .: no answer).
ANSWERS = {"a": "MMM MM", "b": "MMU UU", "c": "UUU UM", "d": "UUM U."}
PEOPLE, MODELS = ("p1", "p2", "p3"), ("m1", "m2")


def folder(path: Path, *, models: bool = True) -> Path:
    path.mkdir()
    (path / "rubric.yaml").write_text(RUBRIC)
    (path / "items.jsonl").write_text(
        "".join(f'{{"id": "{item}", "submission": "text {item}"}}\n' for item in ANSWERS)
    )
    lines = ["item_id,criterion,rater_id,rater_kind,label"]
    for item, given in ANSWERS.items():
        people, asked = given.split()
        rows = [(p, "human", a) for p, a in zip(PEOPLE, people, strict=True)]
        rows += [(m, "llm", a) for m, a in zip(MODELS, asked, strict=True) if models]
        labels = {"M": "MET", "U": "UNMET", ".": ""}
        lines += [f"{item},kind,{who},{kind},{labels[a]}" for who, kind, a in rows]
    (path / "votes.csv").write_text("\n".join(lines) + "\n")
    return path


def test_whether_models_may_stand_in_for_people_is_said_alike_everywhere(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Three people and two models who always agree, on as many items as the test takes.
    monkeypatch.setattr(
        f"{__name__}.ANSWERS", {f"i{at}": "MMM MM" if at % 2 else "UUU UU" for at in range(30)}
    )
    runs = [import_path(store, folder(tmp_path / name))["run"] for name in ("one", "two")]
    monkeypatch.setattr(f"{__name__}.ANSWERS", {"i0": "UUU UU", "i1": "MMM MM"})
    few = import_path(store, folder(tmp_path / "few"))["run"]
    says = "The panel may stand in for one of these people, whoever they are: it surely "

    text = metrics_as_text(metrics_source(lambda: store, str(runs[0])))
    assert says in text
    assert (
        "All criteria, m1: as near 1.00; beats 3 of 3 as experts, 3 of 3 as trained people" in text
    )
    written = markdown_paper(report_as_paper(report_run(store, runs[0], created=MADE)))
    assert says in written
    assert "| m2, all criteria | 1.00 | 3 of 3 | 3 of 3 | 3 of 3 |" in written
    compared = compare_runs(store, runs[0], runs[1], bootstrap=0)
    assert terminal_text(comparison_sections(compared)).count(says) == 2
    assert comparison_data(compared)["alt_test"]["a"]["people"] == 3

    # Where it cannot be said, the reason is.
    why = "Whether the panel may stand in for a person is unknown: 0 of at least 3 people have "
    assert why in metrics_as_text(metrics_source(lambda: store, str(few)))
    assert why in markdown_paper(report_as_paper(report_run(store, few, created=MADE)))


def test_models_are_compared_with_the_majority_of_people(store: Store, tmp_path: Path) -> None:
    run = import_path(store, folder(tmp_path / "in"))["run"]
    found = report_run(store, run, created=MADE)

    (line,) = found.criteria
    # Verdicts of the models: a MET, b UNMET, c tied, so the worst: UNMET, d UNMET. The people's
    # majority: a MET, b MET, c UNMET, d UNMET. Right on a, c, d; the most common is right on 2.
    assert found.reference == "people"
    assert (line.labelled, line.accuracy.value, line.commonest.value) == (4, 0.75, 0.5)
    assert line.verdicts == (1, 3)
    assert found.scores.mean.value == 0.25
    assert found.counts.failures == {"empty": 1}
    assert any("There are no labels; verdicts are compared" in one for one in found.limits)
    assert any("the file holds none" in one for one in found.limits)
    tie = "On 1 cell of 4 no option has the most votes; the panel's rules decide it"
    assert any(tie in one for one in found.limits)
    assert not any("asked each question once" in one for one in found.limits)


def test_where_only_people_rated_they_are_the_verdict(store: Store, tmp_path: Path) -> None:
    run = import_path(store, folder(tmp_path / "in", models=False))["run"]
    found = report_run(store, run, created=MADE)

    # Majorities: a and b MET, c and d UNMET.
    assert found.criteria[0].verdicts == (2, 2)
    assert found.scores.mean.value == 0.5
    # Nobody is left to compare them with.
    assert found.reference == ""
    assert found.criteria[0].alpha.value is not None
    assert [rater.kind for rater in found.raters] == ["human"] * 3


def test_an_imported_run_goes_out_and_comes_back_the_same(store: Store, tmp_path: Path) -> None:
    run = import_path(store, folder(tmp_path / "in"))["run"]
    out = tmp_path / "out"
    command = ["export", str(run), "--format", "folder", "--out", str(out), "--db", str(store.path)]
    assert CliRunner().invoke(main, command).exit_code == 0

    again = import_path(store, out)["run"]
    first, second = (metrics_source(lambda: store, str(one)) for one in (run, again))
    assert first == second


def test_an_experiment_folder_is_imported_with_the_same_figures(
    store: Store, tmp_path: Path
) -> None:
    run, out = decided(store), tmp_path / "out"
    command = ["export", str(run), "--format", "autorubric", "--out", str(out)]
    assert CliRunner().invoke(main, [*command, "--db", str(store.path)]).exit_code == 0

    again = report_run(store, import_path(store, out)["run"], created=MADE)

    # 5 of 20 are MET, as before (tests.services.reports.made).
    assert again.criteria[0].verdicts == (5, 15)
    assert again.scores.mean.value == 0.25


def test_of_people_alone_the_verdicts_in_force_are_measured_ties_included(
    store: Store, tmp_path: Path
) -> None:
    # Two people who differ have no majority; their verdict is that of a tie, UNMET, and wrong.
    rated = tmp_path / "people"
    rated.mkdir()
    (rated / "rubric.yaml").write_text(RUBRIC)
    label = '"labels": {"kind": "MET"}'
    (rated / "items.jsonl").write_text(
        "".join(f'{{"id": "i{at}", "submission": "text {at}", {label}}}\n' for at in range(4))
    )
    rows = [f"i{at},kind,{who},human,MET" for at in range(4) for who in ("p1", "p2")]
    rows[-1] = rows[-1].replace(",MET", ",UNMET")
    (rated / "votes.csv").write_text(
        "\n".join(["item_id,criterion,rater_id,rater_kind,label", *rows]) + "\n"
    )
    run = import_path(store, rated)["run"]
    text = markdown_paper(report_as_paper(report_run(store, run)))
    assert "75% (16% to 98%) of the verdicts are right, measured on 4 labels (one on" in text
    assert "100%" not in text.split("How sure that is")[1].split("##")[0]
    assert "| kind | MET | 3 | 75% |" in text
