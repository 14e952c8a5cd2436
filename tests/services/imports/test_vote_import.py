"""Imported votes are a run: what counts, what is refused, and what must stay equal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.errors import Conflict, InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.votes.imported import VoteBundle
from core.formats.votes.vote_tables import parse_votes
from core.services.agreement import metrics_report
from core.services.imports.vote_import import ImportedRun, bring_in, preview
from core.services.judges.panel_setup import checked_judge
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.store.store import Store

RUBRIC = Rubric(
    name="Replies",
    criteria=(
        Criterion(name="cites", requirement="Cites a source.", weight=1),
        Criterion(
            name="tone",
            requirement="How warm?",
            weight=1,
            scale="ordinal",
            options=tuple(
                Option(label=label, value=value)
                for label, value in (("cold", 0), ("plain", 0.5), ("warm", 1))
            ),
        ),
    ),
)
ITEMS = "\n".join(f'{{"id": "i{n}", "submission": "text {n}"}}' for n in (1, 2, 3))
HEAD = "item_id,criterion,rater_id,rater_kind,label,weight,order,replicate,reason,p_MET,p_UNMET\n"


def line(item: str, criterion: str, rater: str, kind: str, label: str, **more: Any) -> str:
    cells = [more.get(c, "") for c in HEAD.strip().split(",")[5:]]
    return ",".join(map(str, [item, criterion, rater, kind, label, *cells]))


def bundle(*lines: str, name: str = "replies") -> VoteBundle:
    dataset = parse_dataset(ITEMS, "items.jsonl").value
    votes = parse_votes(HEAD + "\n".join(lines) + "\n", "votes.csv", RUBRIC, dataset.items).value
    return VoteBundle(name, "folder", RUBRIC, dataset, votes)


def run_of(done: ImportedRun) -> int:
    assert done.run is not None
    return done.run


TWO_PEOPLE = (
    line("i1", "cites", "ann", "human", "MET", weight=2, reason="p. 4"),
    line("i1", "cites", "bob", "human", "UNMET"),
    line("i1", "tone", "ann", "human", "warm"),
    line("i2", "cites", "ann", "human", "CANNOT_ASSESS"),
    line("i2", "cites", "bob", "human", ""),
)


def test_a_file_of_people_is_a_finished_run_whose_people_count(store: Store) -> None:
    run = store.runs.get(run_of(bring_in(store, bundle(*TWO_PEOPLE), source="votes.csv")))
    assert (run.status, run.kind, run.items) == ("done", "run", 3)
    # Five rows: four answers, one of them an abstention, and one empty label.
    assert (run.planned, run.votes, run.abstentions, run.failures_open) == (5, 4, 1, 1)
    assert [(j.name, j.kind, j.weight, j.shadow) for j in run.panel.judges] == [
        ("ann", "person", 2.0, False),
        ("bob", "person", 1.0, False),
    ]
    assert run.plan.details["imported"]["source"] == "votes.csv"
    (rubric,) = store.rubrics.versions(run.rubric_id)
    assert "votes.csv" in rubric.note
    assert store.verify() == []


def test_verdicts_and_scores_come_from_the_usual_derivation(store: Store) -> None:
    run = run_of(bring_in(store, bundle(*TWO_PEOPLE)))
    cells = {c.criterion: c for c in store.results.cells(run, "i1")}
    # Majority of MET and UNMET is a tie; the worse for a positive weight is UNMET (option 1).
    assert (cells["cites"].option, cells["cites"].tie, cells["cites"].agreement) == (1, True, 0.5)
    assert cells["tone"].option == 2
    # (1 * 0 + 1 * 1) / (1 + 1)
    assert store.results.item(run, "i1").score == 0.5
    # What the file holds is all there is: bob is not missing where he was not asked.
    assert cells["tone"].coverage == 1.0
    # Nobody rated i3: no score, not 0.
    assert store.results.item(run, "i3").score is None


def test_the_reason_and_the_probabilities_stay_with_the_vote(store: Store) -> None:
    row = line("i1", "cites", "m", "llm", "MET", reason="p. 4", p_MET=0.9, p_UNMET=0.1)
    run = run_of(bring_in(store, bundle(row)))
    (vote,) = store.votes.for_item(run, "i1")
    # Choices are MET, UNMET and the added abstention, of which the file says nothing.
    assert (vote.reason, vote.probabilities) == ("p. 4", (0.9, 0.1, 0.0))


def test_people_beside_models_vote_without_counting(store: Store) -> None:
    run = run_of(
        bring_in(
            store,
            bundle(
                line("i1", "cites", "ann", "human", "UNMET"),
                line("i1", "cites", "bob", "human", "UNMET"),
                line("i1", "cites", "m", "llm", "MET"),
                line("i1", "cites", "k", "offline", "MET"),
            ),
        )
    )
    judges = {j.name: (j.kind, j.rater_kind, j.shadow) for j in store.runs.row(run).panel.judges}
    assert judges == {
        "ann": ("person", "human", True),
        "bob": ("person", "human", True),
        "m": ("imported", "llm", False),
        "k": ("imported_offline", "offline", False),
    }
    (cell,) = store.results.cells(run, "i1")
    # Two models say MET (option 0); that two people do not changes no verdict.
    assert (cell.option, cell.votes) == (0, 2)


def test_the_same_votes_again_are_the_same_run(store: Store) -> None:
    first = bring_in(store, bundle(*TWO_PEOPLE))
    assert preview(store, bundle(*TWO_PEOPLE)).run == first.run
    again = bring_in(store, bundle(*TWO_PEOPLE), name="other", source="copy.csv")
    assert again == ImportedRun(first.run, first.rubric_version, first.dataset_version, True)
    assert len(store.runs.list()) == len(store.rubrics.list()) == len(store.datasets.list()) == 1


def test_one_other_label_is_another_run_on_the_same_rubric_and_dataset(store: Store) -> None:
    first = bring_in(store, bundle(*TWO_PEOPLE))
    other = bring_in(store, bundle(*TWO_PEOPLE[:-1]))
    assert other.run != first.run
    assert not other.existed
    assert (other.rubric_version, other.dataset_version) == (
        first.rubric_version,
        first.dataset_version,
    )


def test_answers_in_two_orders_are_two_columns_and_repeats_are_numbered(store: Store) -> None:
    orders = bundle(
        line("i1", "cites", "m", "llm", "MET", order="as is"),
        line("i1", "cites", "m", "llm", "UNMET", order="swapped"),
    )
    names = [r.name for r in preview(store, orders).raters]
    assert names == ["m|as is", "m|swapped"]
    repeats = bundle(
        line("i1", "cites", "m", "llm", "MET"), line("i1", "cites", "m", "llm", "UNMET")
    )
    assert [r.name for r in preview(store, repeats).raters] == ["m|0", "m|1"]


def test_a_person_and_a_model_of_one_name_are_told_apart(store: Store) -> None:
    both = bundle(
        line("i1", "cites", "kim", "human", "MET"), line("i1", "cites", "kim", "llm", "UNMET")
    )
    assert [(r.name, r.kind, r.counts) for r in preview(store, both).raters] == [
        ("kim (human)", "human", False),
        ("kim (llm)", "llm", True),
    ]


def test_the_same_answer_given_twice_is_refused_with_both_lines_and_nothing_is_kept(
    store: Store,
) -> None:
    twice = (
        line("i1", "cites", "m", "llm", "MET", replicate=1),
        line("i1", "cites", "m", "llm", "UNMET", replicate=1),
    )
    with pytest.raises(InputError) as refused:
        bring_in(store, bundle(*twice))
    (problem,) = refused.value.problems
    # The header is line 1.
    assert problem.line == 3
    assert "line 2" in problem.message
    assert store.counts().runs == 0
    assert store.rubrics.list() == []


def test_two_raters_who_would_get_one_name_are_refused(store: Store) -> None:
    # m in the order "swapped" is called "m|swapped", as another rater of the file is already.
    lines = (
        line("i1", "cites", "m", "llm", "MET", order="as is"),
        line("i1", "cites", "m", "llm", "MET", order="swapped"),
        line("i1", "cites", "m|swapped", "llm", "MET"),
    )
    with pytest.raises(InputError, match=r"repeats the answer of 'm\|swapped'"):
        bring_in(store, bundle(*lines))


def test_a_name_too_long_for_a_rater_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="not valid"):
        bring_in(store, bundle(line("i1", "cites", "m" * 101, "llm", "MET")))


def test_nobody_imported_can_be_asked(store: Store) -> None:
    run = run_of(bring_in(store, bundle(*TWO_PEOPLE)))
    for ask in (lifecycle.resume, lifecycle.retry):
        with pytest.raises(Conflict, match="imported votes"):
            ask(store, run)
    assert store.runs.row(run).status == "done"


def test_nobody_can_enter_an_imported_rater_as_a_judge() -> None:
    with pytest.raises(InputError, match="imported with votes"):
        checked_judge({"name": "ann", "kind": "person"})
    assert not Judge(name="ann", kind="person").askable


def test_a_file_without_votes_keeps_rubric_and_dataset_only(store: Store) -> None:
    done = bring_in(store, bundle())
    assert done.run is None
    assert (len(store.rubrics.list()), len(store.datasets.list())) == (1, 1)


def test_a_thousand_raters_fit(store: Store) -> None:
    crowd = bundle(*(line("i1", "cites", f"r{n}", "human", "MET") for n in range(1000)))
    run = store.runs.row(run_of(bring_in(store, crowd)))
    assert (run.votes, len(run.panel.judges)) == (1000, 1000)


def test_an_imported_run_measures_like_the_folder_it_came_from(
    store: Store, tmp_path: Path
) -> None:
    from core.formats.folder import read_folder
    from core.formats.rubrics.rubric_file import dump_rubric
    from core.formats.votes.vote_tables import read_votes

    lines = (
        *TWO_PEOPLE,
        line("i3", "tone", "m", "llm", "plain"),
        line("i1", "tone", "m", "llm", "cold"),
        line("i2", "cites", "m", "llm", ""),
    )
    folder = tmp_path / "replies"
    folder.mkdir()
    (folder / "rubric.yaml").write_text(dump_rubric(RUBRIC, "yaml"))
    (folder / "items.jsonl").write_text(ITEMS)
    (folder / "votes.csv").write_text(HEAD + "\n".join(lines) + "\n")
    rubric, dataset = read_folder(folder)
    votes = read_votes(folder, rubric.value, dataset.value.items).value
    done = bring_in(store, VoteBundle("x", "folder", rubric.value, dataset.value, votes))
    ours = metrics_report.metrics_source(lambda: store, str(done.run))
    assert ours == metrics_report.metrics_source(lambda: store, str(folder))
    assert ours["criteria"]["cites"]["groups"]["human"]["ratings"] == 2


def test_no_run_can_be_planned_with_an_imported_rater(store: Store) -> None:
    done = bring_in(store, bundle(*TWO_PEOPLE))
    panel = Panel(judges=(Judge(name="ann", kind="person"),))
    with pytest.raises(InputError, match="cannot be asked"):
        lifecycle.start(store, RunRequest(done.rubric_version, done.dataset_version, panel))


def test_items_are_imported_without_scipy(tmp_path: Path) -> None:
    # A quarter of a second and 20 MB, of 5 seconds and 300 MB that the longest file may take.
    (tmp_path / "items.csv").write_text("id,answer\na,Paris is the capital\n", encoding="utf-8")
    program = (
        "import sys; from pathlib import Path; from core.store.store import Store\n"
        "from core.services.imports.import_files import import_path\n"
        f"import_path(Store(Path({str(tmp_path / 'new.db')!r})), "
        f"Path({str(tmp_path / 'items.csv')!r}))\n"
        "print('numpy' in sys.modules, 'scipy' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("True False\n", "")
