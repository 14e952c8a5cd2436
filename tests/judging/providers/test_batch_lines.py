"""Batches over the wire: files that are large, and what a line of their answers is read as."""

import asyncio
import json
from typing import Any

import pytest

from core.judging.providers.base import CallError, Request
from core.judging.providers.batch_doors import batch_interface_for
from core.judging.providers.batches import BatchInterface, line_without_answer, was_cancelled
from core.judging.providers.openai_provider import OpenAIProvider
from core.judging.providers.plain import PlainProvider
from tests.provider import Provider, said

ASKED = Request("ada", [], {}, api_base="http://127.0.0.1:9/v1", key="none")


def door() -> BatchInterface:
    return batch_interface_for(OpenAIProvider(), ASKED)


def line(**parts: Any) -> str:
    return json.dumps({"custom_id": "a", **parts})


def test_an_answer_is_read_whatever_kind_of_number_its_status_is() -> None:
    body = json.loads(said("Well.").body)
    for status in (200, "200", 200.0):
        response = {"status_code": status, "body": body}
        assert door().read(ASKED, line(response=response)).text == "Well."


@pytest.mark.parametrize(
    ("parts", "kind"),
    [
        ({}, "server"),
        ({"response": None, "error": None}, "server"),
        ({"response": "x", "error": ["x"]}, "server"),
        ({"response": {"status_code": "many"}}, "server"),
        ({"response": {"status_code": float("inf")}}, "server"),
        ({"response": {"status_code": 200, "body": None}}, "server"),
        ({"response": {"status_code": 200, "body": "no JSON"}}, "server"),
        ({"response": {"status_code": 404, "body": {"error": {"message": "?"}}}}, "not_found"),
        ({"error": "It broke."}, "server"),
        ({"error": {"code": "invalid_request", "message": "No."}}, "bad_request"),
        ({"error": {"code": "batch_expired"}}, "expired"),
        ({"error": {"code": "batch_cancelled", "message": "Stopped."}}, "expired"),
    ],
)
def test_a_line_without_an_answer_says_what_went_wrong(parts: dict[str, Any], kind: str) -> None:
    with pytest.raises(CallError) as told:
        door().read(ASKED, line(**parts))
    assert told.value.kind == kind


def test_only_a_line_that_says_so_was_cancelled() -> None:
    assert was_cancelled(line_without_answer("a", "batch_cancelled", ""))
    assert not was_cancelled(line(error="batch_cancelled"))
    assert not was_cancelled(line(response={"body": "batch_cancelled"}, error=None))


@pytest.mark.parametrize(
    "model", ["openai/gpt-4.1-mini", "azure/gpt-4.1-mini", "anthropic/claude-sonnet-4-5"]
)
def test_a_file_of_megabytes_goes_out_whole(
    model: str, provider: Provider, runner: asyncio.Runner
) -> None:
    names = ("OPENAI_API_BASE", "AZURE_API_BASE", "ANTHROPIC_API_BASE")
    places = dict.fromkeys(names, provider.url)
    places["ANTHROPIC_API_BASE"] = provider.url.removesuffix("/v1")
    words = [{"role": "user", "content": "x" * 2_000_000}]
    asked = Request(model, words, {}, key="none", format="words", timeout=30.0)

    async def go() -> str:
        sender = PlainProvider(places)
        try:
            at = batch_interface_for(sender, asked)
            data = b"".join(at.line(key * 40, asked) for key in "ab")
            return (await at.make(await at.upload("x.jsonl", data), "t" * 16)).id
        finally:
            await sender.close()

    assert runner.run(go())
    files = [*provider.batches.files.values(), *provider.message_batches.files.values()]
    assert [len(file) > 4_000_000 and file.count(b"x" * 2_000_000) for file in files] == [2]
