"""A judge planted to prefer the first option: the flip check finds it, shuffling evens it out."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from core import clock
from core.domain.base import build_model
from core.domain.dataset import Dataset
from core.domain.panel import Asking, Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.services.agreement.metrics_report import metrics_source
from core.services.results.flip_check import flip_rates
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.new_store import new_store
from tests.provider import Answer, Provider, ok

PLANTED = 0.4
ITEMS = 300


def prefers_the_first(body: dict[str, Any]) -> Answer:
    """Knows the true answer, but in 40% of its calls takes whatever is shown first."""
    text = body["messages"][-1]["content"]
    options = re.findall(r"^(\d+)\. (\w+)", text, re.MULTILINE)[-3:]
    truth = "MET" if "The sky is blue" in text else "UNMET"
    digest = hashlib.sha256(json.dumps(body["messages"]).encode()).digest()
    if int.from_bytes(digest[:4]) / 2**32 < PLANTED:
        return ok(1)
    return ok(next(int(number) for number, label in options if label == truth))


def graded(folder: Path, provider: Provider, **settings: Any) -> tuple[Store, int]:
    """300 items, half of them truly MET, asked of the planted judge."""
    provider.rule = prefers_the_first
    store = new_store(folder / "studio.db")
    items = [
        {"id": f"i{n:03}", "submission": f"{n}: The sky is {'blue' if n % 2 else 'green'}."}
        for n in range(ITEMS)
    ]
    dataset = store.datasets.create(
        build_model(Dataset, {"items": items}, "dataset"), now=clock.now()
    )
    rubric = Rubric(criteria=(Criterion(name="true", requirement="The statement is true."),))
    judge = Judge(name="ada", model="ada", api_base=provider.url, **settings.pop("judge", {}))
    panel = Panel(judges=(judge,), asking=Asking(**settings))
    version = store.rubrics.create(rubric, now=clock.now())
    run_id = lifecycle.start(store, RunRequest(version.id, dataset.id, panel, seed=11))
    assert work_here(store, run_id) == "done"
    return store, run_id


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, int, int]:
    """A run whose answers were checked in reversed order, and how many calls it took."""
    with Provider() as provider:
        store, run_id = graded(tmp_path_factory.mktemp("checked"), provider, flip="check")
        return store, run_id, provider.count


def share_met(store: Store, run_id: int) -> float:
    cells = store.results.verdicts(run_id)
    return sum(cell.option == 0 for _, cell in cells) / len(cells)


def test_the_flip_rate_is_the_planted_one_within_its_interval(
    checked: tuple[Store, int, int],
) -> None:
    # With two options and forced answers in a share p of calls, independently in both orders:
    # exactly one forced, p(1-p) each way, differs when the truth is not shown first, half of the
    # time; both forced, p^2, always differs. 2 * p(1-p)/2 + p^2 = p.
    store, run_id, calls = checked
    (found,) = flip_rates(store, run_id)
    assert calls == 2 * ITEMS
    assert found.differ.n == ITEMS
    assert found.differ.low is not None
    assert found.differ.high is not None
    assert found.differ.low <= PLANTED <= found.differ.high
    # Of all answers, p went to the first place for its own sake.
    assert found.pull.low is not None
    assert found.pull.high is not None
    assert found.pull.low <= PLANTED <= found.pull.high
    assert found.pull.low > 0.25  # and the interval is far from 0


def test_shuffling_evens_the_preference_out_and_a_fixed_order_does_not(
    tmp_path: Path, provider: Provider
) -> None:
    # Half of the items are truly MET, which the author lists first. Fixed order: p + (1-p)/2 =
    # .70 come out MET. Shuffled: p/2 + (1-p)/2 = .50. Standard error .03 with 300 items.
    (tmp_path / "fixed").mkdir()
    (tmp_path / "drawn").mkdir()
    fixed = share_met(*graded(tmp_path / "fixed", provider, judge={"shuffle": False}))
    drawn = share_met(*graded(tmp_path / "drawn", provider))
    assert fixed == pytest.approx(0.70, abs=0.08)
    assert drawn == pytest.approx(0.50, abs=0.08)


def test_balanced_orders_show_every_option_first_equally_often(
    tmp_path: Path, provider: Provider
) -> None:
    store, run_id = graded(tmp_path, provider, balanced=True)
    first = [
        vote.order[0]
        for item in store.runs.item_ids(run_id)
        for vote in store.votes.for_item(run_id, item)
        if vote.order
    ]
    assert (first.count(0), first.count(1)) == (ITEMS // 2, ITEMS // 2)


def test_requiring_both_orders_to_agree_turns_the_rest_into_abstentions(
    tmp_path: Path, provider: Provider
) -> None:
    store, run_id = graded(tmp_path, provider, flip="require")
    (found,) = flip_rates(store, run_id)
    cells = store.results.verdicts(run_id)
    assert sum(cell.abstained for _, cell in cells) == found.differ.hits
    right = [c.option == (0 if int(id_[1:]) % 2 else 1) for id_, c in cells if not c.abstained]
    # Where both orders agree the answer is wrong only if both were forced to it: never, since a
    # forced pair differs. What is left is right.
    assert all(right)


def test_reversed_answers_check_the_judge_and_are_no_ratings_of_their_own(
    checked: tuple[Store, int, int],
) -> None:
    store, run_id, _ = checked
    report = metrics_source(lambda: store, str(run_id))
    group = report["criteria"]["true"]["groups"]["llm"]
    assert (group["raters"], group["ratings"]) == (1, ITEMS)
