"""A task's steps are told one by one, and nothing else about it changes."""

from __future__ import annotations

import asyncio

import pytest

from core.judging.asking.steps import stepwise as given_stepwise


async def work(told: list[str], name: str) -> str:
    told.append(f"{name} 1")
    try:
        await asyncio.sleep(0)
    except asyncio.CancelledError:
        told.append(f"{name} cancelled")
        raise
    told.append(f"{name} 2")
    if name == "bad":
        raise ValueError(name)
    return name


async def stepwise(told: list[str], name: str) -> str:
    return await given_stepwise(
        work(told, name), lambda: told.append(f"({name}"), lambda: told.append(f"{name})")
    )


def test_steps_of_two_tasks_are_told_apart() -> None:
    told = list[str]()

    async def both() -> list[str]:
        return await asyncio.gather(stepwise(told, "a"), stepwise(told, "b"))

    assert asyncio.run(both()) == ["a", "b"]
    assert told == ["(a", "a 1", "a)", "(b", "b 1", "b)", "(a", "a 2", "a)", "(b", "b 2", "b)"]


def test_what_is_raised_within_and_what_is_thrown_in_comes_through() -> None:
    told = list[str]()
    with pytest.raises(ValueError, match="bad"):
        asyncio.run(stepwise(told, "bad"))
    assert told == ["(bad", "bad 1", "bad)", "(bad", "bad 2", "bad)"]

    async def cancelled() -> None:
        task = asyncio.create_task(stepwise(told, "c"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    told.clear()
    asyncio.run(cancelled())
    assert told == ["(c", "c 1", "c)", "(c", "c cancelled", "c)"]
