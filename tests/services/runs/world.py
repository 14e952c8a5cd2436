"""A small world to grade in: files on disk, a provider that answers by the request alone."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core import clock
from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge, Panel
from core.domain.rubric import Rubric
from core.formats.folder import read_dataset_file, read_rubric_file
from core.services.runs import lifecycle
from core.services.runs.planning import RunRequest
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.places import ROOT
from tests.provider import Answer, message, ok

RUBRIC = """\
name: Replies
criteria:
- name: cites
  requirement: Cites the policy.
  weight: 10
- name: tone
  requirement: How warm is the reply?
  weight: 5
  scale: ordinal
  options:
  - {label: Cold, value: 0}
  - {label: Neutral, value: 0.5}
  - {label: Warm, value: 1}
- name: topic
  requirement: What is it about?
  weight: 1
  scale: nominal
  options:
  - {label: Refund, value: 1}
  - {label: Delivery, value: 1}
  - {label: Other, value: 0}
"""


def write_files(folder: Path, items: int = 20) -> tuple[Path, Path]:
    """A rubric file and a dataset file."""
    rubric, dataset = folder / "replies.yaml", folder / "items.jsonl"
    rubric.write_text(RUBRIC)
    lines = [
        json.dumps({"id": f"i{n:03}", "submission": f"Reply number {n}: thirty days."})
        for n in range(items)
    ]
    dataset.write_text("\n".join(lines))
    return rubric, dataset


def asked_of(store: Store, judge: Judge, folder: Path, items: int) -> RunRequest:
    """A request for that judge over so many items, whose files are written to a folder."""
    rubric, dataset = write_files(folder, items)
    return request_of(
        store, judge, read_rubric_file(rubric).value, read_dataset_file(dataset).value
    )


def request_of(store: Store, judge: Judge, rubric: Rubric, dataset: Dataset) -> RunRequest:
    """The same over a rubric and a dataset, which are stored."""
    return RunRequest(
        rubric_version=store.rubrics.create(rubric, now=clock.now()).id,
        dataset_version=store.datasets.create(dataset, now=clock.now()).id,
        panel=Panel(judges=(judge,)),
        seed=1,
    )


def graded_by(store: Store, judge: Judge, rubric: Rubric, items: tuple[Item, ...]) -> int:
    """A run of that judge over these items, worked off here."""
    run = lifecycle.start(store, request_of(store, judge, rubric, Dataset(items=items)))
    work_here(store, run)
    return run


def by_request(body: dict[str, Any]) -> Answer:
    """An answer that depends on nothing but the request, as a model at temperature 0 would."""
    bounds = body["response_format"]["json_schema"]["schema"]["properties"]["option"]
    # A local server's schema has limits of texts, and a provider's has none.
    asked = {name: part for name, part in body.items() if name != "response_format"}
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()
    return ok(1 + digest[0] % bounds["maximum"], reason=f"because {digest.hex()[:8]}")


def by_message(body: dict[str, Any]) -> Answer:
    """What ``by_request`` answers, in Anthropic's protocol."""
    form = {"json_schema": {"schema": {"properties": {"option": {"maximum": 2}}}}}
    plain = {"messages": body["messages"], "response_format": form}
    told = json.loads(by_request(plain).body)["choices"][0]["message"]["content"]
    return message({"type": "text", "text": told})


def slowly(body: dict[str, Any], seconds: float = 0.02) -> Answer:
    """The same answer after a pause."""
    answer = by_request(body)
    return Answer(body=answer.body, stall=seconds)


def until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait for something that another thread or process does."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.02)


def votes_of(store: Store, run_id: int = 1) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """What was voted, by cell, without what differs between runs (times, call numbers)."""
    return {
        vote.cell: (vote.option, vote.abstained, vote.reason, vote.order)
        for item in store.runs.item_ids(run_id)
        for vote in store.votes.for_item(run_id, item)
    }


__all__ = ["ROOT", "RUBRIC", "by_message", "by_request", "slowly", "votes_of", "write_files"]
