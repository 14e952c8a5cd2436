"""Rows: in, kept, followed through renames, and out again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.dataset import Dataset, Item, Label, Message
from core.errors import InputError
from core.services.rubrics import draft_criteria, library
from core.services.spot import request
from core.services.workbench import bench_rows
from core.services.workbench.bench_rows import MOST_ROWS, item_from, new_row
from core.services.workbench.rows_in_out import (
    count_other_teachers,
    open_in_spot_check,
    rows_in_text,
    rows_of_items,
    save_dataset,
    teach_with,
    worked_examples,
)
from core.store.store import Store
from tests.new_store import new_store
from tests.services.workbench.made import NAME, RUBRIC, draft, filled

NOW = "2026-03-01T10:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = new_store(tmp_path / "studio.db")
    yield made
    made.close()


def test_plain_lines_are_submissions_and_a_table_brings_labels() -> None:
    assert [r["submission"] for r in rows_in_text("The Moon.\n\n Wind. \n", None)] == [
        "The Moon.",
        "Wind.",
    ]
    table = "submission\tprompt\tlabel:Cause\treason:Cause\nThe Moon.\tWhy?\tMET\tnames it\n"
    (row,) = rows_in_text(table, RUBRIC)
    assert (row["submission"], row["prompt"]) == ("The Moon.", "Why?")
    assert (row["expected"], row["reasons"]) == ({"Cause": "MET"}, {"Cause": "names it"})
    (other,) = rows_in_text('{"submission": "Wind.", "reference": "Moon"}', RUBRIC)
    assert (other["submission"], other["reference"]) == ("Wind.", "Moon")


def test_a_sentence_with_commas_is_no_table() -> None:
    (row,) = rows_in_text("First, the Moon pulls, then the water follows.", None)
    assert row["submission"] == "First, the Moon pulls, then the water follows."


def test_nothing_and_a_faulty_table_are_refused() -> None:
    with pytest.raises(InputError, match="nothing to paste"):
        rows_in_text(" \n", None)
    with pytest.raises(InputError):
        rows_in_text('{"submission": ', None)


def test_items_come_with_labels_and_keep_their_shape(store: Store) -> None:
    chat = (Message(role="user", content="Why?"), Message(role="assistant", content="The Moon."))
    dataset = Dataset(
        name="Answers",
        prompt="Why are there tides?",
        items=(
            Item(id="a", submission=chat, labels={"Cause": Label(label="MET", reason="named")}),
            Item(id="b", submission="Wind."),
        ),
    )
    version = store.datasets.create(dataset, now=NOW).id
    chat_row, plain = rows_of_items(store, version, ["a", "b"])
    assert item_from(chat_row).submission == chat
    assert (chat_row["expected"], chat_row["reasons"]) == ({"Cause": "MET"}, {"Cause": "named"})
    assert (plain["prompt"], plain["source"]) == ("Why are there tides?", "Answers, b")


def test_worked_examples_of_library_criteria_become_rows() -> None:
    made = draft()
    made["criteria"][0]["meta"] = {
        "example": {"submission": "Moon.", "prompt": "Why?", "option": "MET", "why": "named"}
    }
    (row,) = worked_examples(made)
    assert (row["submission"], row["expected"], row["reasons"]) == (
        "Moon.",
        {"Cause": "MET"},
        {"Cause": "named"},
    )


def test_every_change_is_kept_at_once_and_a_removed_row_can_be_put_back(store: Store) -> None:
    first, second, _ = filled(store)
    bench_rows.set_row(store, NAME, first, prompt="Why?")
    bench_rows.duplicate_row(store, NAME, first)
    bench_rows.expect(store, NAME, first, "Cause", None)
    gone = bench_rows.remove_row(store, NAME, second)
    again = Store(store.path)
    rows = bench_rows.saved_workbench(again, NAME)["rows"]
    again.close()
    assert [r["prompt"] for r in rows] == ["Why?", "Why?", ""]
    assert [r["expected"].get("Cause") for r in rows] == [None, "MET", "MET"]
    assert len({r["uid"] for r in rows}) == 3
    assert gone is not None
    bench_rows.add_rows(store, NAME, [gone])
    assert bench_rows.saved_workbench(store, NAME)["rows"][-1]["uid"] == second


def test_too_many_rows_are_refused_and_none_is_added(store: Store) -> None:
    with pytest.raises(InputError, match="Save these as a dataset"):
        bench_rows.add_rows(store, NAME, [new_row("x") for _ in range(MOST_ROWS + 1)])
    assert bench_rows.saved_workbench(store, NAME)["rows"] == []


def test_expectations_follow_a_renamed_criterion_and_a_renamed_option(store: Store) -> None:
    first, *_ = filled(store)
    before = draft()
    bench_rows.followed(store, NAME, before)
    cause, depth = before["criteria"]
    renamed = draft_criteria.set_criterion(before, cause["uid"], "name", "Reason")
    deep = depth["options"][1]["uid"]
    renamed = draft_criteria.set_option(renamed, depth["uid"], deep, "label", "Thorough")
    bench = bench_rows.followed(store, NAME, renamed)
    assert bench["rows"][0]["expected"] == {"Reason": "MET", "Depth": "Thorough"}
    assert bench_rows.saved_workbench(store, NAME) == bench
    assert first == bench["rows"][0]["uid"]


def test_expectations_follow_a_rename_that_was_saved_meanwhile(store: Store) -> None:
    """Saving gives new uids; then the same requirement tells that it is the same criterion."""
    filled(store)
    bench_rows.followed(store, NAME, draft())
    renamed = RUBRIC.criteria[0].model_copy(update={"name": "Reason"})
    later = draft(RUBRIC.model_copy(update={"criteria": (RUBRIC.criteria[1], renamed)}))
    later["parent"] = 2
    bench = bench_rows.followed(store, NAME, later)
    assert bench["rows"][1]["expected"] == {"Reason": "UNMET"}


def test_saving_a_new_rubric_takes_its_workbench_along(store: Store) -> None:
    filled(store)
    saved = library.save(store, NAME, draft())
    assert len(bench_rows.saved_workbench(store, str(saved.rubric_id))["rows"]) == 3
    assert bench_rows.saved_workbench(store, NAME)["rows"] == []


def test_rows_become_a_dataset_in_two_parts_that_spot_check_opens(store: Store) -> None:
    first, second, _ = filled(store)
    bench_rows.set_row(store, NAME, second, example=True)
    version = save_dataset(store, NAME, "Tide tests")
    items = store.datasets.load(version.id).items
    assert [i.split for i in items] == ["evaluation", "calibration", "evaluation"]
    assert items[0].labels["Depth"].label == "Deep"
    assert [row.name for row in store.datasets.list()] == ["Tide tests"]
    saved = library.save(store, NAME, draft())
    open_in_spot_check(store, str(saved.rubric_id), first, version.id)
    form = request.opened_form(store)
    assert (form.way, form.dataset, form.item) == ("item", version.id, first)
    assert form.rubric == str(saved.rubric_id)


def test_nothing_to_save_is_said(store: Store) -> None:
    with pytest.raises(InputError, match="No row has a text"):
        save_dataset(store, NAME, "Empty")


def test_a_row_teaches_in_a_dataset_of_ones_choice(store: Store) -> None:
    first, *_ = filled(store)
    items = (Item(id="x", submission="Rain.", labels={"Cause": Label(label="UNMET")}),)
    made = store.datasets.create(Dataset(name="Course", items=items), now=NOW)
    assert count_other_teachers(store, made.dataset_id) == (1, 0)
    version = teach_with(store, NAME, first, made.dataset_id)
    taught = store.datasets.load(version.id).items
    assert (version.number, [i.split for i in taught]) == (2, [None, "calibration"])
    assert taught[1].labels["Cause"].label == "MET"
    # The same text again gives no second item.
    bench_rows.expect(store, NAME, first, "Cause", "UNMET")
    again = teach_with(store, NAME, first, made.dataset_id)
    twice = store.datasets.load(again.id).items
    assert [i.labels["Cause"].label for i in twice] == ["UNMET", "UNMET"]
    nothing = new_row("Fog.")
    bench_rows.add_rows(store, NAME, [nothing])
    with pytest.raises(InputError, match="which option is right"):
        teach_with(store, NAME, nothing["uid"], made.dataset_id)
