"""Scores and contests over the same answers: where they disagree, and which items cause it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import clock
from core.domain.panel import Judge, Panel
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError
from core.services.pairwise.pointwise_contests import side_by_side_with
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from tests.provider import Answer, Provider, ok
from tests.services.pairwise.world import held, honest, start, words_or


def test_the_items_that_cause_a_contradiction_are_named(tmp_path: Path, provider: Provider) -> None:
    def rule(body: dict[str, Any]) -> Answer:
        text = "".join(m["content"] for m in body["messages"] if m["role"] == "user")
        if "<<<BEGIN ANSWER A" in text:
            return words_or(honest)(body)
        # Scores: "worth 2" is met, all else is not; but on task 1 it is the other way round.
        met = ("worth 2" in text) != ("answer 1 " in text)
        shown = text.index("MET") < text.index("UNMET")
        return ok((1 if shown else 2) if met else (2 if shown else 1))

    provider.rule = rule
    store, request = start(tmp_path, provider, ["x", "y", "z"], 3)
    contest = held(store, request)
    rubric = store.rubrics.create(
        Rubric(criteria=(Criterion(name="good", requirement="Is good."),)), now=clock.now()
    )
    judge = Judge(name="ada", model="ada", api_base=provider.url, shuffle=False)
    run = lifecycle.start(
        store, RunRequest(rubric.id, request.datasets[0], Panel(judges=(judge,)), seed=1)
    )
    assert work_here(store, run) == "done"
    found = side_by_side_with(store, [contest], run)
    # Contests: z > y > x on each task. Scores: z alone is met on tasks 0 and 2, so x-y is level
    # there (score_tie) and two agree; on task 1 x and y are met and z is not: two are reversed.
    assert found.counts == {"reversed": 2, "score_tie": 3, "agree": 4}
    assert found.by_task == (("001-0", 2),)
    assert {(s.first, s.second, s.winner) for s in found.sides[:2]} == {
        ("x", "z", "z"),
        ("y", "z", "z"),
    }
    assert found.sides[0].sources[1] == "001-2"
    assert found.left_out == 0
    other = held(store, replace(request, systems=("x", "y")))
    with pytest.raises(InputError, match="no scores"):
        side_by_side_with(store, [contest], other)
