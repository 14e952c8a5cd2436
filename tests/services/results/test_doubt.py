"""The cells in doubt of a run: what failed, what judges disagree on, what they would not assess."""

from __future__ import annotations

import json

from click.testing import CliRunner

from core.cli.main import main
from core.services.results.doubt import doubtful_cells
from core.store.store import Store
from tests.pages.graded import FIRST, graded
from tests.services import reviewed


def test_failures_come_first_then_what_is_split_then_abstentions(store: Store) -> None:
    # tests.pages.graded: ann's calls failed on c; a is split on Clear; b was not assessed on Depth.
    found = doubtful_cells(store, graded(store))
    assert [(one.item, one.criterion, one.why) for one in found] == [
        ("c", "Clear", "failed"),
        ("c", "Depth", "failed"),
        (FIRST, "Clear", "split"),
        ("b", "Depth", "abstained"),
    ]
    assert (found[0].failures, found[2].agreement, found[3].abstentions) == (1, 0.5, 2)


def test_what_people_settled_is_in_doubt_no_more(store: Store) -> None:
    run = reviewed.graded(store)
    before = {(one.item, one.criterion) for one in doubtful_cells(store, run.id)}
    queue = reviewed.make_queue(store, run)
    item = sorted(one for one, _ in before)[0]
    reviewed.settle(store, reviewed.sit(store, "Ada"), queue, item, reviewed.MET, note="Looked.")
    after = {(one.item, one.criterion) for one in doubtful_cells(store, run.id)}
    assert after < before


def test_the_command_line_lists_them(store: Store) -> None:
    run = str(graded(store))
    place = ("--db", str(store.path))
    text = CliRunner().invoke(main, ["show", run, "--doubt", *place]).output
    assert "c  Clear  failed: 1 call gave no vote" in text
    assert f"{FIRST}  Clear  split: UNMET, agreement 0.50" in text
    assert "b  Depth  abstained: 2 votes" in text
    one = CliRunner().invoke(main, ["show", run, "b", "--doubt", "--json", *place]).output
    assert [c["criterion"] for c in json.loads(one)["cells"]] == ["Depth"]
    assert CliRunner().invoke(main, ["show", run, "nobody", "--doubt", *place]).exit_code == 2
