"""The rubric check by a panel: what it covers, what it finds, and whom each finding names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.domain.dataset import Item
from core.lint.check import check
from core.services.assist import meta_check
from core.services.assist.meta_check import WHOLE, MetaRequest
from core.services.runs import lifecycle
from core.services.runs.runner import work_here
from core.services.spot import spot_check
from core.store.store import Store
from tests.provider import Answer, Provider, malformed, said
from tests.services.assist.made import RUBRIC, asked_to_write, choose, panel, text_of

FILES = ("criterion", "criterion-in-task", "rubric", "rubric-in-task")
#: The peer's meta-criteria in our words (reference/autorubric.md 1.14): 26 standalone ...
STANDALONE = """
    unambiguous; specific; one construct; observable; three to fifteen criteria;
    weights show importance; no overlap; checkable alone; raters agree; options apart;
    sharp boundary; decidable from the text; even granularity; double-barrelled; vague words;
    circular; heavy overlap; wordy; hedging; boilerplate; no negative criteria; anything passes;
    ambiguous threshold; rewards length; adjectives as levels; needs counting
"""
#: ... and 8 more where there is a task.
IN_TASK = """
    grounded in the task; maps to the task; covers key aspects; emphasis fits;
    separates good from poor; no trivial criteria; irrelevant; misses something critical
"""


def listed(words: str) -> list[str]:
    return [" ".join(one.split()) for one in words.split(";")]


def covered(*files: str) -> list[str]:
    return [
        what
        for file in files
        for criterion in meta_check.meta_rubric(file).criteria
        for what in criterion.meta["covers"]
    ]


def test_all_that_the_peer_asks_is_asked_in_both_settings() -> None:
    assert len(listed(STANDALONE)) == 26
    assert len(listed(STANDALONE)) + len(listed(IN_TASK)) == 34
    assert sorted(covered("criterion", "rubric")) == sorted(listed(STANDALONE))
    assert sorted(covered("criterion-in-task", "rubric-in-task")) == sorted(listed(IN_TASK))


@pytest.mark.parametrize("file", FILES)
def test_the_meta_rubric_passes_its_own_offline_check(file: str) -> None:
    assert check(meta_check.meta_rubric(file)) == ()


def request(provider: Provider, *judges: str, task: str = "") -> MetaRequest:
    return MetaRequest(RUBRIC, panel(provider, *judges), "rubric/1", task)


def fault_finder(body: dict[str, Any]) -> Answer:
    """Finds that Limit asks two things, and that both criteria grade the same."""
    text = text_of(body)
    if "asks a single question" in text and "States the limit" in text:
        return choose(body, "UNMET")
    if "lose it points under two criteria" in text:
        number = choose(body, "MET").body.decode().rpartition('\\"option\\": ')[2][0]
        evidence = '["Depth", "Requirement (reward, binary): States the limit."]'
        return said(f'{{"evidence": {evidence}, "reason": "Both do.", "option": {number}}}')
    penalty = "Penalty." in text
    return choose(body, "UNMET" if penalty else "MET")


def checked(store: Store, wanted: MetaRequest) -> int:
    run_id = meta_check.start(store, wanted)
    work_here(store, run_id)
    return run_id


def test_every_criterion_is_asked_by_itself_and_the_rubric_once(
    store: Store, provider: Provider
) -> None:
    provider.rule = fault_finder
    run_id = checked(store, request(provider))
    # 17 questions for each of two criteria, 5 for the rubric.
    assert store.runs.row(run_id).votes == 17 * 2 + 5
    in_task = checked(store, request(provider, task="Answer a refund question."))
    assert store.runs.row(in_task).votes == (17 + 3) * 2 + 5 + 5
    assert all("option" in asked_to_write(r.body) for r in provider.requests)
    assert "Answer a refund question." in text_of(provider.requests[-1].body)


def test_the_estimate_is_what_is_then_asked(store: Store, provider: Provider) -> None:
    found = meta_check.estimate(store, request(provider, "a", "b"))
    assert found.calls == 2 * (17 * 2 + 5)
    assert found.cost is not None


def test_findings_name_their_criteria_with_reason_and_agreement(
    store: Store, provider: Provider
) -> None:
    provider.rule = fault_finder
    found = meta_check.check_result(store, checked(store, request(provider, "a", "b", "c")))
    assert (found.asked, found.abstained, found.open) == (39, 0, 0)
    double, overlap = found.findings
    assert (double.question, double.criteria, double.item) == (
        "Single question",
        ("Limit",),
        "criterion 1",
    )
    assert (double.weight, double.agreement) == (10.0, 1.0)
    assert "joins two claims" in double.option
    # One name is quoted as it is, the other criterion by its words.
    assert (overlap.question, overlap.criteria) == ("Something graded twice", ("Limit", "Depth"))
    assert overlap.reason == "Both do."


def test_a_finding_on_words_that_have_changed_since_is_stale(
    store: Store, provider: Provider
) -> None:
    provider.rule = fault_finder
    run_id = checked(store, request(provider))
    assert not any(one.stale for one in meta_check.check_result(store, run_id, RUBRIC).findings)
    limit = RUBRIC.criteria[0].model_copy(update={"requirement": "States 30 days."})
    now = RUBRIC.model_copy(update={"criteria": (limit, RUBRIC.criteria[1])})
    assert all(one.stale for one in meta_check.check_result(store, run_id, now).findings)


def test_a_reply_that_cannot_be_read_is_an_open_question_and_never_a_finding(
    store: Store, provider: Provider
) -> None:
    provider.rule = lambda body: malformed()
    run_id = checked(store, request(provider))
    found = meta_check.check_result(store, run_id)
    assert (found.findings, found.asked, found.open) == ((), 0, 39)
    assert found.row.failures_open == 39
    provider.rule = fault_finder
    lifecycle.retry(store, run_id)
    work_here(store, run_id)
    assert meta_check.check_result(store, run_id).open == 0


def test_the_run_is_in_no_list_and_the_newest_is_found_again(
    store: Store, provider: Provider
) -> None:
    provider.rule = fault_finder
    assert meta_check.latest_check(store, "rubric/1") is None
    run_id = checked(store, request(provider))
    assert meta_check.latest_check(store, "rubric/1") == run_id
    assert store.runs.list() == []
    assert spot_check.recent_checks(store) == []
    assert store.datasets.list() == []
    assert store.rubrics.list() == []


def test_a_budget_stops_it(store: Store, provider: Provider) -> None:
    provider.rule = fault_finder
    run_id = checked(store, replace(request(provider), budget=0.01))
    assert store.runs.row(run_id).status == "budget"
    assert meta_check.check_result(store, run_id).open > 0


def test_a_name_inside_a_word_names_nobody() -> None:
    item = Item(id=WHOLE, submission="c1 (Tone)\nwarm words\n\nc2 (Limit)\nthirty days")
    assert meta_check.criteria_named(item, ["Tone", "Limit"], ["An overtone."]) == ()
    assert meta_check.criteria_named(item, ["Tone", "Limit"], ["The “Tone” one."]) == ("Tone",)
