"""Who meets whom: designs, joining, and rounds that go where it is undecided."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from core import clock
from core.domain.base import build_model
from core.domain.dataset import Dataset, Pair
from core.errors import InputError
from core.services.pairwise import contests
from core.services.pairwise.contest_votes import contests_of_runs
from core.services.pairwise.design import Design, bouts_of, bouts_swapped_first
from core.services.pairwise.leaderboard import next_round, rounds_of
from core.services.pairwise.system_answers import join_datasets
from tests.provider import Provider
from tests.services.pairwise.world import dataset, held, start

SYSTEMS = ("a", "b", "c", "d")


def items(*rows: tuple[str, str, str]) -> Dataset:
    """Items of (id, prompt, system)."""
    data = [{"id": i, "prompt": p, "submission": f"text {i}", "system": s} for i, p, s in rows]
    return build_model(Dataset, {"name": "d", "items": data}, "dataset")


def test_all_pairs_meet_on_every_task() -> None:
    field = join_datasets([dataset(SYSTEMS, 3)])
    bouts = bouts_of(field, Design(), 0)
    assert len(bouts) == 3 * 6
    assert set(Counter((b.first, b.second) for b in bouts).values()) == {3}


def test_against_a_baseline_only_it_is_met() -> None:
    field = join_datasets([dataset(SYSTEMS, 2)])
    bouts = bouts_of(field, Design(kind="baseline", baseline="c"), 0)
    assert [(b.first, b.second) for b in bouts[:3]] == [("a", "c"), ("b", "c"), ("c", "d")]
    with pytest.raises(InputError, match="not one of the systems"):
        bouts_of(field, Design(kind="baseline", baseline="z"), 0)


def test_sampled_pairs_meet_about_equally_often() -> None:
    field = join_datasets([dataset(SYSTEMS, 30)])
    bouts = bouts_of(field, Design(kind="sampled", per_task=2), 7)
    assert len(bouts) == 60
    assert set(Counter((b.first, b.second) for b in bouts).values()) == {10}
    assert bouts == bouts_of(field, Design(kind="sampled", per_task=2), 7)


def test_in_one_order_each_system_of_a_pair_stands_first_half_of_the_time() -> None:
    field = join_datasets([dataset(SYSTEMS, 10)])
    bouts = bouts_of(field, Design(), 0)
    swapped = Counter(
        (b.first, b.second)
        for b, turn in zip(bouts, bouts_swapped_first(bouts, 3), strict=True)
        if turn
    )
    assert set(swapped.values()) == {5}


def test_items_join_by_their_prompt() -> None:
    field = join_datasets([items(("1", "p", "x"), ("2", "p", "y"), ("3", "q", "x"))])
    assert [(task, tuple(items)) for task, items in field.tasks.items()] == [("1", ("x", "y"))]
    assert field.notices == ("1 of 2 tasks lack an answer of some system.",)


def test_files_join_by_the_id_of_their_items_and_are_systems() -> None:
    one = items(("1", "p", ""), ("2", "q", "")).model_copy(update={"name": "x"})
    two = items(("2", "q", ""), ("1", "p", "")).model_copy(update={"name": "y"})
    field = join_datasets([one, two])
    assert field.systems == ("x", "y")
    assert list(field.tasks) == ["1", "2"]


@pytest.mark.parametrize(
    ("rows", "systems", "said"),
    [
        ([("1", "p", "")], (), "names no system"),
        ([("1", "", "x"), ("2", "", "y")], (), "belongs to no task"),
        ([("1", "p", "x"), ("2", "p", "x")], (), "second answer of 'x'"),
        ([("1", "p", "x"), ("2", "p", "y")], ("x", "Y"), "Did you mean 'y'"),
        ([("1", "p", "x"), ("2", "q", "y")], (), "No two systems answered the same task"),
        ([("1", "p", "x")], (), "one system"),
        ([("1", "p", "x"), ("2", "p", "y")], ("x", "x"), "named twice"),
    ],
)
def test_what_cannot_be_joined_says_why(
    rows: list[tuple[str, str, str]], systems: tuple[str, ...], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        join_datasets([items(*rows)], systems)
    assert said in str(caught.value)


def test_the_answers_are_shown_in_both_orders_and_kept_as_an_item_each(
    tmp_path: Path, provider: Provider
) -> None:
    store, request = start(tmp_path, provider, ["x", "y"], 1)
    planned = contests.plan_contest(store, request)
    one, two = planned.dataset.items
    assert isinstance(one.submission, Pair)
    assert isinstance(two.submission, Pair)
    assert (one.submission.first, one.submission.second) == (
        two.submission.second,
        two.submission.first,
    )
    assert [i.meta["leads"] for i in (one, two)] == [True, False]
    assert store.counts().runs == 0  # nothing was stored


def test_a_name_as_long_as_names_may_be_is_cut_where_the_contests_get_a_longer_one(
    tmp_path: Path, provider: Provider
) -> None:
    store, request = start(tmp_path, provider, ["x", "y"], 1)
    planned = contests.plan_contest(store, replace(request, name="n" * 200))
    assert (planned.planned.plan.name, planned.dataset.name) == (
        "n" * 200,
        "Contests: " + "n" * 190,
    )


def test_offline_judges_cannot_compare(tmp_path: Path, provider: Provider) -> None:
    from core.services.judges.registry import OFFLINE_PANEL

    store, request = start(tmp_path, provider, ["x", "y"], 1)
    with pytest.raises(InputError, match="cannot compare two answers"):
        contests.plan_contest(store, replace(request, panel=OFFLINE_PANEL))


def test_the_next_round_asks_only_about_those_not_told_apart(
    tmp_path: Path, provider: Provider
) -> None:
    # "worth" orders x < y clearly; the twins y and z are worth the same and always tie.
    store, request = start(tmp_path, provider, ["w", "x"], 1)
    rows = [
        {"id": f"{t}{s}", "prompt": f"q{t}", "system": s, "submission": f"answer {t} worth {v}"}
        for t in range(24)
        for s, v in (("x", 1), ("y", 5), ("z", 5))
    ]
    version = store.datasets.create(build_model(Dataset, {"items": rows}, "d"), now=clock.now())
    from dataclasses import replace

    design = Design(kind="adaptive", per_task=2)
    request = replace(request, datasets=(version.id,), systems=("x", "y", "z"), design=design)
    first = held(store, request)
    more = next_round(store, [first], 6)
    assert more is not None
    assert more.bouts is not None
    assert {(b.first, b.second) for b in more.bouts} == {("y", "z")}
    second = held(store, more)
    assert rounds_of(store, second) == [first, second]
    both = contests_of_runs(store, [first, second])
    assert len(both.held) == 24 * 2 + 6
    assert len({(h.task, h.first, h.second) for h in both.held}) == len(both.held)
    assert [row.id for row in contests.contest_runs(store)] == [second, first]
