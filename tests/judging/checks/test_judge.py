"""Whatever a check does to its process is a failure of its cell, and the others are answered."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.votes import AskedOutcome, Cell, Vote, VoteFailure
from core.judging.checks import desk as desks
from core.judging.checks.answers import MOST_SEEN
from core.judging.checks.desk import CheckDesk
from core.judging.checks.judge import CheckJudge
from core.judging.protocol import Question
from tests.judging.checks.test_answers import CITES, RUBRIC, ask

HOSTILE = "a" * 60 + "!"
FOR_EVER = {"json_schema": {"pattern": "^(a+)+$"}}


def question(item: Item, judge: str = "j") -> Question:
    return Question(Cell(item.id, "cites", judge, 0), item, RUBRIC, CITES, (0, 1), 1)


def judge(desk: CheckDesk, check: dict[str, Any], name: str = "j") -> CheckJudge:
    return CheckJudge(
        Judge.model_validate({"name": name, "kind": "check", "checks": {"cites": check}}), desk
    )


def texts(*given: str) -> list[Item]:
    return [Item(id=f"i{at}", submission=f'"{text}"') for at, text in enumerate(given)]


def kinds(outcomes: list[AskedOutcome]) -> list[type]:
    return [type(result) for outcome in outcomes for result in outcome.results]


@pytest.mark.parametrize(
    ("check", "text", "says"),
    [
        ({"json_schema": {"$ref": "#"}}, "{}", "refers to itself"),
        # 10 ** 400 is no floating-point number, which the library makes of it.
        ({"json_schema": {"multipleOf": 0.5}}, "1" + "0" * 400, "OverflowError"),
        ({"contains": "{reference}" * 5000}, "a", "memory"),
    ],
)
def test_what_a_check_cannot_take_is_a_failure(check: Any, text: str, says: str) -> None:
    said = ask({"cites": check}, item=Item(id="h", submission=text, reference="b" * 1_000_000))
    assert isinstance(said, VoteFailure)
    assert (said.kind, says in said.message) == ("code", True), said.message


def test_texts_beyond_the_bound_are_not_looked_at() -> None:
    long = "a" * (MOST_SEEN // 3 + 1)
    item = Item(id="h", submission=long, prompt=long, reference=long)
    said = ask({"cites": {"contains": ["{prompt}", "{reference}"]}}, item=item)
    assert isinstance(said, VoteFailure)
    assert f"{MOST_SEEN:,}" in said.message
    assert isinstance(
        ask({"cites": {"contains": "a"}}, item=item), Vote
    )  # nothing else is looked at


def test_what_hangs_is_said_and_the_rest_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desks, "PATIENCE", 0.5)

    async def answered() -> list[AskedOutcome]:
        desk = CheckDesk()
        one = judge(desk, FOR_EVER)
        items = texts("aaa", HOSTILE, "b", HOSTILE, "aa")
        found = await asyncio.gather(*(one.ask(question(item)) for item in items))
        await one.close()
        await desk.close()
        return found

    outcomes = asyncio.run(answered())
    assert kinds(outcomes) == [Vote, VoteFailure, Vote, VoteFailure, Vote]
    (failure,) = outcomes[1].results
    assert isinstance(failure, VoteFailure)
    assert failure.message == (
        "The check of judge 'j' for item 'i1' took more than 0.5 s and was ended. "
        "Simplify it, or shorten the text, and retry."
    )


def test_a_judge_that_hangs_leaves_room_for_another() -> None:
    async def answered() -> list[AskedOutcome]:
        desk = CheckDesk()
        slow, quick = judge(desk, FOR_EVER, "slow"), judge(desk, {"contains": "a"}, "quick")
        hanging = [asyncio.ensure_future(slow.ask(question(one))) for one in texts(*[HOSTILE] * 9)]
        await asyncio.sleep(0)
        found = await asyncio.gather(*(quick.ask(question(one)) for one in texts(*"abc" * 100)))
        assert not any(one.done() for one in hanging)
        await slow.close()
        await desk.close()
        for one in hanging:
            one.cancel()
        return found

    assert kinds(asyncio.run(answered())) == [Vote] * 300


def test_a_process_that_was_killed_takes_one_cell_and_none_while_it_waits() -> None:
    async def answered() -> list[AskedOutcome]:
        desk = CheckDesk()
        one = judge(desk, FOR_EVER)
        found = [await one.ask(question(texts("a")[0]))]
        (child,) = desk.idle
        os.kill(child, signal.SIGKILL)
        while child in desk.idle:
            await asyncio.sleep(0.01)
        found += [await one.ask(question(texts("a")[0]))]
        (child,) = desk.idle
        hanging = asyncio.ensure_future(one.ask(question(texts(HOSTILE)[0])))
        await asyncio.sleep(0.2)
        os.kill(child, signal.SIGKILL)
        found += [await hanging, await one.ask(question(texts("a")[0]))]
        await one.close()
        await desk.close()
        return found

    outcomes = asyncio.run(answered())
    assert kinds(outcomes) == [Vote, Vote, VoteFailure, Vote]
    assert "brought its process to an end" in str(outcomes[2].results)
