"""Sixty people review in open pages, and the app is killed under them."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter
from contextlib import suppress

import aiohttp

from bench.faults.world import Row, Site, site
from bench.reviewers import Reviewer, prepare, served

SESSIONS = 60
#: What a killed server looks like from a browser.
_GONE = (ConnectionError, aiohttp.ClientError, LookupError, TimeoutError)


def pages(trials: int) -> Row:
    """kill -9 of the app with sixty pages open, all of them deciding; they come back and go on."""
    row, dice, seen = Row(), random.Random(13), Counter[str]()
    with site(1) as at:
        at.db.unlink()
        queue, log = prepare(at.db, 3000), at.folder / "server.log"
        for trial in range(trials + 1):
            with served(at.db, log) as (url, pid):
                people = asyncio.run(_decided(url, pid, queue, dice, last=trial == trials))
            for who in people:
                seen[who.name] += who.decided
                row.must(not who.errors, f"{who.name} met {who.errors.most_common(1)}")
            _kept(row, at, seen, trial + 1)
        row.must("Traceback" not in log.read_text(), log.read_text()[-600:])
    at_least = min(seen[f"Reviewer {n}"] for n in range(SESSIONS))
    row.say(
        f"{trials} kills under {SESSIONS} sessions: {seen.total()} decisions, lost 0, twice 0; "
        f"each of them made {at_least} and more"
    )
    row.must(at_least > 0, "somebody decided nothing")
    return row


async def _decided(
    url: str, pid: int, queue: int, dice: random.Random, *, last: bool
) -> list[Reviewer]:
    """All sit down and decide until the server is killed; ``last``: until each decided once."""
    async with aiohttp.ClientSession() as session:
        people = list[Reviewer]()
        for n in range(SESSIONS):
            stream = await session.ws_connect(
                url.replace("http", "ws") + "/_stcore/stream",
                protocols=("streamlit",),
                max_msg_size=0,
            )
            people.append(Reviewer(f"Reviewer {n}", queue, stream))
        await asyncio.gather(*(who.sit_down() for who in people))
        seeds = [random.Random(dice.random()) for _ in people]
        working = asyncio.gather(*map(_until_gone, people, seeds, [1 if last else 1000] * SESSIONS))
        if not last:
            enough, end = dice.randrange(1, SESSIONS), time.monotonic() + 60
            while sum(who.decided for who in people) < enough and time.monotonic() < end:
                await asyncio.sleep(0.01)
            await asyncio.sleep(dice.uniform(0.0, 0.2))
            os.kill(pid, signal.SIGKILL)
        await working
        return people


async def _until_gone(who: Reviewer, dice: random.Random, most: int) -> None:
    with suppress(*_GONE):
        while who.decided < most and not who.errors:
            await who.decide(dice)


def _kept(row: Row, at: Site, seen: Counter[str], kills: int) -> None:
    """What the pages showed as decided is there, and but one more for each kill; none is twice."""
    kept = dict(at.ask("SELECT reviewer, count(final) FROM review_verdict GROUP BY reviewer"))
    for name, shown in seen.items():
        there = kept.get(name, 0)
        row.must(shown <= there <= shown + kills, f"{name}: {shown} shown, {there} kept")
    twice = at.count(
        "SELECT count(*) - count(DISTINCT queue_id || '|' || item_id || '|' || criterion || '|' || "
        "actor || '|' || action) FROM review_event WHERE action IN ('verdict', 'final', 'settle')"
    )
    row.must(not twice, f"{twice} decisions twice")
    row.must(not at.sound(), at.sound())
