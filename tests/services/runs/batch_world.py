"""What the tests of runs in batches share: batches that are looked at at once, and kills."""

from __future__ import annotations

from typing import Any

import pytest

from core.judging.providers.batches import BatchDoor
from core.services.runs import lifecycle, runner
from core.services.runs.batches import sending
from core.services.runs.planning import RunRequest
from core.store.runs.batches import Batches
from core.store.store import Store


def work(store: Store, request: RunRequest) -> int:
    """A run that is worked off here."""
    run_id = lifecycle.start(store, request)
    runner.work_here(store, run_id)
    return run_id


def killed_at(moment: str, patch: pytest.MonkeyPatch) -> None:
    """From this moment on nothing more is done."""

    def end(*_: object, **__: object) -> Any:
        raise SystemError("killed")

    async def end_soon(*_: object, **__: object) -> Any:
        raise SystemError("killed")

    fill, times = sending.BatchSender.fill, iter(range(9))

    async def fill_once(*arguments: Any) -> None:
        if next(times):
            raise SystemError("killed")
        await fill(*arguments)

    if moment == "between two steps":
        patch.setattr(sending.BatchSender, "fill", fill_once)
    elif moment in _VERBS:
        for door in (BatchDoor, *BatchDoor.__subclasses__()):
            if _VERBS[moment] in vars(door):
                patch.setattr(door, _VERBS[moment], end_soon)
    elif moment == "bought":
        patch.setattr(sending.BatchSender, "_bought", end_soon)
    else:
        patch.setattr(Batches, "take", end)


#: Before which verb of a door a kill comes.
_VERBS = {"planned": "upload", "uploaded": "make", "sent": "look"}
