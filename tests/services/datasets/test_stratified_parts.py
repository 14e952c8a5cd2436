"""Splits into train, calibration and test; and what labels say under a rubric."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.dataset import Dataset, Item, Label
from core.domain.panel import Asking, Judge, Panel
from core.domain.rubric import Criterion, Option, Rubric
from core.errors import InputError
from core.metrics.agreement.ratings import majority_baseline, normalised_entropy
from core.services.datasets import splits
from core.services.datasets.label_stats import label_stats, stats_of
from core.services.datasets.splits import (
    PARTS,
    PartName,
    SplitItems,
    save_parts,
    split_of_version,
)
from core.services.runs.planning import RunRequest, plan_run
from core.store.store import Store
from tests.new_store import new_store

NOW = "2026-03-01T10:00:00.000Z"
SHARES: dict[PartName, int] = {"train": 60, "calibration": 20, "test": 20}


def items(labels: str) -> list[Item]:
    """One item per letter, which is its label; a dot is none."""
    return [
        Item(id=f"i{at}", submission=f"x{at}", labels={} if c == "." else {"tone": Label(label=c)})
        for at, c in enumerate(labels)
    ]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One data file for all datasets that are only drawn from."""
    store = new_store(tmp_path_factory.mktemp("shelf") / "studio.db")
    yield store
    store.close()


def drawn(
    store: Store, made: list[Item], shares: dict[PartName, int], seed: int, by: str | None = None
) -> SplitItems:
    version = store.datasets.create(Dataset(items=tuple(made)), now=NOW)
    return split_of_version(store, version.id, shares, seed, by)


@st.composite
def percents(draw: st.DrawFn) -> dict[PartName, int]:
    train = draw(st.integers(0, 100))
    calibration = draw(st.integers(0, 100 - train))
    return {"train": train, "calibration": calibration, "test": 100 - train - calibration}


@given(st.text("abcd.", min_size=1, max_size=80), percents(), st.integers(0, 9))
def test_parts_are_disjoint_cover_all_and_keep_their_shares(
    shelf: Store, labels: str, shares: dict[PartName, int], seed: int
) -> None:
    if set(labels) == {"."}:
        return
    made = items(labels)
    found = drawn(shelf, made, shares, seed)

    everyone = [*found.unlabelled, *(i for part in PARTS for i in found.members[part])]
    assert sorted(everyone) == sorted(item.id for item in made)
    n = len(labels.replace(".", ""))
    for part in PARTS:
        assert abs(len(found.members[part]) - n * shares[part] / 100) < 1
        for letter, count in Counter(labels.replace(".", "")).items():
            # A stratum gives a part its share rounded; where the share is whole, one more at most.
            assert abs(found.by_label["tone"][letter][part] - count * shares[part] / 100) <= 1
    assert drawn(shelf, made, shares, seed) == found


def test_another_seed_draws_other_items(shelf: Store) -> None:
    made = items("ab" * 20)
    assert drawn(shelf, made, SHARES, 1).members != drawn(shelf, made, SHARES, 2).members


def test_labels_are_spread_alike_over_the_parts(shelf: Store) -> None:
    found = drawn(shelf, items("a" * 50 + "b" * 10), SHARES, 7)

    # 60, 20, 20% of 50 and of 10.
    assert found.by_label["tone"] == {
        "a": {"train": 30, "calibration": 10, "test": 10},
        "b": {"train": 6, "calibration": 2, "test": 2},
    }


def test_one_criterion_can_decide_the_strata(shelf: Store) -> None:
    made = [
        Item(
            id=f"i{at}",
            submission=f"x{at}",
            labels={"tone": Label(label="ab"[at % 2]), "own": Label(label=str(at))},
        )
        for at in range(20)
    ]
    found = drawn(shelf, made, {"train": 50, "calibration": 0, "test": 50}, 3, by="tone")

    assert found.by_label["tone"]["a"] == {"train": 5, "calibration": 0, "test": 5}


@pytest.mark.parametrize(
    ("labels", "shares", "said"),
    [
        ("ab", {"train": 50, "calibration": 20, "test": 20}, "add up to 100"),
        ("ab", {"train": 120, "calibration": -40, "test": 20}, "add up to 100"),
        ("..", SHARES, "No item has a label"),
    ],
)
def test_what_cannot_be_split_is_refused(
    shelf: Store, labels: str, shares: dict[PartName, int], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        drawn(shelf, items(labels), shares, 1)


def test_a_saved_split_keeps_what_teaches_out_of_the_figures(tmp_path: Path) -> None:
    store = new_store(tmp_path / "studio.db")
    rubric = Rubric(
        criteria=(
            Criterion(
                name="tone",
                requirement="Which?",
                scale="nominal",
                options=(Option(label="a", value=0), Option(label="b", value=1)),
            ),
        )
    )
    first = store.datasets.create(Dataset(items=tuple(items("ab" * 10 + "."))), now=NOW)

    parts = split_of_version(store, first.id, SHARES, 5)
    saved = save_parts(store, first.id, parts, 5)

    assert (saved.number, saved.source) == (2, "split of version 1, seed 5")
    judge = Judge(name="j", model="m", api_base="http://localhost:1/v1")
    planned = plan_run(
        store,
        RunRequest(
            rubric_version=store.rubrics.create(rubric, now=NOW).id,
            dataset_version=saved.id,
            panel=Panel(judges=(judge,), asking=Asking(few_shot=2)),
            seed=1,
        ),
    )
    # Train and calibration teach; test is graded, and so is the item without a label.
    assert {i.id for i in planned.calibration} == {
        *parts.members["train"],
        *parts.members["calibration"],
    }
    assert {i.id for i in planned.items} == {*parts.members["test"], "i20"}
    tags = Counter(tag for item in store.datasets.items(saved.id) for tag in item.tags)
    assert tags == {"split:train": 12, "split:calibration": 4, "split:test": 4}
    again = save_parts(store, saved.id, split_of_version(store, saved.id, SHARES, 6), 6)
    assert all(len(item.tags) <= 1 for item in store.datasets.items(again.id))
    store.close()


def test_entropy_and_baseline_are_those_of_the_formulas() -> None:
    # Shares 3/4 and 1/4 of three options: -(.75 ln .75 + .25 ln .25) / ln 3.
    expected = -(0.75 * log(0.75) + 0.25 * log(0.25)) / log(3)
    assert normalised_entropy([6, 2, 0]).value == pytest.approx(expected)
    assert majority_baseline([6, 2, 0]).value == 0.75
    assert normalised_entropy([0, 0]).reason == "There is no label."
    assert majority_baseline([]).value is None


def test_labels_are_seen_through_the_rubric(tmp_path: Path) -> None:
    store = new_store(tmp_path / "studio.db")
    rubric = Rubric(criteria=(Criterion(name="ok", requirement="It is."),))
    labels = ["MET", "met", "UNMET", "CANNOT_ASSESS", "maybe", ""]
    made = [
        Item(id=str(at), submission="x", labels={"ok": Label(label=label)} if label else {})
        for at, label in enumerate(labels)
    ]
    version = store.datasets.create(Dataset(items=tuple(made)), now=NOW)

    (found,), _ = label_stats(store, version.id, rubric)

    assert found.counts == {"MET": 2, "UNMET": 1}
    assert (found.abstained, found.missing, found.strange) == (1, 1, {"maybe": 1})
    assert found.commonest == "MET"
    assert found.baseline.value == pytest.approx(2 / 3)
    store.close()


def test_criteria_without_labels_and_labels_without_criteria_are_told_apart() -> None:
    rubric = Rubric(criteria=(Criterion(name="ok", requirement="It is."),))
    (found,), elsewhere = stats_of({"other": {"x": 3}}, 4, rubric)

    assert elsewhere == {"other": 3}
    assert found.missing == 4
    assert found.unused == ("MET", "UNMET")
    assert found.baseline.reason == "There is no label."


def test_another_seed_deals_again_what_was_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store(tmp_path / "s.db")
    data = Dataset(name="Dealt twice", items=tuple(items("aaaabbbbcc..aabb")))
    version = store.datasets.create(data, now=NOW).id
    reads = Counter[int]()
    twins = splits.twin_numbers
    monkeypatch.setattr(
        splits, "twin_numbers", lambda of, at: (reads.update([at]), twins(of, at))[1]
    )
    before: dict[tuple[int, str | None], SplitItems] = {}
    for seed in (3, 4, 3):
        for by in (None, "tone"):
            found = split_of_version(store, version, SHARES, seed, by)
            assert found == before.setdefault((seed, by), found)
    assert before[3, None].members != before[4, None].members
    assert reads == {version: 1}
    store.close()
