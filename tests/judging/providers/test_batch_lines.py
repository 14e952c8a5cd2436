"""What a line of a batch's answers is read as: an answer, or a failure as a value."""

import json
from typing import Any

import pytest

from core.judging.providers.base import CallError, Request
from core.judging.providers.batch_doors import batch_door
from core.judging.providers.batches import BatchDoor, unanswered_line, was_cancelled
from core.judging.providers.openai_provider import OpenAIProvider
from tests.provider import said

ASKED = Request("ada", [], {}, api_base="http://127.0.0.1:9/v1", key="none")


def door() -> BatchDoor:
    return batch_door(OpenAIProvider(), ASKED)


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
    assert was_cancelled(unanswered_line("a", "batch_cancelled", ""))
    assert not was_cancelled(line(error="batch_cancelled"))
    assert not was_cancelled(line(response={"body": "batch_cancelled"}, error=None))
