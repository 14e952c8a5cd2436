"""A small world of contests: systems with planted quality, and judges on a stand-in provider."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from core import clock
from core.domain.base import build_model
from core.domain.dataset import Dataset
from core.domain.panel import Asking, Judge, Panel
from core.services.pairwise import contests
from core.services.pairwise.contests import ContestRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.new_store import new_store
from tests.provider import Answer, Provider, ok, said

Rule = Callable[[dict[str, Any]], Answer]


def dataset(systems: Sequence[str], tasks: int) -> Dataset:
    """Answers that carry a mark of how good they are: the later a system, the better."""
    items = [
        {
            "id": f"{task:03}-{place}",
            "prompt": f"Question {task}",
            "submission": f"answer {task} worth {place}",
            "system": system,
        }
        for task in range(tasks)
        for place, system in enumerate(systems)
    ]
    return build_model(Dataset, {"name": "answers", "items": items}, "dataset")


def shown_worth(body: dict[str, Any]) -> tuple[int, int]:
    """What A and B are worth, read off their blocks as a judge would."""
    text = "\n".join(m["content"] for m in body["messages"] if m["role"] == "user")
    found = re.findall(r"<<<BEGIN ANSWER [AB] \w+>>>\nanswer \d+ worth (\d+)", text)
    return int(found[0]), int(found[1])


def chance(body: dict[str, Any], salt: str = "") -> float:
    """A number in [0, 1) that depends on the request alone."""
    text = salt + body["model"] + "".join(m["content"] for m in body["messages"])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32


def words_or(choose: Callable[[dict[str, Any]], int]) -> Rule:
    """Answers in words where words are asked for, else with the option that ``choose`` names."""

    def rule(body: dict[str, Any]) -> Answer:
        if "response_format" not in body:
            return said("A: it is an answer. B: it is one, too.")
        return ok(choose(body), reason="A says more than B.")

    return rule


def honest(body: dict[str, Any]) -> int:
    """The better answer; a tie where they are worth the same."""
    a, b = shown_worth(body)
    return 1 if a > b else 2 if b > a else 3


def start(
    folder: Path,
    provider: Provider,
    systems: Sequence[str],
    tasks: int,
    *,
    judges: Sequence[str] = ("ada",),
    asking: dict[str, Any] | None = None,
    **settings: Any,
) -> tuple[Store, ContestRequest]:
    """A store with the answers, and a request to compare them."""
    store = new_store(folder / "studio.db")
    version = store.datasets.create(dataset(systems, tasks), now=clock.now())
    panel = Panel(
        judges=tuple(Judge(name=j, model=j, api_base=provider.url) for j in judges),
        asking=Asking(cache=False, **(asking or {})),
    )
    settings = {"seed": 5, **settings}
    return store, ContestRequest((version.id,), panel, tuple(systems), **settings)


def held(store: Store, request: ContestRequest) -> int:
    """The run of a request, worked off."""
    run_id = contests.start(store, request)
    assert work_here(store, run_id) == "done"
    return run_id
