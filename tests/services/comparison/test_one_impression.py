"""One overall mark beside the rubric: which says more of the answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.errors import InputError, NotFound
from core.metrics.variance_components import ITEM
from core.services.comparison import one_impression
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.command_line import cli
from tests.provider import Answer, Provider, ok
from tests.services.assist.made import shown_number, text_of
from tests.services.diagnostics.test_probes import FAIR, RUBRIC, made

NOW = "2026-03-01T10:00:00.000Z"
ITEMS = tuple(
    Item(id=f"i{at:02}", submission=f"Text {at}: {'good' if at % 2 else 'poor'}.")
    for at in range(24)
)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        server.rule = judge
        yield server


def judge(body: dict[str, Any]) -> Answer:
    """By the rubric all models see what is good; their marks go by their name and the number."""
    text = text_of(body)
    if "as a whole" not in text:
        return ok(shown_number(body, "MET" if "good" in text else "UNMET"))
    number = int(text.partition("Text ")[2].partition(":")[0])
    return ok(shown_number(body, str(mark(number, body["model"]))))


def mark(number: int, model: str) -> int:
    """Longer numbers are better, b is kinder by one, and either adds something of its own."""
    own = number * (3 if model == "a" else 1) % 4
    return min(10, 1 + number // 4 + own + (model == "b"))


def graded(store: Store, provider: Provider) -> int:
    models = tuple(Judge(name=n, model=n, api_base=provider.url, shuffle=False) for n in "ab")
    request = RunRequest(
        rubric_version=store.rubrics.create(RUBRIC, now=NOW).id,
        dataset_version=store.datasets.create(Dataset(items=ITEMS), now=NOW).id,
        panel=Panel(judges=models),
        seed=1,
    )
    run = lifecycle.start(store, request)
    work_here(store, run)
    return run


def test_the_rubric_says_more_of_the_answers_than_marks_that_go_by_who_gives_them(
    store: Store, provider: Provider
) -> None:
    run = graded(store, provider)
    asked = provider.count
    assert one_impression.estimate(store, run).calls == 48
    with pytest.raises(NotFound, match="did not ask for one impression"):
        one_impression.result(store, run)
    number = one_impression.start(store, run)
    work_here(store, number)
    assert provider.count - asked == 48

    found = one_impression.result(store, number)
    assert (found.answers, found.judges, found.reason) == (24, ("a", "b"), "")
    assert found.rubric is not None
    assert found.impression is not None
    # Both models say the same by the rubric: all of its variance lies in the answers.
    # But for the last digit, which goes by the machine's arithmetic.
    assert (found.rubric.share[ITEM], found.rubric.worth.value) == pytest.approx((1.0, 1.0))
    # The marks' worth is ICC(A,1) of Shrout and Fleiss, from the mean squares of two columns.
    marks = np.array([[(mark(at, model) - 1) / 9 for model in "ab"] for at in range(24)])
    rows = 2 * marks.mean(axis=1).var(ddof=1)
    columns = 24 * marks.mean(axis=0).var(ddof=1)
    rest = (marks - marks.mean(axis=1, keepdims=True) - marks.mean(axis=0) + marks.mean()) ** 2
    error = rest.sum() / 23
    icc = (rows - error) / (rows + error + 2 * (columns - error) / 24)
    assert found.impression.worth.value == pytest.approx(icc)
    assert found.impression.spread**2 == pytest.approx(marks.var(ddof=1))
    assert found.gap.low is not None
    assert found.gap.low > 0
    assert (
        "The rubric's score of one judge tells more about an answer, by"
        in one_impression.impression_words(found)
    )


def test_the_command_states_its_cost_and_tells_what_was_found_last(
    store: Store, provider: Provider
) -> None:
    run, db = graded(store, provider), ("--db", store.path)
    assert "24 answers, 48 calls" in cli("impression", run, "--estimate", *db).stdout
    assert cli("impression", run, "--last", *db).returncode == 2
    done = cli("impression", run, "--answers", 20, *db)
    assert done.returncode == 0
    assert done.stdout.startswith("On the same 20 answers, 100% of the variance of the rubric's")
    assert cli("impression", run, "--last", *db).stdout == done.stdout


def test_only_models_can_say_one_impression(store: Store) -> None:
    with pytest.raises(InputError, match="No model judged"):
        one_impression.estimate(store, made(store, FAIR))
