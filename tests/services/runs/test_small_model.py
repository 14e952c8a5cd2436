"""A local model that is slow and chatty, from estimate to votes: what a small one does to a run.

The stand-in behaves as SmolLM2-135M does in llama.cpp's server: it writes JSON without an end
unless its texts are bounded, says something else than an option first, and is slow.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.cli.requests_from_files import request_warnings
from core.domain.panel import Asking, Judge, Panel
from core.judging.providers import connections
from core.services.runs import lifecycle
from core.services.runs.cost_estimate import estimate_request
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.new_store import new_store
from tests.provider import Answer, Provider, entry, said, status
from tests.services.comparison.world import RUBRIC, dataset

NOW = "2026-03-01T10:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path / "studio.db")


def small_model(body: dict[str, Any]) -> Answer:
    """Answer as the small model would, after a while."""
    text = json.dumps(body["messages"])
    if len(text) > 60_000:
        return status(400, "request (9031 tokens) exceeds the available context size (4096 tokens)")
    if body.get("max_tokens") == 5:
        top = [entry("The", 0.6), entry("No", 0.2), entry("2", 0.1), entry("Yes", 0.1)]
        return said("The", logprobs={"content": [{**top[0], "top_logprobs": top}]})
    if "response_format" not in body:
        # Where it is bounded, it is cut off: it never ends by itself.
        return said("It is about the reply.", finish="length" if "max_tokens" in body else "stop")
    schema = body["response_format"]["json_schema"]["schema"]
    asked = schema["properties"]
    if "too long" in text or "evidence" not in json.dumps(asked):
        return said(json.dumps(_options(asked)))
    if "maxItems" in json.dumps(asked) and "Reply 1" not in text:
        return said(json.dumps(_options(asked)))
    return said('{"evidence": ["Reply", "Reply", "Reply", "Rep', finish="length")


def _options(asked: dict[str, Any]) -> dict[str, Any]:
    if "option" in asked:
        return {"option": 1}
    return {name: {"option": 1} for name in asked}


def request(store: Store, judge: Judge, texts: list[str], **asking: Any) -> RunRequest:
    kept = dataset({"clear": [""] * len(texts)}, texts)
    return RunRequest(
        rubric_version=store.rubrics.version_with_content(RUBRIC, now=NOW).id,
        dataset_version=store.datasets.create(kept, now=NOW).id,
        panel=Panel(judges=(judge,), asking=Asking(**asking)),
        seed=1,
    )


@pytest.mark.parametrize("mode", ["criterion", "rubric", "two_step"])
@pytest.mark.parametrize("style", ["full", "brief"])
def test_every_cell_gets_a_vote_in_every_mode(
    mode: str, style: str, store: Store, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BEAT", 0.02)
    provider.rule = lambda body: replace(small_model(body), stall=0.1 / provider.count**2)
    judge = Judge(name="small", model="small", api_base=provider.url, concurrency=4)
    run_id = lifecycle.start(
        store, request(store, judge, ["Reply 0", "Reply 1"], mode=mode, style=style)
    )
    assert work_here(store, run_id) == "done"
    row = store.runs.row(run_id)
    assert (row.votes, row.failures_open) == (4, 0)
    # The first call was slow: others waited for it, and it was not sent again.
    assert provider.beats >= 1
    assert provider.requests[0].body != provider.requests[1].body
    repaired = [v for v in store.votes.for_item(run_id, "i1") if v.detail.get("repaired")]
    # Of the runaway replies only the option was asked for again; brief ones do not run away.
    assert len(repaired) == (0 if style == "brief" else 2)


def test_deciding_takes_the_option_from_chances_elsewhere(store: Store, provider: Provider) -> None:
    provider.rule = small_model
    judge = Judge(name="small", model="small", api_base=provider.url, decides=True)
    asked = request(store, judge, ["Reply 0", "Reply 1"])
    expected = estimate_request(store, asked)
    run_id = lifecycle.start(store, asked)
    work_here(store, run_id)
    row = store.runs.row(run_id)
    assert (row.votes, row.failures_open, provider.count, expected.calls) == (4, 0, 4, 4)
    assert expected.tokens_out == 4 * 5


def test_a_text_beyond_the_context_fails_once_and_by_its_name(
    store: Store, provider: Provider
) -> None:
    provider.rule = small_model
    judge = Judge(name="small", model="small", api_base=provider.url)
    run_id = lifecycle.start(store, request(store, judge, ["x" * 70_000], style="brief"))
    work_here(store, run_id)
    (failed,) = store.votes.failure_kinds(run_id)
    assert (failed.kind, failed.times, provider.count) == ("context_length", 2, 2)


def test_the_brief_wording_is_proposed_and_its_prompts_are_shorter(
    store: Store, provider: Provider
) -> None:
    judge = Judge(name="small", model="small", api_base=provider.url)
    full, brief = (
        request(store, judge, ["Reply 0", "Reply 1"], style=style) for style in ("full", "brief")
    )
    far = request(store, Judge(name="f", model="groq/x"), ["Reply"])
    assert [len(request_warnings(asked)) for asked in (full, brief, far)] == [1, 0, 0]
    assert [estimate_request(store, asked).brief_suits for asked in (full, brief)] == [True, False]
    assert 3 * estimate_request(store, brief).tokens_in < estimate_request(store, full).tokens_in
    assert estimate_request(store, brief).tokens_out == 4 * 12
