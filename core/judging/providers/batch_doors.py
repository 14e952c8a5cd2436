"""The batch interfaces of providers that differ from OpenAI's.

``batch_interface_for`` chooses the interface for a judge. litellm's batch functions are not used:
they cannot create batches at Anthropic, cannot list or cancel them at Mistral, and need the user's
own storage for the clouds they support.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from core.judging.known_providers import PLAIN, split_model_name
from core.judging.providers.anthropic_batches import MessageBatches
from core.judging.providers.base import CallError, Request, unset_message
from core.judging.providers.batches import MARK, MOST_PAGES, BatchInterface, BatchState, rows_of
from core.judging.providers.openai_provider import OpenAIProvider
from core.judging.providers.plain import PlainProvider


def batch_interface_for(provider: OpenAIProvider, like: Request) -> BatchInterface:
    """Return the batch interface for a request's judge. Raises ``CallError``."""
    # A custom address speaks the OpenAI protocol, whatever the model's name.
    name = split_model_name(like.model)[0] if isinstance(provider, PlainProvider) else ""
    if name and not like.key and not like.api_base:
        # Other sign-ins need litellm, which cannot create batches.
        raise CallError("missing_key", unset_message(PLAIN[name].keys[0]), sent=False)
    return _DOORS.get(name, BatchInterface)(provider, like)


class AzureBatches(BatchInterface):
    """Azure: files and batches belong to the resource, not to a deployment."""

    _endpoint, _type = "/chat/completions", "application/json"

    def _address(self, url: str) -> tuple[str, dict[str, str]]:
        base, _, deployment = url.rpartition("/deployments/")
        return base, {"api-version": deployment.partition("?api-version=")[2]}

    async def make(self, file: str, token: str) -> BatchState:
        """Start a batch. Azure refuses until it has read the file."""
        state = await self._tell("GET", f"/files/{file}")
        if str(state.get("status")).lower() in _UNREAD:
            raise CallError("server", "Azure still reads the file of requests.", sent=False)
        return await super().make(file, token)


#: Azure's errors about a file that Azure has not read yet.
_UNREAD = frozenset({"uploaded", "pending", "notrunning", "running"})


class MistralBatches(BatchInterface):
    """Mistral: batches are jobs of one model each, listed by page number."""

    _batches = "/batch/jobs"

    def __init__(self, provider: OpenAIProvider, like: Request) -> None:
        super().__init__(provider, like)
        self._model = split_model_name(like.model)[1]

    async def make(self, file: str, token: str) -> BatchState:
        """Start a batch. Only this call costs money."""
        body = {
            "input_files": [file],
            "model": self._model,
            "endpoint": self._endpoint,
            "timeout_hours": 24,
            "metadata": {MARK: token},
        }
        return self._batch_state(await self._tell("POST", self._batches, json=body))

    async def files(self, name: str) -> list[str]:
        """Return the ids of the files with this name."""
        params = {"purpose": "batch", "search": name, "page_size": "100"}
        rows = rows_of(await self._tell("GET", "/files", params=params))
        return [str(row.get("id") or "") for row in rows if row.get("filename") == name]

    async def _listed(self) -> AsyncIterator[dict[str, Any]]:
        for number in range(MOST_PAGES):
            params = {"page": str(number), "page_size": "100"}
            rows = rows_of(await self._tell("GET", self._batches, params=params))
            for row in rows:
                yield row
            if len(rows) < 100:
                return


_DOORS: dict[str, type[BatchInterface]] = {
    "anthropic": MessageBatches,
    "azure": AzureBatches,
    "mistral": MistralBatches,
}
