"""Batches of messages of the provider on loopback, as Anthropic has them.

Requests come with the batch; results are told when it has ended, by an address of their own.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from aiohttp import web

from tests.provider_batches import ProviderBatches

_ENDS = {"expired": "expired", "cancelled": "canceled"}


class ProviderMessageBatches(ProviderBatches):
    """Batches of messages; their attributes are those of ``ProviderBatches``.

    ``results`` is how an address of results begins; empty for this server's own.
    """

    results = ""

    def add_routes(self, router: web.UrlDispatcher) -> None:
        base = "/v1/messages/batches"
        router.add_post(base, self._heard(self._make))
        router.add_get(base, self._heard(self._list))
        router.add_get(f"{base}/{{name}}", self._heard(self._look))
        router.add_get(f"{base}/{{name}}/results", self._heard(self._results))
        router.add_post(f"{base}/{{name}}/cancel", self._heard(self._cancel))
        router.add_delete(f"{base}/{{name}}", self._heard(self._remove))

    def foreign(self, requests: int) -> None:
        """Somebody else has a batch of so many requests worked off."""
        params = {"messages": [], "model": "claude-sonnet-4-5"}
        self._begin([{"custom_id": f"theirs-{n}", "params": params} for n in range(requests)])

    async def _make(self, request: web.Request) -> web.Response:
        asked = (await request.json())["requests"]
        ids = [one["custom_id"] for one in asked]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in ids)
        batch = self._begin(asked)
        if self.lose and request.transport is not None:
            self.lose = False
            request.transport.abort()
        return web.json_response(batch)

    def _begin(self, asked: list[dict[str, Any]]) -> dict[str, Any]:
        name = f"msgbatch_{len(self.made) + 1}"
        self.files[name] = json.dumps(asked).encode()
        self.made[name] = {
            "id": name,
            "type": "message_batch",
            "processing_status": "in_progress",
            "request_counts": _counts(processing=len(asked)),
            "created_at": datetime.now(UTC).isoformat(),
            "cancel_initiated_at": None,
            "results_url": None,
            "step": 0,
        }
        return self.made[name]

    async def _list(self, request: web.Request) -> web.Response:
        for batch in self.made.values():
            self._step(request, batch)
        newest = list(self.made.values())[::-1]
        names = [one["id"] for one in newest]
        after = request.query.get("after_id")
        start = names.index(after) + 1 if after else 0
        end = start + int(request.query.get("limit", 20))
        return web.json_response({"data": newest[start:end], "has_more": end < len(newest)})

    async def _look(self, request: web.Request) -> web.Response:
        batch = self.made.get(request.match_info["name"])
        if batch is None:
            return _unknown()
        self._step(request, batch)
        return web.json_response(batch)

    def _step(self, request: web.Request, batch: dict[str, Any]) -> None:
        if batch["processing_status"] == "ended":
            return
        batch["step"] += 1
        if batch["processing_status"] == "canceling":
            self._end(request, batch, "cancelled")
        elif batch["step"] >= len(self.steps):
            self._end(request, batch, self.end)

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self.made.get(request.match_info["name"])
        if batch is None:
            return _unknown()
        batch["processing_status"] = "canceling"
        batch["cancel_initiated_at"] = datetime.now(UTC).isoformat()
        return web.json_response(batch)

    async def _results(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name not in self.made:
            return _unknown()
        return web.Response(body=self.files[name])

    async def _remove(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if self.made[name]["processing_status"] != "ended":
            return _unknown()
        # The number of a batch is never given twice.
        self.files[name] = b""
        return web.json_response({"id": name, "type": "message_batch_deleted"})

    def _end(self, request: web.Request, batch: dict[str, Any], end: str) -> None:
        asked = json.loads(self.files[batch["id"]])
        count = round(self.share * len(asked))
        lines = [self._result(one) for one in asked[:count]]
        rest = {"type": _ENDS.get(end, "expired")}
        lines += [{"custom_id": one["custom_id"], "result": rest} for one in asked[count:]]
        batch["processing_status"] = "ended"
        kinds = [one["result"]["type"] for one in lines]
        batch["request_counts"] = _counts(**{kind: kinds.count(kind) for kind in set(kinds)})
        path = f"/v1/messages/batches/{batch['id']}/results"
        batch["results_url"] = f"{self.results or request.url.origin()}{path}"
        self.files[batch["id"]] = self._told([json.dumps(one).encode() for one in lines])

    def _result(self, one: dict[str, Any]) -> dict[str, Any]:
        if one["custom_id"].startswith("theirs-"):
            return {"custom_id": one["custom_id"], "result": {"type": "canceled"}}
        self.bodies.append(one["params"])
        answer = self._rule(one["params"])
        key = one["custom_id"].rpartition("-")[0]
        self.bought[key, json.dumps(one["params"]["messages"])] += 1
        body = json.loads(answer.body)
        result = {"type": "succeeded", "message": body}
        if answer.status != 200:
            result = {"type": "errored", "error": body}
        return {"custom_id": one["custom_id"], "result": result}


def _counts(**known: int) -> dict[str, int]:
    return {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0} | known


def _unknown() -> web.Response:
    error = {"type": "not_found_error", "message": "No such batch."}
    return web.json_response({"type": "error", "error": error}, status=404)
