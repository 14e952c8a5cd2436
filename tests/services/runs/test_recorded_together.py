"""An answer, its call and its vote reach the data file in one transaction, or none of them does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from core.domain.votes import AskedOutcome
from core.judging.asking.engine import grade
from core.services.runs import lifecycle
from core.services.runs.cluster import asking
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.services.runs.test_kept_answers import with_judge


async def trickling(*arguments: Any, **options: Any) -> AsyncIterator[AskedOutcome]:
    """The engine, from which outcomes come more slowly than answers do."""
    async for outcome in grade(*arguments, **options):
        await asyncio.sleep(0.02)
        yield outcome


def test_after_every_commit_there_are_as_many_kept_answers_as_votes_and_calls(
    store: Store, request_: RunRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, ...]] = []
    record = store.votes.record

    def watched(*arguments: Any, **options: Any) -> Any:
        # What earlier transactions left is what a kill would leave now.
        nonlocal seen
        seen += store.votes._files.tuples(
            "SELECT (SELECT count(*) FROM response), (SELECT count(*) FROM vote), "
            "(SELECT count(*) FROM call)"
        )
        return record(*arguments, **options)

    monkeypatch.setattr(store.votes, "record", watched)
    monkeypatch.setattr(asking, "grade", trickling)
    # 4 items x 3 criteria x 3 replicates, all asked at once.
    asked = replace(with_judge(request_, concurrency=36), replicates=3)
    assert work_here(store, lifecycle.start(store, asked)) == "done"
    assert [counts for counts in seen if len(set(counts)) > 1] == []
    assert len(seen) > 1  # it was looked at in the middle
    assert store.responses.count() == 36
