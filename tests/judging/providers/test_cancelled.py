"""A call through litellm that is cancelled while litellm makes it, in a thread."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from core.judging.providers.base import Request
from core.judging.providers.litellm_provider import LiteLLMProvider, load_litellm


class Held(ThreadPoolExecutor):
    """Begins what it is given second, and goes on when the test lets it; first litellm loads."""

    def __init__(self) -> None:
        super().__init__(max_workers=1)
        self.begun, self.may_go_on, self.first = threading.Event(), threading.Event(), True

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.first:
            self.first = False
            return super().submit(fn, *args, **kwargs)

        def held() -> Any:
            self.begun.set()
            self.may_go_on.wait()
            return fn(*args, **kwargs)

        return super().submit(held)


async def cancelled_while_made() -> None:
    threads, provider = Held(), LiteLLMProvider()
    asyncio.get_running_loop().set_default_executor(threads)
    asked = [{"role": "user", "content": "Is it clear?"}]
    request = Request("openai/x", asked, {}, api_base="http://127.0.0.1:9/v1", key="k")
    call = asyncio.create_task(provider.complete(request))
    while not threads.begun.is_set():
        await asyncio.sleep(0)
    call.cancel()
    threads.may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await call
    threads.shutdown()
    await asyncio.sleep(0)


def test_a_call_cancelled_while_it_is_made_warns_of_nothing() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load_litellm()
        asyncio.run(cancelled_while_made())
        gc.collect()
    assert [str(one.message) for one in caught if "never awaited" in str(one.message)] == []
