"""Asking: what it takes, what comes of it, what goes wrong, and figures over the rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.domain.dataset import Dataset, Item, Label
from core.errors import InputError
from core.services.judges import registry
from core.services.spot import spot_check
from core.services.workbench import asking, bench_rows
from core.services.workbench.asking import CellsToAsk, ask, cost_estimate
from core.services.workbench.bench_rows import new_row
from core.services.workbench.bench_state import figures_of
from core.store.store import Store
from tests.new_store import new_store
from tests.provider import Provider, ok, said, status
from tests.services.workbench.made import NAME, asked, by_text, draft, filled, model, now


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = new_store(tmp_path / "studio.db")
    yield made
    made.close()


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as running:
        running.rule = by_text
        yield running


def test_the_estimate_counts_exactly_the_calls_that_are_made(
    store: Store, provider: Provider
) -> None:
    first, *_ = filled(store, provider.url, price_in=1.0, price_out=2.0)
    cells, before = cost_estimate(store, now(store, draft()), CellsToAsk())
    # 3 rows x 2 criteria
    assert (cells, before.calls, before.votes) == (6, 6, 6)
    assert before.cost is not None
    assert before.cost > 0
    asked(store, draft())
    assert provider.count == before.calls
    cells, after = cost_estimate(store, now(store, draft()), CellsToAsk())
    assert (cells, after.calls, after.cost) == (0, 0, 0)
    want = CellsToAsk("all", row=first, criterion="Cause")
    cells, one = cost_estimate(store, now(store, draft()), want)
    assert (cells, one.calls) == (1, 1)


def test_both_orders_double_the_calls_and_an_answer_that_is_there_is_not_paid_again(
    store: Store, provider: Provider
) -> None:
    filled(store, provider.url)
    asked(store, draft())
    bench_rows.set_asking(store, NAME, flip=True)
    standing = now(store, draft())
    assert {c.state for cells in standing.cells.values() for c in cells.values()} == {"half"}
    asked(store, draft())
    # 6 answers in the author's order are kept ones; 6 in the reversed order are asked.
    assert provider.count == 12


def test_flips_are_counted_with_their_interval(store: Store, provider: Provider) -> None:
    filled(store, provider.url)
    bench_rows.set_asking(store, NAME, flip=True)
    provider.rule = lambda body: ok(1)  # always what is shown first: every answer flips
    asked(store, draft())
    cause, depth = figures_of(now(store, draft()))
    assert (cause.flips.hits, cause.flips.n) == (3, 3)
    low, high = cause.flips[1:3]
    # Wilson at 3 of 3, z = 1.96: low = 3 / (3 + 1.96^2) = 3 / 6.8415 = 0.4385; high = 1.
    assert (round(low or 0, 4), high) == (0.4385, 1.0)
    assert depth.flips.n == 3
    cells = now(store, draft()).cells.values()
    assert {j.flips for c in cells for x in c.values() for j in x.judges if j.answer} == {True}


def test_agreement_counts_rows_with_an_expectation_and_says_its_interval(
    store: Store, provider: Provider
) -> None:
    filled(store, provider.url)
    asked(store, draft())
    cause, depth = figures_of(now(store, draft()))
    # Expected MET, UNMET, MET; judged MET, UNMET, MET.
    assert (cause.agreement.hits, cause.agreement.n, cause.unlabelled) == (3, 3, 0)
    assert (cause.always.hits, cause.by_judge[0][1].hits) == (2, 3)  # MET is right twice
    # Expected Deep, nothing, Shallow; the judge always says Shallow.
    assert (depth.agreement.hits, depth.agreement.n, depth.unlabelled) == (1, 2, 1)
    low, high = depth.agreement[1:3]
    # Wilson at 1 of 2: centre 0.5, half = 1.96 sqrt(0.125 + 0.2401) / (1 + 1.9207) = 0.4055.
    assert (round(low or 0, 3), round(high or 0, 3)) == (0.095, 0.905)


def test_a_stale_verdict_counts_for_nothing(store: Store, provider: Provider) -> None:
    first, *_ = filled(store, provider.url)
    asked(store, draft())
    bench_rows.set_row(store, NAME, first, submission="The Sun.")
    cause, _ = figures_of(now(store, draft()))
    assert (cause.agreement.n, cause.stale) == (2, 1)
    cell = now(store, draft()).cells[first]["Cause"]
    assert (cell.verdict, cell.judge_answers, cell.agrees) == (
        None,
        "MET",
        None,
    )  # still to be read


def test_an_unreadable_answer_is_a_failure_and_never_an_option(
    store: Store, provider: Provider
) -> None:
    """EvalAssist shows a random option for it, even with "Agreement: Yes"."""
    filled(store, provider.url)
    provider.rule = lambda body: said("I like it.")
    asked(store, draft())
    standing = now(store, draft())
    cells = [c for cells in standing.cells.values() for c in cells.values()]
    assert {(c.state, c.judge_answers, c.agrees) for c in cells} == {("failed", "", None)}
    assert {c.judges[0].failure.kind for c in cells if c.judges[0].failure} == {"malformed"}
    assert figures_of(standing)[0].failed == 3


def test_failures_are_asked_again_alone(store: Store, provider: Provider) -> None:
    filled(store, provider.url)
    provider.say(status(500))
    asked(store, draft())
    before = provider.count
    assert cost_estimate(store, now(store, draft()), CellsToAsk("failed"))[0] == 1
    asked(store, draft(), CellsToAsk("failed"))
    assert provider.count == before + 1
    states = {c.state for cells in now(store, draft()).cells.values() for c in cells.values()}
    assert states == {"fresh"}


def test_what_is_being_asked_is_not_asked_twice_and_can_be_cancelled(
    store: Store, provider: Provider
) -> None:
    filled(store, provider.url)
    assert len(ask(store, NAME, draft(), CellsToAsk())) == 1
    assert now(store, draft()).active
    assert ask(store, NAME, draft(), CellsToAsk("all")) == ()
    assert asking.cancel(store, NAME) == 1
    standing = now(store, draft())
    assert not standing.active
    assert {c.state for cells in standing.cells.values() for c in cells.values()} == {"never"}
    assert provider.count == 0


def test_all_asks_fresh_rows_anew(store: Store, provider: Provider) -> None:
    first, *_ = filled(store, provider.url, shuffle=True)
    asked(store, draft())
    asked(store, draft(), CellsToAsk("all"))
    assert len(bench_rows.saved_workbench(store, NAME)["runs"]) == 2
    asked(store, draft(), CellsToAsk("open", row=first))  # nothing is open in it: asked anew
    assert now(store, draft()).cells[first]["Cause"].state == "fresh"
    assert len(bench_rows.saved_workbench(store, NAME)["runs"]) == 3


def test_two_judges_settle_and_each_has_its_own_share(store: Store, provider: Provider) -> None:
    with Provider() as other:
        other.rule = lambda body: ok(1)
        filled(store, provider.url)
        model(store, other.url, "Bob")
        bench_rows.set_asking(store, NAME, judges=["Ann", "Bob"])
        asked(store, draft())
        cause, _ = figures_of(now(store, draft()))
    # Ann is right on 3 of 3; Bob says MET always: 2 of 3.
    assert [(name, share.hits, share.n) for name, share in cause.by_judge] == [
        ("Ann", 3, 3),
        ("Bob", 2, 3),
    ]
    # Row 2 is a tie of MET and UNMET: the worse option, UNMET, counts, and that is expected.
    assert cause.agreement.hits == 3


def test_a_judge_who_joins_is_asked_alone(store: Store, provider: Provider) -> None:
    with Provider() as other:
        filled(store, provider.url)
        asked(store, draft())
        model(store, other.url, "Bob")
        bench_rows.set_asking(store, NAME, judges=["Ann", "Bob"])
        asked(store, draft())
        assert (provider.count, other.count) == (6, 6)


def test_a_broken_criterion_does_not_keep_the_others_from_being_asked(
    store: Store, provider: Provider
) -> None:
    filled(store, provider.url)
    broken = draft()
    broken["criteria"][0]["requirement"] = " "
    asked(store, broken)
    standing = now(store, broken)
    assert (list(standing.subject.criteria), list(standing.subject.broken)) == (
        ["Depth"],
        ["Cause"],
    )
    assert provider.count == 3


def test_empty_rows_are_never_asked(store: Store, provider: Provider) -> None:
    filled(store, provider.url)
    bench_rows.add_row(store, NAME)
    bench_rows.add_rows(store, NAME, [new_row("  \n")])
    asked(store, draft())
    assert provider.count == 6
    assert len(now(store, draft()).empty) == 2


def test_offline_judges_say_what_they_need_and_then_answer(store: Store) -> None:
    filled(store)
    registry.ensure_defaults(store)
    bench_rows.set_asking(store, NAME, judges=["Nearest neighbours"])
    assert "learn from labelled items" in asking.obstacle_to_asking(now(store, draft()))
    with pytest.raises(InputError, match="labelled items"):
        ask(store, NAME, draft(), CellsToAsk())
    moon = [
        Item(
            id=f"m{n}",
            submission=f"The Moon pulls, says pupil {n}.",
            labels={"Cause": Label(label="MET"), "Depth": Label(label="Deep")},
        )
        for n in range(6)
    ]
    wind = [
        Item(
            id=f"w{n}",
            submission=f"Wind and waves do it, says pupil {n}.",
            labels={"Cause": Label(label="UNMET"), "Depth": Label(label="Shallow")},
        )
        for n in range(6)
    ]
    taught = Dataset(name="Taught", items=(*moon, *wind))
    version = store.datasets.create(taught, now="2026-03-01T10:00:00.000Z").id
    bench_rows.set_asking(store, NAME, learn_from=version)
    assert cost_estimate(store, now(store, draft()), CellsToAsk())[1].calls == 0
    asked(store, draft())
    states = {c.state for cells in now(store, draft()).cells.values() for c in cells.values()}
    assert states == {"fresh"}


def test_nobody_chosen_and_nothing_to_judge_are_said(store: Store, provider: Provider) -> None:
    with pytest.raises(InputError, match="No judge is chosen"):
        ask(store, NAME, draft(), CellsToAsk())
    model(store, provider.url)
    bench_rows.set_asking(store, NAME, judges=["Ann"])
    with pytest.raises(InputError, match="No row has a text"):
        ask(store, NAME, draft(), CellsToAsk())


def test_a_workbenchs_runs_stand_in_no_list(store: Store, provider: Provider) -> None:
    filled(store, provider.url)
    asked(store, draft())
    assert spot_check.recent_checks(store) == []
    assert (store.runs.list(), store.datasets.list(), store.rubrics.list()) == ([], [], [])


def test_an_asking_that_an_error_ended_is_said_until_the_next_one(
    store: Store, provider: Provider
) -> None:
    filled(store, provider.url)
    (run_id,) = ask(store, NAME, draft(), CellsToAsk())
    lease = store.leases.claim("me", at=1.0, seconds=1.0, run_id=run_id)
    assert lease is not None
    store.leases.release(
        lease, "failed", now="2026-03-01T10:00:00.000Z", message="The disk is full."
    )
    assert [run.message for run in now(store, draft()).stopped] == ["The disk is full."]
    asked(store, draft())
    assert now(store, draft()).stopped == ()
