"""The answers kept in the data file, as judges meet them."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from core import clock
from core.domain.votes import Cell
from core.errors import InputError
from core.identity import content_hash, text_hash
from core.judging.asking.answer_cache import as_answer, request_key
from core.judging.prompts.reply_parsing import reply_schema
from core.judging.providers.base import Completion, Request
from core.services.runs.ready_run import KeptAnswers
from core.settings import load_settings
from core.store.store import Store
from tests.new_store import new_store

ANSWER = Completion("{}", model="m", finish="stop", tokens_in=7, refusal="", cost=0.5)


def test_an_answer_comes_back_as_it_was_put_once_it_is_written(tmp_path: Path) -> None:
    async def story(store: Store) -> tuple[Completion | None, Completion | None]:
        kept = KeptAnswers(store)
        before = await kept.get("key")
        store.responses.put([as_answer("key", "m", ANSWER)], now=clock.now())
        after = await kept.get("key")
        await kept.close()
        return before, after

    assert asyncio.run(story(new_store(tmp_path / "s.db"))) == (None, ANSWER)


def test_many_who_ask_at_once_are_answered_together_and_one_may_leave(tmp_path: Path) -> None:
    store = new_store(tmp_path / "s.db")
    looked: list[tuple[int, str]] = []
    look = store.responses.get

    def watched(keys: list[str]) -> object:
        looked.append((len(keys), threading.current_thread().name))
        return look(keys)

    store.responses.get = watched  # type: ignore[method-assign, assignment]

    async def story() -> list[object]:
        kept = KeptAnswers(store)
        asked = [asyncio.ensure_future(kept.get(f"key {n}")) for n in range(50)]
        await asyncio.sleep(0)
        asked[0].cancel()
        found: list[object] = await asyncio.gather(*asked, return_exceptions=True)
        await kept.close()
        return found

    left, *rest = asyncio.run(story())
    assert isinstance(left, asyncio.CancelledError)
    assert rest == [None] * 49
    assert len(looked) == 1  # one look for all, and not on the loop's thread
    assert looked[0] == (50, "kept-answers_0")


def kept_in(store: Store) -> list[str]:
    return [key for key in "abcdefghij" if store.responses.get([key])]


def test_answers_that_were_used_longest_ago_go_first_once_they_take_too_much(
    tmp_path: Path,
) -> None:
    store = new_store(tmp_path / "s.db")
    large = Completion("x" * 9_700)  # about 10,000 bytes with all that is kept
    store.responses.put([as_answer(key, "m", large) for key in "abcdefghij"], now=clock.now())
    assert store.responses.trim(1_000_000, ["a"]) == 0
    # 100,000 bytes: down to nine tenths of 60,000 are five answers, of which one was just used.
    assert store.responses.trim(60_000, ["b"]) == 5
    assert kept_in(store) == ["b", "g", "h", "i", "j"]
    assert store.responses.trim(60_000) == 0
    assert store.responses.trim(0) == 5


def test_how_much_is_kept_is_said_in_megabytes() -> None:
    assert load_settings({}).cache_bytes == 1_000_000_000
    assert load_settings({"RUBRIC_STUDIO_CACHE": " 50 "}).cache_bytes == 50_000_000
    with pytest.raises(InputError, match="megabytes"):
        load_settings({"RUBRIC_STUDIO_CACHE": "1 GB"})


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"logprobs": True, "schema": {}, "params": {"b": [1.0], "a": "é"}},
        # Equal numbers that are written in two ways.
        {"temperature": 0.0},
        {"temperature": -0.0},
    ],
)
def test_the_key_of_an_answer_is_the_hash_of_one_list_that_holds_all_that_was_asked(
    more: dict[str, Any],
) -> None:
    fields: dict[str, Any] = {"schema": reply_schema(3), "params": {"top_p": 0.5}, "temperature": 0}
    fields |= more
    said = [{"role": "system", "content": "S"}, {"role": "user", "content": "ü\ud800"}]
    request = Request("openai/m", said, api_base="http://x/v1/", **fields)
    cell = Cell("i1", "c", "ada", 2)
    whole = [
        "m",
        "http://x/v1",
        [["system", text_hash("S")], ["user", text_hash("ü\ud800")]],
        fields["schema"],
        fields["temperature"],
        None,
        None,
        fields["params"],
        ["i1", "c", "ada", 2],
        *(["logprobs"] if "logprobs" in more else []),
    ]
    assert request_key(request, cell) == content_hash(whole)
