"""Anchors asked again: what has moved is found, by which version, and is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core.domain.dataset import Item, Label
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError
from core.services.gate import drift as anchors
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.command_line import cli
from tests.provider import Answer, Provider, ok
from tests.services.assist.made import shown_number, text_of
from tests.services.comparison.test_cascade_sweep import voted
from tests.services.comparison.world import ONE
from tests.services.runs.world import graded_by

RUBRIC = Rubric(name="Answers", criteria=(Criterion(name="right", requirement="Is it right?"),))
ITEMS = tuple(
    Item(
        id=f"i{at:02}",
        submission=f"Answer {at} says {'yes' if at % 2 else 'no'}.",
        labels={"right": Label(label="MET" if at % 2 else "UNMET")},
    )
    for at in range(24)
)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        yield server


def anchor(store: Store, judge: Judge) -> int:
    return graded_by(store, judge, RUBRIC, ITEMS)


def by_word(word: str, model: bytes) -> Callable[[dict[str, Any]], Answer]:
    """A judge that says MET where the text has that word, and what it is called today."""

    def rule(body: dict[str, Any]) -> Answer:
        met = f"says {word}" in text_of(body)
        reply = ok(shown_number(body, "MET" if met else "UNMET"))
        return Answer(body=reply.body.replace(b"scripted-model-v1", model))

    return rule


def test_a_model_that_changes_behind_its_name_is_found_and_its_version_told(
    store: Store, provider: Provider
) -> None:
    judge = Judge(name="ada", model="m", api_base=provider.url, price_in=1, price_out=1)
    provider.rule = by_word("yes.", b"m-1")
    run = anchor(store, judge)
    again = anchors.ask(store, run)
    work_here(store, again)

    steady = anchors.drift(store, again)  # a repeat leads to its anchor
    assert (steady.anchor.id, [one.id for one in steady.repeats]) == (run, [again])
    assert steady.alerts == []
    # Nothing differs from the first look, so that no error is known and nothing is promised.
    assert steady.least == ""
    # Asked for real, and nothing of it in the first run's figures.
    assert provider.count == 48
    assert store.runs.row(run).votes == 24

    provider.rule = by_word("", b"m-2")
    changed = anchors.ask(store, run)
    work_here(store, changed)
    found = anchors.drift(store, run)
    (right,) = [one for one in found.series if one.measure == "accuracy"]
    assert [point.look.now for point in right.points] == [1.0, 1.0, 0.5]
    assert right.points[-1].version.startswith("m-2 (")
    (alert, *_) = found.alerts
    assert alert.startswith(
        "ada has drifted: on the same 24 items its answers are the labels' in 50%, when first "
        "asked 100%"
    )
    assert "its version is m-2" in alert
    assert "at first m-1" in alert


def test_the_command_asks_says_and_ends_with_1_where_something_moved(store: Store) -> None:
    rule = {"right": {"contains": "yes"}}
    run = anchor(store, Judge.model_validate({"name": "rules", "kind": "check", "checks": rule}))
    db = ("--db", store.path)
    assert "has not been asked again yet" in cli("drift", run, *db).stdout
    assert "24 items, 0 calls" in cli("drift", run, "--estimate", *db).stdout
    done = cli("drift", run, "--ask", *db)
    assert done.returncode == 0
    assert done.stdout.startswith(f"No judge of run {run} has moved beyond its limits.\n1 look so")
    # The same labels turned round are no drift of the judge: both looks are held against them.
    assert store.runs.list()[0].name.endswith(", asked again")


def test_imported_votes_cannot_be_asked_again(store: Store) -> None:
    run = voted(store, Panel(judges=(ONE, Judge(name="two", kind="imported"))))
    with pytest.raises(InputError, match="its judges cannot be asked"):
        anchors.repeat_request(store, run)
