"""What the tests of runs in batches share: a judge's provider, a run of it, and kills."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from core.judging.providers.batches import BatchInterface
from core.services.runs import lifecycle, runner
from core.services.runs.batches import sending
from core.services.runs.planning import RunRequest
from core.store.runs.batches import Batches
from core.store.store import Store
from tests.judging.wire import KEY
from tests.provider import Answer, Provider
from tests.provider_batches import ProviderBatches

#: 4 items x 3 criteria of the fixture's run.
PLANNED = 12


@dataclass
class There:
    """One judge's provider: its batches, how it answers, and a run of that judge."""

    name: str
    provider: Provider
    batches: ProviderBatches
    answer: Callable[[dict[str, Any]], Answer]
    request: RunRequest

    def asked(self, **changes: Any) -> RunRequest:
        return replace(self.request, batch=True, **changes)


#: The model of a judge by the name of its provider, and the header that its key is sent in.
MODELS = {
    "openai": "ada",
    "azure": "azure/gpt-4.1-mini",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "mistral": "mistral/mistral-small-latest",
    "groq": "groq/llama-3.3-70b-versatile",
}
#: Those whose interface is not OpenAI's, which has tests of its own.
ELSEWHERE = ("azure", "anthropic", "mistral")
KEYS = {
    "openai": ("authorization", f"Bearer {KEY}"),
    "azure": ("api-key", KEY),
    "anthropic": ("x-api-key", KEY),
    "mistral": ("authorization", f"Bearer {KEY}"),
    "groq": ("authorization", f"Bearer {KEY}"),
}


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
        _end_at(_VERBS[moment], patch, lambda act: end_soon)
    elif moment == "uploading":
        _end_at("upload", patch, lambda act: _then(act, end))
    elif moment == "unbought":
        patch.setattr(sending.BatchSender, "_create_batch", end_soon)
    elif moment == "bought":
        patch.setattr(sending.BatchSender, "_follow_created", end_soon)
    else:
        patch.setattr(Batches, "take", end)


def _end_at(verb: str, patch: pytest.MonkeyPatch, ending: Callable[[Any], Any]) -> None:
    for door in (BatchInterface, *BatchInterface.__subclasses__()):
        if verb in vars(door):
            patch.setattr(door, verb, ending(vars(door)[verb]))


def _then(act: Callable[..., Any], end: Callable[[], Any]) -> Callable[..., Any]:
    async def acted(*arguments: Any) -> None:
        await act(*arguments)
        end()

    return acted


def worked_until(moment: str, store: Store, run_id: int) -> None:
    """A run whose process is killed at this moment."""
    with pytest.MonkeyPatch.context() as patch:
        killed_at(moment, patch)
        with pytest.raises(SystemError):
            runner.work_here(store, run_id)


#: Before which verb of a door a kill comes.
_VERBS = {"planned": "upload", "uploaded": "make", "sent": "look"}
