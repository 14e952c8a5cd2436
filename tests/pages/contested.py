"""Contests as they are after a run: two judges, three systems, six tasks; and a person's arena.

Answers carry what they are worth (`tests.services.pairwise.world`):
ada is honest, bob always takes the answer shown first. With one judge deciding by worth and one
by place, the better system wins the order in which it stands first, and the judges are split in
the other: every contest is a tie by the panel, and won by the better one by ada alone.
"""

from __future__ import annotations

from typing import Any

from core import clock
from core.domain.dataset import Dataset
from core.domain.panel import Asking, Judge, Panel
from core.services.pairwise import contests
from core.services.pairwise.contests import ContestRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.provider import Provider
from tests.services.pairwise.world import dataset, honest, words_or

SYSTEMS = ("weak", "fair <b>one</b>", "best")
TASKS = 6


def choose(body: dict[str, Any]) -> int:
    """The better answer, or, for bob, the one shown first."""
    return 1 if body["model"] == "bob" else honest(body)


def panel(provider: Provider, *names: str) -> Panel:
    """Judges at the stand-in provider."""
    judges = tuple(Judge(name=n, model=n, api_base=provider.url, shuffle=False) for n in names)
    return Panel(name="Stand-ins", judges=judges, asking=Asking(cache=False))


def held(
    store: Store,
    *names: str,
    systems: tuple[str, ...] = SYSTEMS,
    tasks: int = TASKS,
    data: Dataset | None = None,
    **settings: Any,
) -> int:
    """A contest run between the systems, worked off."""
    version = store.datasets.create(data or dataset(systems, tasks), now=clock.now())
    with Provider() as provider:
        provider.rule = words_or(choose)
        request = ContestRequest(
            (version.id,), panel(provider, *(names or ("ada", "bob"))), seed=5, **settings
        )
        run_id = contests.start(store, request)
        assert work_here(store, run_id) == "done"
    return run_id
