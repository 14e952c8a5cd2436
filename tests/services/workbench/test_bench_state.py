"""An edit makes exactly those rows stale about which a judge would be sent something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.services.judges import registry
from core.services.rubrics import draft_criteria, draft_rules
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.workbench import bench_rows
from core.services.workbench.asking import CellsToAsk
from core.store.store import Store
from tests.new_store import new_store
from tests.provider import Provider
from tests.services.workbench.made import NAME, asked, by_text, draft, filled, model, now, stale

CAUSE = {(0, "Cause"), (1, "Cause"), (2, "Cause")}
DEPTH = {(0, "Depth"), (1, "Depth"), (2, "Depth")}


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


def uid(of: RubricDraft, name: str) -> str:
    return next(c["uid"] for c in of["criteria"] if c["name"] == name)


def option(of: RubricDraft, label: str) -> str:
    return next(o["uid"] for c in of["criteria"] for o in c["options"] if o["label"] == label)


def of_criterion(name: str, what: str, value: object) -> Callable[[RubricDraft], RubricDraft]:
    return lambda d: draft_criteria.set_criterion(d, uid(d, name), what, value)


def of_option(label: str, what: str, value: object) -> Callable[[RubricDraft], RubricDraft]:
    return lambda d: draft_criteria.set_option(d, uid(d, "Depth"), option(d, label), what, value)


TOUCHED: dict[str, tuple[Callable[[RubricDraft], RubricDraft], set[tuple[int, str]]]] = {
    "requirement": (of_criterion("Cause", "requirement", "Names the Sun."), CAUSE),
    "guidelines": (lambda d: draft_criteria.set_field(d, "guidelines", "Be mild."), CAUSE | DEPTH),
    "anchor": (of_option("Deep", "description", "It says why."), DEPTH),
    "label": (of_option("Deep", "label", "Very deep"), DEPTH),
    # Judges are told that a criterion is a penalty, so another sign is another question.
    "sign of the weight": (of_criterion("Cause", "weight", -6.0), CAUSE),
}
UNTOUCHED: dict[str, Callable[[RubricDraft], RubricDraft]] = {
    "weight": of_criterion("Cause", "weight", 30.0),
    # Values are never shown to a judge.
    "value of an option": of_option("Deep", "value", 0.8),
    "name of the criterion": of_criterion("Cause", "name", "Reason"),
    "tags": of_criterion("Cause", "tags", ["facts"]),
    "section": of_criterion("Cause", "section", "Facts"),
    "rule for votes": of_criterion("Depth", "aggregation", "median"),
    # Dismissed checks and the key of a library criterion are kept here.
    "meta of a criterion": of_criterion("Cause", "meta", {"dismissed": ["vague"]}),
    "meta of the rubric": lambda d: {**d, "meta": {"dismissed": ["no penalty"]}},
    "description": lambda d: draft_criteria.set_field(d, "description", "For people."),
    "name of the rubric": lambda d: draft_criteria.set_field(d, "name", "Tides"),
    "gate": lambda d: draft_rules.add_gate(d)[0],
    "scoring": lambda d: draft_criteria.set_scoring(d, "normalize", False),
}


@pytest.mark.parametrize("what", TOUCHED)
def test_an_edit_that_a_judge_would_see_makes_exactly_its_rows_stale(
    store: Store, provider: Provider, what: str
) -> None:
    before = draft()
    filled(store, provider.url)
    asked(store, before)
    assert stale(now(store, before)) == set()
    edit, expected = TOUCHED[what]
    assert stale(now(store, edit(before))) == expected


@pytest.mark.parametrize("what", UNTOUCHED)
def test_an_edit_that_no_judge_sees_makes_nothing_stale(
    store: Store, provider: Provider, what: str
) -> None:
    before = draft()
    filled(store, provider.url)
    asked(store, before)
    after = now(store, UNTOUCHED[what](before))
    states = {cell.state for cells in after.cells.values() for cell in cells.values()}
    assert states == {"fresh"}


def test_a_rows_text_touches_that_row_only(store: Store, provider: Provider) -> None:
    first, *_ = filled(store, provider.url)
    asked(store, draft())
    bench_rows.set_row(store, NAME, first, submission="The Sun.")
    assert stale(now(store, draft())) == {(0, "Cause"), (0, "Depth")}


def test_another_expected_label_touches_nothing(store: Store, provider: Provider) -> None:
    first, *_ = filled(store, provider.url)
    asked(store, draft())
    bench_rows.expect(store, NAME, first, "Cause", "UNMET")
    assert stale(now(store, draft())) == set()


def test_other_settings_of_the_judge_touch_every_row(store: Store, provider: Provider) -> None:
    filled(store, provider.url)
    asked(store, draft())
    model(store, provider.url, concurrency=2)  # how many at a time is no part of a question
    assert stale(now(store, draft())) == set()
    model(store, provider.url, temperature=0.5)
    assert stale(now(store, draft())) == CAUSE | DEPTH


def test_an_edit_that_is_taken_back_brings_its_answers_back(
    store: Store, provider: Provider
) -> None:
    filled(store, provider.url)
    asked(store, draft())
    edited = of_criterion("Cause", "requirement", "Names the Sun.")(draft())
    assert stale(now(store, edited)) == CAUSE
    assert stale(now(store, draft())) == set()


def test_only_stale_cells_are_asked_and_each_in_a_call_of_its_own(
    store: Store, provider: Provider
) -> None:
    first, *_ = filled(store, provider.url)
    asked(store, draft())
    assert provider.count == 6  # 3 rows x 2 criteria
    edited = of_criterion("Cause", "requirement", "Names the Sun.")(draft())
    asked(store, edited)
    assert provider.count == 9  # 3 rows x 1 stale criterion more
    sent = [str(r.body) for r in provider.requests[6:]]
    assert all("Names the Sun." in words and "How deep" not in words for words in sent)
    bench_rows.set_row(store, NAME, first, submission="The Moon, slowly.")
    asked(store, edited)
    assert provider.count == 11  # 1 row x 2 criteria more
    assert asked(store, edited) == ()


def test_asking_one_row_leaves_the_other_stale_rows_stale(store: Store, provider: Provider) -> None:
    """EvalAssist clears every row's mark when one row is asked."""
    _, second, _ = filled(store, provider.url)
    asked(store, draft())
    edited = of_criterion("Cause", "requirement", "Names the Sun.")(draft())
    asked(store, edited, CellsToAsk("open", row=second))
    assert provider.count == 7
    assert stale(now(store, edited)) == {(0, "Cause"), (2, "Cause")}


def test_a_row_that_becomes_an_example_touches_the_criteria_that_it_teaches(
    store: Store, provider: Provider
) -> None:
    _, second, _ = filled(store, provider.url)  # expected: Cause only
    asked(store, draft())
    bench_rows.set_row(store, NAME, second, example=True)
    # Rows 1 and 3 are left; Depth has no example, so its prompts are the same bytes as before.
    assert stale(now(store, draft())) == {(0, "Cause"), (2, "Cause")}
    asked(store, draft())
    sent = [str(r.body["messages"]) for r in provider.requests[6:]]
    assert len(sent) == 2
    assert all("EXAMPLE 1 SUBMISSION" in words and "Wind does it." in words for words in sent)
    bench_rows.set_row(store, NAME, second, example=False)
    assert stale(now(store, draft())) == set()


def test_offline_judges_read_no_requirement(store: Store, provider: Provider) -> None:
    filled(store, provider.url)
    registry.ensure_defaults(store)
    bench_rows.set_asking(store, NAME, judges=["Text classifier"], learn_from=1)
    before = now(store, draft()).offline
    edited = of_criterion("Cause", "requirement", "Names the Sun.")(draft())
    assert now(store, edited).offline == before
    renamed = of_criterion("Cause", "name", "Reason")(draft())
    assert now(store, renamed).offline != before  # labels are learned under the name
