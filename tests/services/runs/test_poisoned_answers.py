"""What an answer says in numbers and names takes no more than its own cell, over real HTTP.

Every hostile answer comes with a good vote. It counts; what it says of tokens, money, waiting and
names beyond all bounds is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, Vote
from core.judging import allowance
from core.judging.allowance import limits_in
from core.judging.providers.failures import retry_after
from core.store.store import Store
from tests.provider import USAGE, Answer, Provider, ok, status
from tests.services.diagnostics.test_probes import RUBRIC
from tests.services.runs.world import graded_by

FAR = "Fri, 31 Dec 9999 23:59:59 -2400"
ITEMS = tuple(Item(id=f"i{at}", submission=f"Text {at}.") for at in range(6))


def told(**usage: Any) -> Answer:
    return ok(usage={**USAGE, **usage})


def named(model: Any) -> Answer:
    answer = ok()
    return replace(answer, body=json.dumps({**json.loads(answer.body), "model": model}).encode())


#: An answer each, hostile in one way; its vote is good.
HOSTILE = {
    "more tokens than 64 bits hold": told(prompt_tokens=2**63),
    "as many as Python writes": told(completion_tokens=10**4000),
    "negative tokens": told(prompt_tokens=-5),
    "tokens that are true": told(prompt_tokens=True),
    "tokens in words": told(completion_tokens="many"),
    "cached tokens beyond all": told(prompt_tokens_details={"cached_tokens": 2**70}),
    "a name of 3 MB": named("m" * 3_000_000),
    "limits of no number": replace(
        ok(),
        headers={
            "x-ratelimit-limit-requests": "9" * 400,
            "x-ratelimit-remaining-requests": "9" * 400,
            "x-ratelimit-reset-requests": "9" * 400 + "h",
        },
    ),
    "a reset beyond the calendar": replace(
        ok(),
        headers={
            "anthropic-ratelimit-requests-limit": "5",
            "anthropic-ratelimit-requests-remaining": "0",
            "anthropic-ratelimit-requests-reset": "9999-12-31T23:59:59-23:59",
            "Date": "Mon, 01 Jan 0001 00:00:00 +2359",
        },
    ),
}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        yield server


def graded(store: Store, provider: Provider) -> int:
    judge = Judge(name="a", model="a", api_base=provider.url, shuffle=False, tries=2)
    return graded_by(store, judge, RUBRIC, ITEMS)


@pytest.mark.parametrize("answer", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_answer_takes_nothing_but_its_own_figures(
    store: Store, provider: Provider, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowance, "BELIEVED", 0.5)  # seconds, else a minute
    # A local judge is asked one question until it has answered; the others then go out together.
    provider.say(ok(), answer)

    run = store.runs.get(graded(store, provider))

    planned = len(ITEMS) * len(RUBRIC.criteria)
    assert (run.status, run.votes, provider.count) == ("done", planned, planned)
    assert store.votes.failure_kinds(run.id) == []
    assert 0 <= run.tokens_in <= planned * USAGE["prompt_tokens"]  # type: ignore[operator]


@pytest.mark.parametrize("when", [FAR, "9" * 9, "1e999", "-5", "nan"])
def test_a_wait_without_measure_is_no_wait_and_no_failure(when: str) -> None:
    wait = retry_after({"retry-after": when, "date": "Mon, 01 Jan 0001 00:00:00 +2359"})

    assert wait is None or 0 <= wait <= 86_400


def test_a_refusal_with_a_date_beyond_the_calendar_is_tried_again(
    store: Store, provider: Provider
) -> None:
    provider.say(status(503, headers={"Retry-After": FAR}))

    run = store.runs.get(graded(store, provider))

    assert store.votes.failure_kinds(run.id) == []
    assert run.votes == len(ITEMS) * len(RUBRIC.criteria)


def test_headers_of_limits_without_measure_say_nothing() -> None:
    names = ("limit", "remaining", "reset")
    headers = {f"x-ratelimit-{name}-tokens": "9" * 400 for name in names}

    assert limits_in(headers) is None


def test_an_outcome_that_cannot_be_written_fails_alone_and_says_whose_it_is(
    store: Store, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = store.votes.record

    def refusing(run_id: int, outcomes: Sequence[AskedOutcome], **options: Any) -> Any:
        """As SQLite refuses a number that it cannot hold: the group of it is not written."""
        for outcome in outcomes:
            for one in outcome.results:
                if one.cell.item == "i3" and isinstance(one, Vote):
                    raise OverflowError("Python int too large to convert to SQLite INTEGER")
        return record(run_id, outcomes, **options)

    monkeypatch.setattr(store.votes, "record", refusing)
    run = store.runs.get(graded(store, provider))

    planned = len(ITEMS) * len(RUBRIC.criteria)
    assert (run.status, run.votes, provider.count) == ("done", planned - 2, planned)
    (failed,) = store.votes.failure_kinds(run.id)
    assert (failed.kind, failed.times) == ("internal", 2)
    assert "The answer of a on i3 could not be recorded (OverflowError" in failed.message
