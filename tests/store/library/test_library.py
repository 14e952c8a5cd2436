"""Rubrics, datasets, judges, panels, drafts and settings: there and back again."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.dataset import Dataset, Item, Message, Sections
from core.domain.library import ItemFilter, SavedDraft
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.errors import Conflict, NotFound
from core.identity import content_hash
from core.store.database.content import dump, like_json, like_pattern, noun_hash, to_json
from core.store.library.datasets import preview_item
from core.store.store import Store
from core.text.names import fold
from tests.store.making import DATASET, LATER, NOW, PANEL, RUBRIC, queued_run

RENAMED = RUBRIC.model_copy(update={"name": "Essay, revised"})


def test_a_rubric_comes_back_as_it_was_saved(store: Store) -> None:
    saved = store.rubrics.create(RUBRIC, now=NOW, author="Ana", note="first")
    assert saved.rubric == RUBRIC
    assert (saved.number, saved.created, saved.author, saved.note) == (1, NOW, "Ana", "first")
    assert saved.hash == content_hash(
        RUBRIC.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    )
    assert store.rubrics.version(saved.id) == saved
    assert store.rubrics.latest(saved.rubric_id) == saved
    assert store.rubrics.find_by_hash(saved.hash) == saved
    assert store.rubrics.find_by_hash("sha256:0") is None


def test_a_rubric_keeps_its_history_newest_first(store: Store) -> None:
    first = store.rubrics.create(RUBRIC, now=NOW)
    second = store.rubrics.add_version(first.rubric_id, RENAMED, parent=1, now=LATER, author="Bo")
    assert second.number == 2
    history = store.rubrics.versions(first.rubric_id)
    assert [(v.number, v.name, v.criteria, v.author) for v in history] == [
        (2, "Essay, revised", 2, "Bo"),
        (1, "Essay", 2, ""),
    ]
    (row,) = store.rubrics.list()
    assert (row.name, row.number, row.version_id, row.created, row.updated) == (
        "Essay, revised", 2, second.id, NOW, LATER,
    )  # fmt: skip


def test_saving_over_somebody_elses_version_is_a_conflict_that_names_them(store: Store) -> None:
    first = store.rubrics.create(RUBRIC, now=NOW)
    store.rubrics.add_version(first.rubric_id, RENAMED, parent=1, now=LATER, author="Bo")
    other = RUBRIC.model_copy(update={"description": "Mine."})
    with pytest.raises(Conflict, match=rf"version 2 was saved by Bo at {LATER}\. Nothing was over"):
        store.rubrics.add_version(first.rubric_id, other, parent=1, now=LATER)
    assert store.rubrics.latest(first.rubric_id).rubric == RENAMED


def test_saving_what_is_there_already_adds_no_version(store: Store) -> None:
    first = store.rubrics.create(RUBRIC, now=NOW)
    assert store.rubrics.add_version(first.rubric_id, RUBRIC, parent=1, now=LATER) == first
    data = store.datasets.create(DATASET, now=NOW)
    assert store.datasets.add_version(data.dataset_id, DATASET, parent=1, now=LATER) == data


def test_archived_and_hidden_rubrics_leave_the_list(store: Store) -> None:
    kept = store.rubrics.create(RUBRIC, now=NOW)
    store.rubrics.create(RENAMED, now=NOW, hidden=True)
    store.rubrics.archive(kept.rubric_id, now=LATER)
    assert store.rubrics.list() == []
    assert [row.archived for row in store.rubrics.list(archived=True)] == [LATER]
    store.rubrics.restore(kept.rubric_id)
    assert [row.id for row in store.rubrics.list()] == [kept.rubric_id]


def test_runs_are_counted_per_rubric_and_spot_checks_are_not(store: Store) -> None:
    queued_run(store)
    queued_run(store, kind="spot")
    assert sorted(row.runs for row in store.rubrics.list()) == [0, 1]
    assert [row.runs for row in store.datasets.list()] == [1]


def test_a_dataset_comes_back_as_it_was_saved(store: Store) -> None:
    saved = store.datasets.create(DATASET, now=NOW, source="essays.csv")
    assert store.datasets.load(saved.id) == DATASET
    assert (saved.items, saved.labelled, saved.number, saved.source) == (3, 2, 1, "essays.csv")
    assert saved.head.items == ()
    assert saved.head.resolved(DATASET.items[0]).prompt == "Write."
    assert store.datasets.latest(saved.dataset_id) == saved
    assert store.datasets.list()[0].version_id == saved.id


def test_every_shape_of_submission_survives(store: Store) -> None:
    data = Dataset(
        rubric=RUBRIC,
        meta={"from": ["x", 1, None]},
        items=(
            Item(id="chat", submission=(Message(role="user", content="Hi"),), tags=("t",)),
            Item(id="two", submission=Sections(thinking="Hm", output="Yes"), rubric=RENAMED),
            Item(id="ünïcode \x00 é", submission="\u2028 line", meta={"k": 1.5}),
        ),
    )
    assert store.datasets.load(store.datasets.create(data, now=NOW).id) == data


def test_the_same_content_is_kept_once_and_listed_again(store: Store) -> None:
    hidden = store.datasets.create(DATASET, now=NOW, hidden=True)
    assert store.datasets.list() == []
    assert store.datasets.create(DATASET, now=LATER) == hidden
    assert [row.id for row in store.datasets.list()] == [hidden.dataset_id]
    store.datasets.archive(hidden.dataset_id, now=LATER)
    assert store.datasets.list() == []
    store.datasets.restore(hidden.dataset_id)
    assert len(store.datasets.list()) == 1


def test_a_dataset_version_made_from_an_old_one_is_a_conflict(store: Store) -> None:
    first = store.datasets.create(DATASET, now=NOW)
    fewer = DATASET.model_copy(update={"items": DATASET.items[:1]})
    other = DATASET.model_copy(update={"items": DATASET.items[1:]})
    second = store.datasets.add_version(first.dataset_id, fewer, parent=1, now=LATER)
    assert (second.number, second.items) == (2, 1)
    with pytest.raises(Conflict, match="version 2 was saved at"):
        store.datasets.add_version(first.dataset_id, other, parent=1, now=LATER)
    assert [v.number for v in store.datasets.versions(first.dataset_id)] == [2, 1]


def test_items_are_browsed_by_page_and_filter(store: Store) -> None:
    version = store.datasets.create(DATASET, now=NOW).id

    def ids(where: ItemFilter) -> str:
        rows = store.datasets.rows(version, where)
        assert store.datasets.count(version, where) == len(rows)
        return "".join(row.id for row in rows)

    assert ids(ItemFilter()) == "abc"
    assert ids(ItemFilter(labelled=True)) == "ab"
    assert ids(ItemFilter(labelled=False)) == "c"
    assert ids(ItemFilter(system="x")) == "ac"
    assert ids(ItemFilter(split="calibration")) == "a"
    assert ids(ItemFilter(search="ESSAY")) == "a"
    assert ids(ItemFilter(search="essay\nabout")) == "a"  # a line break is escaped in JSON
    assert ids(ItemFilter(search="100%")) == "b"
    assert ids(ItemFilter(search="0_%")) == ""  # no wildcards
    assert ids(ItemFilter(search="the sun")) == "c"  # in its prompt
    (middle,) = store.datasets.rows(version, offset=1, limit=1)
    assert (middle.position, middle.preview, middle.labelled) == (1, "100% of snow.", 1)
    assert store.datasets.systems(version) == ["x", "y"]


def test_items_are_fetched_by_id_in_the_order_of_the_dataset(store: Store) -> None:
    version = store.datasets.create(DATASET, now=NOW).id
    assert store.datasets.item(version, "b") == DATASET.items[1]
    assert [item.id for item in store.datasets.items(version, ["c", "a", "c"])] == ["a", "c"]
    with pytest.raises(NotFound, match="'zz'"):
        list(store.datasets.items(version, ["a", "zz"]))
    with pytest.raises(NotFound, match="'zz'"):
        store.datasets.item(version, "zz")


def test_more_items_than_a_page_come_whole_and_in_order(store: Store) -> None:
    ids = [f"i{n}" for n in range(1201)]  # pages are 500
    data = Dataset(items=tuple(Item(id=i, submission="x") for i in ids))
    version = store.datasets.create(data, now=NOW).id
    assert [item.id for item in store.datasets.items(version)] == ids


def test_labels_are_counted_by_criterion(store: Store) -> None:
    version = store.datasets.create(DATASET, now=NOW).id
    assert store.datasets.label_counts(version) == {"Clear": {"MET": 2}, "Brief": {"UNMET": 1}}


def test_a_preview_is_one_short_line() -> None:
    assert preview_item(Item(id="a", submission=" a\n\n b ")) == "a b"
    long = preview_item(Item(id="a", submission="word " * 1000))
    assert (len(long), long[-1]) == (200, "…")


def test_a_judge_is_kept_by_name_and_its_name_is_free_once_archived(store: Store) -> None:
    store.judges.save(Judge(name="ann", model="m"), now=NOW)
    row = store.judges.save(Judge(name="ann", model="n", weight=3), now=LATER)
    assert (row.judge.model, row.created, row.updated) == ("n", NOW, LATER)
    assert store.judges.list() == [row]
    store.judges.archive("ann", now=LATER)
    with pytest.raises(NotFound):
        store.judges.archive("ann", now=LATER)
    assert store.judges.save(Judge(name="ann", model="m"), now=LATER).id != row.id
    assert len(store.judges.list(archived=True)) == 1


def test_a_panel_is_kept_by_name(store: Store) -> None:
    first = store.panels.save(PANEL, now=NOW)
    assert first.panel == PANEL
    alone = Panel(name="Two", judges=PANEL.judges[:1])
    again = store.panels.save(alone, now=LATER)
    assert (again.id, again.panel, again.created) == (first.id, alone, NOW)
    assert again.hash != first.hash
    assert store.panels.list() == [again]
    store.panels.archive(first.id, now=LATER)
    assert store.panels.list() == []
    assert store.panels.get(first.id).archived == LATER


def test_drafts_and_settings_survive_opening_the_file_again(store: Store) -> None:
    store.drafts.save("rubric:1", {"name": "Half"}, now=NOW)
    store.drafts.save("rubric:1", {"name": "Half do"}, now=LATER)
    store.drafts.save("item:1", [1], now=NOW)
    store.settings.put("seen", {"tour": True})
    store.close()
    again = Store(store.path)
    assert again.drafts.get("rubric:1") == SavedDraft("rubric:1", {"name": "Half do"}, LATER)
    assert [draft.key for draft in again.drafts.list()] == ["rubric:1", "item:1"]
    assert [draft.key for draft in again.drafts.list("item:")] == ["item:1"]
    again.drafts.delete("rubric:1")
    again.drafts.delete("rubric:1")
    assert again.drafts.get("rubric:1") is None
    assert again.settings.get("seen") == {"tour": True}
    assert again.settings.get("unknown", 7) == 7
    again.close()


def test_unknown_ids_are_not_found(store: Store) -> None:
    for verb in (
        store.rubrics.latest, store.rubrics.version, store.rubrics.versions, store.rubrics.restore,
        store.datasets.latest, store.datasets.version, store.datasets.restore, store.panels.get,
        store.runs.get, store.runs.row, store.votes.call,
    ):  # fmt: skip
        with pytest.raises(NotFound, match="99"):
            verb(99)


def test_verify_finds_content_that_was_changed_behind_our_back(store: Store) -> None:
    rubric = store.rubrics.create(RUBRIC, now=NOW)
    data = store.datasets.create(DATASET, now=NOW)
    assert store.verify() == []
    other = to_json({"name": "x", "criteria": []})
    connection = sqlite3.connect(store.path)
    connection.execute("DROP TRIGGER rubric_version_is_never_updated")
    connection.execute("DROP TRIGGER item_is_never_updated")
    connection.execute("UPDATE rubric_version SET content = ?", (other,))
    connection.execute("UPDATE item SET content = replace(content, 'rain', 'hail')")
    connection.commit()
    connection.close()
    wrong = store.verify()
    assert [version[:3] for version in wrong] == [
        ("rubric", rubric.id, rubric.hash),
        ("dataset", data.id, data.hash),
    ]
    assert wrong[0][3] == content_hash(json.loads(other))


def test_counts_say_what_is_in_use(store: Store) -> None:
    queued_run(store)
    queued_run(store, kind="spot")
    store.judges.save(Judge(name="ann", model="m"), now=NOW)
    store.rubrics.archive(store.rubrics.list()[0].id, now=LATER)
    counts = store.counts()
    assert (counts.rubrics, counts.datasets, counts.judges, counts.panels) == (1, 1, 1, 0)
    assert (counts.runs, counts.spot_checks, counts.votes, counts.failures_open) == (1, 1, 0, 0)


@given(st.text(st.characters(), max_size=20))
def test_json_and_search_patterns_take_any_text(text: str) -> None:
    # st.characters() includes lone surrogates, which UTF-8 (and so SQLite) cannot hold.
    stored = to_json([text])
    assert json.loads(stored) == [text]
    connection = sqlite3.connect(":memory:")
    (kept,) = connection.execute("SELECT ?", (stored,)).fetchone()
    assert kept == stored
    if text.isprintable():
        query = r"SELECT ? LIKE ? ESCAPE '\', ? LIKE ? ESCAPE '\'"
        values = (f"<{text}>", like_pattern(text), f"<{stored}>", like_json(text))
        assert connection.execute(query, values).fetchone() == (1, 1)
    connection.close()


@given(st.lists(st.text(min_size=1, max_size=5).filter(str.strip), min_size=1, unique=True))
def test_the_hash_depends_on_content_alone(names: list[str]) -> None:
    folded = {fold(name): name for name in names if fold(name)}
    if not folded:
        return
    rubric = Rubric(
        criteria=tuple(Criterion(name=n, requirement="R") for n in folded.values()), name="n"
    )
    assert noun_hash(Rubric.model_validate_json(to_json(dump(rubric)))) == noun_hash(rubric)


def test_a_dataset_is_saved_without_a_second_copy_of_its_texts(store: Store) -> None:
    items = tuple(Item(id=str(n), submission=f"{n} {'word ' * 100}") for n in range(4000))
    dataset = Dataset(items=items)
    tracemalloc.start()
    try:
        store.datasets.create(dataset, now=NOW)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Texts have 500 bytes; with all of them as JSON it was 1,660 bytes an item, now 420.
    assert peak / len(items) < 800
