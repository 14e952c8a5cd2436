"""`queue` and `regrade`: made, counted, brought up to date and listed from a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner

from core.cli.main import main
from core.cli.review.queues import ORDERS, terminal_name
from core.domain.panel import Judge, Panel
from core.domain.review import Order, QueueRule, QueueSettings
from core.errors import InputError
from core.services.review import queues
from core.store.store import Store
from tests.services import reviewed
from tests.services.guided import test_ten_more as ten_texts


def said(store: Store, *words: str) -> str:
    result = CliRunner().invoke(main, ["queue", *words, "--db", str(store.path)])
    assert result.exit_code == 0, result.output
    return result.output


def test_a_queue_with_a_cap_is_counted_and_then_made_from_a_terminal(store: Store) -> None:
    reviewed.graded(store, 8)
    wanted = ("make", "1", "--most", "4", "--audit", "0", "--because", "split")
    # Of eight items six are split on both criteria: twelve cells, of which eight are cut.
    counted = json.loads(said(store, *wanted, "--dry-run", "--json"))
    assert (counted["queue"], counted["cells"], counted["left_out_by_cap"]) == (None, 4, 8)
    assert queues.queues_of_run(store) == []
    assert "8 more also match and are left out by the cap." in said(store, *wanted)
    assert queues.queue_progress(store, 1).total == 4
    assert "0 of 4" in said(store, "list", "1")
    assert "0 cells added" in said(store, "refresh", "1")


def test_the_audit_of_a_capped_queue_is_counted_beside_the_doubtful_cells(store: Store) -> None:
    reviewed.graded(store, 24)
    wanted = ("make", "1", "--most", "10", "--audit", "0.2")
    # 36 of 48 cells are doubtful; a fifth of ten is two.
    assert "10 cells of" in said(store, *wanted, "--dry-run")
    assert "8 doubtful, 2 random" in said(store, *wanted, "--dry-run")
    made = json.loads(said(store, *wanted, "--json"))
    assert (made["cells"], made["doubtful"], made["random"]) == (10, 8, 2)
    strata = [cell.stratum for cell in store.queues.cells(made["queue"])]
    assert (strata.count("rule"), strata.count("audit")) == (8, 2)
    (row,) = json.loads(said(store, "list", "1", "--json"))["queues"]
    assert (row["doubtful"], row["random"]) == (8, 2)


def test_few_random_cells_are_not_called_too_few_beside_labels_drawn_before(store: Store) -> None:
    run = reviewed.graded(store, 24)
    wanted = ("make", "1", "--most", "10", "--audit", "0.2", "--dry-run")
    assert "8 doubtful, 2 random (too few to speak of all cells: that takes 10)." in said(
        store, *wanted
    )
    drawn = reviewed.make_queue(store, run, QueueRule.only(audit_share=0.4), seed=1)
    for item in {cell.item_id for cell in store.queues.cells(drawn)}:
        reviewed.settle(store, reviewed.sit(store, "Ada"), drawn, item, 0)

    assert "8 doubtful, 2 random." in said(store, *wanted)


def test_criteria_that_are_not_there_are_said(store: Store) -> None:
    reviewed.graded(store, 4)
    # Also beside one that is there, and where only counted: it would choose nothing, unsaid.
    for more in ([], ["--criterion", "Right"], ["--dry-run"]):
        words = ["queue", "make", "1", "--criterion", "Rigth", *more, "--db", str(store.path)]
        result = CliRunner().invoke(main, words)
        assert result.exit_code == 2
        assert "Run 1 has no criterion 'Rigth'. It has Right, " in result.output
    rule = QueueRule(criteria=("Rigth",))
    with pytest.raises(InputError, match="none of the cells that you name"):
        queues.make_queue(store, terminal_name(), 1, "Mine", rule, QueueSettings())
    assert queues.queues_of_run(store) == []


def test_regrade_requests_are_brought_queued_and_listed_from_a_terminal(
    store: Store, tmp_path: Path
) -> None:
    reviewed.graded(store, 4)

    def regrade(*words: str) -> str:
        result = CliRunner().invoke(main, ["regrade", *words, "--db", str(store.path)])
        assert result.exit_code == 0, result.output
        return result.output

    assert "Kept on 1 cell of run 1." in regrade(
        *("add", "1", "i1", "--criterion", "Right", "--note", "Look.", "--from", "Tom")
    )
    file = tmp_path / "requests.csv"
    file.write_text("item,note,from\ni2,Not read.,Tim\n")
    # Both criteria of i2.
    assert "They wait in queue 1" in regrade("import", "1", str(file), "--queue")
    assert queues.queue_progress(store, 1).total == 3
    found = json.loads(regrade("list", "1", "--json"))["requests"]
    assert {(one["by"], one["status"], one["queue"]) for one in found} == {
        ("Tom", "open", 1),
        ("Tim", "open", 1),
    }
    assert regrade("list", "1", "--csv").startswith("request,item,criterion,from,note")
    regrade("add", "1", "i3", "--criterion", "Right", "--note", "Oops.", "--from", "Tom")
    newest = json.loads(regrade("list", "1", "--json"))["requests"][0]
    words = regrade("withdraw", "1", str(newest["event_id"]), "--reason", "Another student's.")
    assert words == f"Took back request {newest['event_id']}.\n"
    assert "withdrawn" in regrade("list", "1")


def test_the_orders_offered_are_those_there_are() -> None:
    assert get_args(Order) == ORDERS


def test_the_next_ten_texts_are_queued_and_what_they_taught_is_told(store: Store) -> None:
    run = ten_texts.made(store, panel=Panel(judges=(Judge(name="one", kind="classifier"),)))
    told = json.loads(said(store, "ten", str(run), "--dry-run", "--json"))
    assert (told["queue"], told["texts"], told["graded"]) == (None, 10, 0)
    assert queues.queues_of_run(store) == []
    assert "Queue 1: 10 texts, drawn at random. 0 are graded." in said(store, "ten", str(run))
    # An unfinished ten is named again.
    assert json.loads(said(store, "ten", str(run), "--json"))["queue"] == 1
    ten_texts.grade(store, 1)
    text = said(store, "ten", str(run))
    assert "Queue 2: 10 texts, drawn at random. 10 are graded.\nclear: " in text
    assert text.rstrip().endswith("1 criterion of 1 cannot be judged yet: grade ten more.")
