"""Batch interfaces of the provider on loopback: files and batches of OpenAI, Azure and Mistral.

A batch is a step further with every look at it, so that nothing hangs on time. What was answered is
what was bought: ``bought`` counts it by the id of the request and the words of the prompt, and
``bodies`` are the requests.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from aiohttp import web

STEPS = ("validating", "in_progress", "finalizing", "completed")


class ProviderBatches:
    """Files and batches. The attributes say how the next batches go.

    ``share`` of the lines are answered before a batch ends as ``end``; ``fault`` (code, words)
    turns a batch down as a whole; ``refuse`` is a status that answers whatever is asked here, and
    ``lose`` cuts the connection after a batch was made, as a kill in that moment would, and
    ``lose_upload`` after a file arrived, which is said after ``slow`` seconds. ``unread``
    is how often Azure is still to say that it has not read a file, ``garbage`` are lines that stand
    before the answers, and ``becomes`` says which lines each line of an answer is told as. For so
    many times, ``busy`` no batch is made, and ``hidden`` none is listed.
    """

    def __init__(self, rule: Callable[[dict[str, Any]], Any]) -> None:
        self._rule = rule
        self.files: dict[str, bytes] = {}
        self.names: dict[str, str] = {}
        self.made: dict[str, dict[str, Any]] = {}
        self.bought: Counter[tuple[str, str]] = Counter()
        self.steps = STEPS
        self.share, self.end = 1.0, "completed"
        self.fault: tuple[str, str] | None = None
        self.refuse = 0
        self.lose = self.lose_upload = False
        self.slow = 0.0
        self.unread = 0
        self.busy = self.hidden = 0
        self.garbage: list[bytes] = []
        self.becomes: Callable[[bytes], list[bytes]] = lambda line: [line]
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[dict[str, Any]] = []

    def add_routes(self, router: web.UrlDispatcher) -> None:
        """The addresses of OpenAI, Azure and Mistral."""
        for base in ("/v1", "/v1/openai"):
            self._add_routes(router, base)
        router.add_get("/v1/openai/files/{name}", self._heard(self._file))
        router.add_post("/v1/batch/jobs", self._heard(self._make))
        router.add_get("/v1/batch/jobs", self._heard(self._list))
        router.add_get("/v1/batch/jobs/{name}", self._heard(self._look))
        router.add_post("/v1/batch/jobs/{name}/cancel", self._heard(self._cancel))

    def _add_routes(self, router: web.UrlDispatcher, base: str) -> None:
        router.add_post(f"{base}/files", self._heard(self._upload))
        router.add_get(f"{base}/files", self._heard(self._listed_files))
        router.add_get(f"{base}/files/{{name}}/content", self._heard(self._content))
        router.add_delete(f"{base}/files/{{name}}", self._heard(self._remove))
        router.add_post(f"{base}/batches", self._heard(self._make))
        router.add_get(f"{base}/batches", self._heard(self._list))
        router.add_get(f"{base}/batches/{{name}}", self._heard(self._look))
        router.add_post(f"{base}/batches/{{name}}/cancel", self._heard(self._cancel))

    def _heard(self, act: Any) -> Any:
        async def answer(request: web.Request) -> web.StreamResponse:
            self.asked.append(f"{request.method} {request.path_qs}")
            self.headers.append({name.lower(): value for name, value in request.headers.items()})
            if "/openai/" in request.path:
                assert request.query["api-version"]
            if self.refuse:
                error = {"message": "scripted error", "code": None}
                return web.json_response({"error": error}, status=self.refuse)
            if self.busy and act == self._make:
                self.busy -= 1
                return web.json_response({"error": {"message": "Later."}}, status=429)
            if self.hidden and act == self._list:
                self.hidden -= 1
                return web.json_response({"data": [], "has_more": False})
            response: web.StreamResponse = await act(request)
            return response

        return answer

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        file = form["file"]
        assert isinstance(file, web.FileField)
        name = f"file-{len(self.files) + 1}"
        self.files[name], self.names[name] = file.file.read(), file.filename
        await asyncio.sleep(self.slow)
        if self.lose_upload:
            self.lose_upload = False
            assert request.transport is not None
            request.transport.close()
        return web.json_response({"id": name, "object": "file", "purpose": "batch"})

    async def _listed_files(self, request: web.Request) -> web.Response:
        rows = [
            {"id": name, "filename": self.names[name], "purpose": "batch"}
            for name, data in self.files.items()
            if data and name in self.names
        ]
        return web.json_response({"object": "list", "data": rows, "has_more": False})

    async def _file(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        self.unread -= 1
        status = "processed" if self.unread < 0 else "pending"
        return web.json_response({"id": name, "status": status, "purpose": "batch"})

    async def _content(self, request: web.Request) -> web.Response:
        data = self.files.get(request.match_info["name"])
        return web.Response(body=data) if data is not None else _unknown()

    async def _remove(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        # The number of a file is never given twice.
        if not self.files.get(name):
            return _unknown()
        self.files[name] = b""
        if "/openai/" in request.path:
            return web.Response(status=204)
        return web.json_response({"id": name, "object": "file", "deleted": True})

    async def _make(self, request: web.Request) -> web.Response:
        asked = await request.json()
        if "/batch/jobs" in request.path:
            assert (asked.pop("timeout_hours"), bool(asked.pop("model"))) == (24, True)
            (asked["input_file_id"],) = asked.pop("input_files")
            asked["completion_window"] = "24h"
        assert asked["completion_window"] == "24h"
        azure = "/openai/" in request.path
        assert asked["endpoint"] == ("/chat/completions" if azure else "/v1/chat/completions")
        assert not azure or self.unread < 0
        if not self.files.get(asked["input_file_id"]):
            return _unknown()
        lines = self.files[asked["input_file_id"]].splitlines()
        batch = {
            "id": f"batch_{len(self.made) + 1}",
            "object": "batch",
            "endpoint": asked["endpoint"],
            "input_file_id": asked["input_file_id"],
            "status": self.steps[0],
            "metadata": asked.get("metadata"),
            "output_file_id": None,
            "error_file_id": None,
            "errors": None,
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
        }
        self.made[batch["id"]] = batch
        if self.lose and request.transport is not None:
            self.lose = False
            request.transport.abort()
        return web.json_response(_shown(request, batch))

    async def _list(self, request: web.Request) -> web.Response:
        newest = list(self.made.values())[::-1]
        after = request.query.get("after")
        names = [one["id"] for one in newest]
        start = names.index(after) + 1 if after else 0
        limit = int(request.query.get("limit", 20))
        if "page" in request.query:
            limit = int(request.query["page_size"])
            start = limit * int(request.query["page"])
        page = [_shown(request, one) for one in newest[start : start + limit]]
        more = start + limit < len(newest)
        return web.json_response({"object": "list", "data": page, "has_more": more})

    async def _look(self, request: web.Request) -> web.Response:
        batch = self.made.get(request.match_info["name"])
        if batch is None:
            return _unknown()
        if batch["status"] == "cancelling":
            self._process_runs(batch, "cancelled")
        elif batch["status"] in self.steps[:-1]:
            step = self.steps[self.steps.index(batch["status"]) + 1]
            if self.fault is not None:
                batch["status"] = "failed"
                error = {"code": self.fault[0], "message": self.fault[1], "line": None}
                batch["errors"] = {"object": "list", "data": [error]}
            elif step == self.steps[-1]:
                self._process_runs(batch, self.end)
            else:
                batch["status"] = step
        return web.json_response(_shown(request, batch))

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self.made.get(request.match_info["name"])
        if batch is None:
            return _unknown()
        batch["status"] = "cancelling"
        return web.json_response(_shown(request, batch))

    @property
    def left(self) -> bool:
        """Whether anything that somebody wrote is still here."""
        return any(self.files.values())

    def _told(self, lines: list[bytes]) -> bytes:
        # Answers come in any order.
        told = [one for line in lines[::-1] for one in self.becomes(line)]
        return b"\n".join([*self.garbage, *told]) + b"\n"

    def _process_runs(self, batch: dict[str, Any], end: str) -> None:
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        count = round(self.share * len(lines))
        well, ill = list[bytes](), list[bytes]()
        for line in lines[:count]:
            self.bodies.append(line["body"])
            answer = self._rule(line["body"])
            self.bought[line["custom_id"], json.dumps(line["body"]["messages"])] += 1
            response = {"status_code": answer.status, "body": json.loads(answer.body)}
            (well if answer.status == 200 else ill).append(_line(line, response, None))
        for line in lines[count:]:
            code = "batch_cancelled" if end == "cancelled" else "batch_expired"
            ill.append(_line(line, None, {"code": code, "message": ""}))
        batch["status"] = end
        batch["request_counts"] |= {"completed": len(well), "failed": len(ill)}
        for kind, found in (("output_file_id", well), ("error_file_id", ill)):
            if found:
                batch[kind] = f"file-{len(self.files) + 1}"
                self.files[batch[kind]] = self._told(found)


def _shown(request: web.Request, batch: dict[str, Any]) -> dict[str, Any]:
    """A batch in the words of whoever is asked; Azure's begin with a capital."""
    if "/openai/" in request.path:
        return {**batch, "status": batch["status"].capitalize()}
    if "/batch/jobs" not in request.path:
        return batch
    counts, errors = batch["request_counts"], (batch["errors"] or {}).get("data", [])
    return {
        "id": batch["id"],
        "object": "batch",
        "input_files": [batch["input_file_id"]],
        "endpoint": batch["endpoint"],
        "metadata": batch["metadata"],
        "status": _OF_MISTRAL.get(batch["status"], "RUNNING"),
        "errors": [{"message": one["message"], "count": 1} for one in errors],
        "output_file": batch["output_file_id"],
        "error_file": batch["error_file_id"],
        "total_requests": counts["total"],
        "completed_requests": counts["completed"] + counts["failed"],
        "succeeded_requests": counts["completed"],
        "failed_requests": counts["failed"],
    }


_OF_MISTRAL = {
    "validating": "QUEUED",
    "completed": "SUCCESS",
    "failed": "FAILED",
    "expired": "TIMEOUT_EXCEEDED",
    "cancelling": "CANCELLATION_REQUESTED",
    "cancelled": "CANCELLED",
}


def _line(asked: dict[str, Any], response: object, error: object) -> bytes:
    line = {"id": "r", "custom_id": asked["custom_id"], "response": response, "error": error}
    return json.dumps(line).encode()


def _unknown() -> web.Response:
    return web.json_response({"error": {"message": "No such object."}}, status=404)
