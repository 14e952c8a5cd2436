"""Answers changed at random: each takes its own cell at most, and nothing else of the run."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.store.store import Store
from tests import mutations
from tests.provider import Answer, Provider, ok
from tests.services.diagnostics.test_probes import RUBRIC
from tests.services.runs.world import graded_by

ITEMS = 150


@pytest.mark.parametrize("seed", [1, 2])
def test_one_answer_takes_one_cell_at_most(store: Store, seed: int) -> None:
    items = tuple(Item(id=f"i{at}", submission=f"Text {at}.") for at in range(ITEMS))
    bad = {f"Text {at}." for at in range(0, ITEMS, 3)}

    def rule(body: dict[str, Any]) -> Answer:
        # By the request, so that it is the same whenever it is asked.
        asked = body["messages"][-1]["content"]
        # Every answer has an id of its own, as providers give them.
        own = f"chatcmpl-{provider.count}".encode()
        good = replace(ok(), body=ok().body.replace(b"chatcmpl-1", own))
        if not any(text in asked for text in bad):
            return good
        return mutations.answer(good, random.Random(f"{seed} {asked}"))

    with Provider() as provider:
        provider.rule = rule
        judge = Judge(name="a", model="a", api_base=provider.url, shuffle=False, tries=2)
        run_id = graded_by(store, judge, RUBRIC, items)
    run = store.runs.get(run_id)
    failed = store.votes.failed(run_id)
    assert run.status == "done"
    assert run.votes + len(failed) == ITEMS * len(RUBRIC.criteria)
    assert {f"Text {one.item[1:]}." for one in failed} <= bad
    assert "internal" not in {one.kind for one in store.votes.failure_kinds(run_id)}
