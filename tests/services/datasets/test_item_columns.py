"""What pages need of a dataset's items, as columns: the same as the items say themselves."""

from __future__ import annotations

import pytest

from core.domain.dataset import Dataset, Item, Label, Message, Pair, Sections
from core.domain.rubric import Criterion, Rubric
from core.formats.datasets.dataset_file import has_text
from core.formats.datasets.labels import TEXT_AVAILABLE
from core.judging.near_duplicates import group_numbers
from core.services.datasets import item_columns
from core.services.datasets.twins import twin_numbers
from core.store.store import Store

NOW = "2026-03-01T10:00:00.000Z"
OWN = Rubric(criteria=(Criterion(name="Own", requirement="Its own?"),))
LABELS = {"Right": Label(label="MET"), "Short": Label(label="UNMET", reason="Too long.")}
ITEMS = (
    Item(id="text", submission="Two words.", labels=LABELS, system="old", tags=("a", "b")),
    Item(id="thought", submission=Sections(thinking="Hm, well.", output="So."), prompt="Own?"),
    Item(id="chat", submission=(Message(role="user", content="Hi you"),), split="evaluation"),
    Item(id="pair", submission=Pair(first="A b", second="C"), rubric=OWN, labels=LABELS),
    Item(id="none", submission="", meta={TEXT_AVAILABLE: False}, system="old", tags=("a", "b")),
    Item(id="blank", submission="", labels={"Right": Label(label="MET")}),
)


@pytest.mark.parametrize("prompt", ["", "Why?"])
@pytest.mark.parametrize("many", [1, 100])
def test_columns_say_what_the_items_say(
    store: Store, monkeypatch: pytest.MonkeyPatch, prompt: str, many: int
) -> None:
    monkeypatch.setattr(item_columns, "MANY", many)
    version = store.datasets.create(Dataset(items=ITEMS, prompt=prompt), now=NOW)
    for _ in range(2):
        found = item_columns.columns_of_version(store, version.id)
        whole = [version.head.resolved(item) for item in store.datasets.items(version.id)]
        assert found.ids == tuple(item.id for item in whole)
        assert [found.kinds[kind] for kind in found.kind.tolist()] == [
            (item.system, item.tags, item.split or "") for item in whole
        ]
        assert found.words.tolist() == [len(item.output.split()) for item in whole]
        assert found.texts.tolist() == list(map(has_text, whole))
        assert found.plain.tolist() == [isinstance(i.submission, str | Sections) for i in whole]
        assert found.pairs.tolist() == [isinstance(item.submission, Pair) for item in whole]
        assert found.own.tolist() == [item.rubric is not None for item in whole]
        prompts = [item.prompt for item in whole]
        numbers = found.prompt.tolist()
        assert [number < 0 for number in numbers] == [not one for one in prompts]
        assert len(set(zip(prompts, numbers, strict=True))) == len(set(prompts))
        assert {(name, label): rows.tolist() for name, label, rows in found.labels} == {
            ("Right", "MET"): [0, 3, 5],
            ("Short", "UNMET"): [0, 3],
        }


def test_items_are_found_by_their_ids_in_any_order(store: Store) -> None:
    version = store.datasets.create(Dataset(items=ITEMS), now=NOW)
    found = item_columns.columns_of_version(store, version.id)
    assert found.rows(["blank", "text"]).tolist() == [5, 0]
    assert found.rows(found.ids).tolist() == list(range(len(ITEMS)))


@pytest.mark.parametrize("prompt", ["", "Why?"])
def test_twins_are_those_of_the_items_whole(store: Store, prompt: str) -> None:
    texts = ({"submission": "So.", "prompt": p} for p in ("Why?", "", "Own?"))
    thought = Item(id="again", submission="Hm, well. So!", prompt="own")
    items = (*ITEMS, thought, *(Item(id=f"so {n}", **text) for n, text in enumerate(texts)))
    version = store.datasets.create(Dataset(items=items, prompt=prompt), now=NOW)
    whole = [version.head.resolved(item) for item in store.datasets.items(version.id)]
    groups, same = twin_numbers(store, version.id)
    assert list(groups) == list(same) == group_numbers(whole)
    # A thought and its answer are one text; two answers "So." are twins under one prompt only.
    assert len(set(groups)) == len(items) - (2 if prompt else 1)
