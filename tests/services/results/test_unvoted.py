"""A verdict that no vote chose says so, wherever it is shown."""

from __future__ import annotations

import pytest

from core.cli.reports_as_text import item_as_data, item_as_text
from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel, Rules
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.runs import RunPlan
from core.domain.votes import AskedOutcome, Cell, Verdict, Vote
from core.domain.weight_fit import Weights
from core.scoring.verdict import Ballot, settle
from core.services.exports import judgement_rows
from core.services.reports import run_report
from core.services.results.item_view import averaged_in_words, has_unvoted_option
from core.services.results.scored_items import derivation_for
from core.store.store import Store
from pages.ui.items import verdict_chips

DEPTH = Criterion(
    name="Depth",
    requirement="How deep is it?",
    scale="ordinal",
    options=(
        Option(label="None", value=0.0),
        Option(label="Some", value=0.5),
        Option(label="Deep", value=1.0),
    ),
)
NONE, SOME, DEEP = 0, 1, 2


def settled(rule: str, *options: int, weights: Weights | None = None) -> Verdict:
    cast = [Ballot(option, False, 1.0, "abcdefgh"[at]) for at, option in enumerate(options)]
    verdict = settle(DEPTH, cast, Rules.model_validate({"ordinal": rule}), weights=weights)
    assert verdict is not None
    return verdict


@pytest.mark.parametrize(
    ("rule", "options", "words"),
    [
        # (0 + 1 + 1) / 3 = .67: nobody said Some, which is nearer than Deep.
        ("mean", (NONE, DEEP, DEEP), "between Some and Deep: mean 0.67, nearest Some"),
        ("mean", (NONE, DEEP), "mean 0.50, which is Some; no vote is for it"),
        ("median", (NONE, DEEP), "median 0.50, which is Some; no vote is for it"),
        ("mean", (NONE, SOME), ""),  # .25, as near to either: the worse, which one vote is for
        ("mean", (SOME, SOME), ""),
        ("mode", (NONE, DEEP), ""),
    ],
)
def test_a_mean_between_options_is_said_with_its_neighbours(
    rule: str, options: tuple[int, ...], words: str
) -> None:
    verdict = settled(rule, *options)
    assert averaged_in_words(DEPTH, verdict) == words
    assert has_unvoted_option(verdict) is bool(words)


def test_an_option_read_from_labels_is_not_shown_as_chosen() -> None:
    always = Weights(prior=(0.0, 9.0, 0.0), judges={"a": ((0.0,) * 3,) * 3}, overrules=True)
    verdict = settled("mean", DEEP, weights=always)
    assert averaged_in_words(DEPTH, verdict) == (
        "Some is what the votes meant on labelled items; no vote says so"
    )


def test_what_people_settled_is_a_choice_and_nothing_settled_says_nothing() -> None:
    by_people = settled("mean", NONE, DEEP, DEEP)._replace(rule="adjudicated", voted=SOME)
    assert averaged_in_words(DEPTH, by_people) == averaged_in_words(DEPTH, None) == ""


def test_chips_have_a_tick_only_where_somebody_chose() -> None:
    chips, said = verdict_chips(DEPTH, settled("mean", NONE, DEEP, DEEP))
    assert "✓" not in chips
    assert "≈" in chips
    assert "between Some and Deep: mean 0.67, nearest Some" in said
    (voted,) = verdict_chips(DEPTH, settled("mean", SOME, SOME))
    assert "✓" in voted
    assert "≈" not in voted


def test_show_export_and_report_say_it(store: Store) -> None:
    run_id = graded(store)
    words = "between Some and Deep: mean 0.67, nearest Some"

    assert item_as_data(store, run_id, "i")["criteria"]["Depth"]["between"] == words
    assert f"Depth: Some ({words})" in item_as_text(store, run_id, "i")
    (row,) = judgement_rows.verdict_rows(judgement_rows.load_graded(store, run_id))
    assert (row["verdict"], row["between"]) == ("Some", words)
    assert [
        limit for limit in run_report.report_run(store, run_id).limits if "got no vote" in limit
    ] == [
        "1 verdict of 1 is an option that got no vote: the result of the votes lies between "
        "options, and the nearest is shown."
    ]


def graded(store: Store) -> int:
    now, dataset = "2026-03-01T10:00:00.000Z", Dataset(items=(Item(id="i", submission="x"),))
    rubric = Rubric(criteria=(DEPTH,))
    judges = tuple(Judge(name=name, model="m") for name in "abc")
    plan = RunPlan(
        name="Run",
        rubric_version_id=store.rubrics.create(rubric, now=now).id,
        dataset_version_id=store.datasets.create(dataset, now=now).id,
        panel=Panel(judges=judges, rules=Rules(ordinal="mean")),
    )
    run = store.runs.create(plan, [("i", 3)], now=now)
    lease = store.leases.claim("me", at=0.0, seconds=1e12, run_id=run.id)
    assert lease is not None
    outcomes = [
        AskedOutcome((Vote(Cell("i", "Depth", judge), option, abstained=False),))
        for judge, option in zip("abc", (NONE, DEEP, DEEP), strict=True)
    ]
    derive = derivation_for(plan, rubric, dataset.items)
    store.votes.record(
        run.id, outcomes, owner=lease.owner, fence=lease.fence, now=now, derive=derive
    )
    store.leases.release(lease, "done", now=now)
    return run.id
