"""What the processor time of a judge's call goes into, through the plain door.

    python bench/call_shares.py [--items 200] [--rounds 3]

The run of ``calls.py`` is worked off; the store's thread has a clock of its own. The other parts
are then done alone with the same questions, one part after the other: *prompt* (questions drawn,
words put together, the key of kept answers), *HTTP* (body written, sent, the answer read),
*parsing* (the answer's JSON, its cost, the vote in it, the record of the call). *Rest* is what is
left of the whole: the loop, tasks, gates, look-ups of kept answers. *Bare* is aiohttp posting the
same bodies. Medians of the rounds, microseconds of processor time a call.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from bench.calls import SEED, _bodies, _new_file, _post_all, dataset, panel, rubric
from bench.stand_in import stand_in
from core import clock
from core.judging.asking.answer_cache import request_key
from core.judging.asking.call_costs import CallAccount
from core.judging.asking.retry import without_key
from core.judging.prompts.assembly import build_prompt
from core.judging.prompts.reply_parsing import read_reply
from core.services.runs import lifecycle, runner
from core.services.runs.held_work import collecting_less_often
from core.services.runs.planning import RunRequest
from core.services.runs.ready_run import Providers, load_job
from core.store.runs.votes import Votes
from core.store.store import Store

AT_ONCE = 256


def spent(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of this process's processor time, and what came of it."""
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def whole(store: Store, run: int) -> tuple[float, float]:
    """Seconds for a run, and those of the store's thread among them."""
    record, of_store = Votes.record, [0.0]

    def clocked(self: Votes, *words: Any, **more: Any) -> Any:
        began = time.thread_time()
        try:
            return record(self, *words, **more)
        finally:
            of_store[0] += time.thread_time() - began

    Votes.record = clocked  # type: ignore[method-assign]
    try:
        seconds, status = spent(lambda: runner.work_here(store, run))
    finally:
        Votes.record = record  # type: ignore[method-assign]
    assert status == "done"
    return seconds, of_store[0]


def parts(store: Store, run: int) -> dict[str, float]:
    """Seconds of each part alone, for the questions of a run."""
    job, providers = load_job(store, run), Providers()
    judges = [providers.judge(spec) for spec in job.plan.panel.judges]
    asked, answers = list[Any](), list[Any]()

    def prompt() -> None:
        for judge in judges:
            for question in job.asker.questions(judge.spec, job.done):
                made = build_prompt(question)
                request = judge._caller.request(made.segments, made.schema)
                request_key(request, question.cell)
                asked.append((judge, question, made, request))

    async def http() -> None:
        todo, door = iter(asked), judges[0]._caller._provider

        async def work() -> None:
            for one in todo:
                answers.append((*one, await door._post(one[-1])))  # type: ignore[attr-defined]

        await asyncio.gather(*(work() for _ in range(AT_ONCE)))
        await providers.close()

    def parsing() -> None:
        for judge, question, made, request, answer in answers:
            read = judge._caller._provider.read(request, *answer)
            read = without_key(read, request.hidden)
            account = CallAccount(judge.spec, question.cell, requests=1, sent=made.segments)
            account.add(read)
            assert account.call(judge._params) is not None
            read_reply(read.text, len(question.order))

    return {
        "prompt": spent(prompt)[0],
        "HTTP": spent(lambda: asyncio.run(http()))[0],
        "parsing": spent(parsing)[0],
    }


def measured(url: str, items: int) -> dict[str, float]:
    """Seconds of everything, for one run."""
    os.environ.update(OPENAI_BASE_URL=url, OPENAI_API_KEY="sk-of-nobody")
    with _new_file() as path:
        store = Store(path)
        version = store.rubrics.create(rubric(), now=clock.now()).id
        data = store.datasets.create(dataset(items), now=clock.now()).id
        again = store.datasets.create(dataset(items, SEED + 1), now=clock.now()).id
        first, second = (
            lifecycle.start(store, RunRequest(version, one, panel(url, "plain"), seed=SEED))
            for one in (data, again)
        )
        seconds, of_store = whole(store, first)
        with collecting_less_often():
            found = parts(store, second)
        store.close()
    found |= {"store": of_store, "rest": seconds - of_store - sum(found.values())}
    bodies = _bodies(url, items)
    bare, _ = spent(lambda: asyncio.run(_post_all(f"{url}/chat/completions", bodies)))
    return {**found, "all": seconds, "bare": bare}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    calls = given.items * len(rubric().criteria) * 3
    with stand_in() as url:
        measured(url, 2)  # everything is imported
        rounds = [measured(url, given.items) for _ in range(given.rounds)]
    print(f"{calls:,} calls, microseconds of processor time each")
    of_all = statistics.median(one["all"] for one in rounds)
    for name in rounds[0]:
        middle = statistics.median(one[name] for one in rounds)
        print(f"{name:8}{middle / calls * 1e6:8.1f}{middle / of_all:7.0%}")


if __name__ == "__main__":
    main()
