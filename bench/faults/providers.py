"""Rows 1 to 8: what a provider can do to a run."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from functools import partial
from pathlib import Path
from typing import Any

from bench.faults.world import CRITERIA, Counting, Row, Site, at_random, site, until
from core.judging.turns import FATAL_AT_FIRST
from tests import provider as say
from tests.provider import Answer, Provider
from tests.services.runs.world import by_request

RATE = 60  # requests a second that the limited provider lets in


class Limited(Provider):
    """Lets in so many requests a second, a second's worth at once; refuses the others."""

    def __init__(self, *, date: bool = False) -> None:
        super().__init__()
        self.room, self.seen, self.refused, self.good = float(RATE), time.monotonic(), 0, 0
        self.first, self.last = 0.0, 0.0
        self._date = date
        self.rule = self._answer

    def _answer(self, body: dict[str, Any]) -> Answer:
        now = time.monotonic()
        self.room = min(float(RATE), self.room + (now - self.seen) * RATE)
        self.seen = now
        self.first = self.first or now
        if self.room < 1:
            self.refused += 1
            when = formatdate(time.time() + 1, usegmt=True) if self._date else "1"
            return say.status(429, "slow down", headers={"Retry-After": when})
        self.room -= 1
        self.good, self.last = self.good + 1, now
        return by_request(body)


def storm(trials: int) -> Row:
    """429: three times over an unknown limit, with Retry-After in seconds and as a date; known."""
    row = Row()
    kinds = (("unknown, seconds", False, None), ("unknown, date", True, None))
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(partial(_limited, row), (*kinds, ("known", False, RATE * 60))))
    return row


def _limited(row: Row, kind: tuple[str, bool, int | None]) -> None:
    name, date, known = kind
    with site(300, Limited(date=date)) as at:
        server: Any = at.provider
        at.work(at.plan(at.judge(concurrency=3 * RATE, requests_per_minute=known)))
        ideal = at.planned / RATE
        ratio, refused = (server.last - server.first) / ideal, server.refused / server.good
        row.say(
            f"{name}: {at.votes} of {at.planned} votes, refused/good {refused:.3f}, "
            f"time/ideal {ratio:.2f} ({ideal:.0f} s)"
        )
        row.must(at.votes == at.planned, f"{name}: votes lost")
        row.must(refused <= (0.2 if known is None else 0.005), f"{name}: refused {refused:.3f}")
        row.must(ratio <= (1.3 if known is None else 1.1), f"{name}: {ratio:.2f} of the ideal time")
        _exact(row, at)


def errors(trials: int) -> Row:
    """500, 502 with a web page, and 503 in 30 % of the calls."""
    return _share(0.3, [say.status(500), say.html(502), say.status(503)], 1.5)


def resets(trials: int) -> Row:
    """The connection is dropped in 10 % of the calls."""
    return _share(0.1, [say.reset()], 1.5)


def _share(share: float, answers: list[Answer], most: float) -> Row:
    row = Row()
    with site(200) as at:
        at.provider.rule = at_random(share, answers)
        run = at.plan(at.judge(concurrency=32))
        at.work(run)
        each, left = at.provider.count / at.planned, at.planned - at.votes
        row.say(f"{at.votes} of {at.planned} votes, {each:.2f} requests a vote")
        # Five tries fail together once in 1 / share ** 5 calls: such are open failures, not lost.
        row.must(at.count("SELECT count(*) FROM failure") == left, "votes lost")
        if left:
            at.retry(run)
            row.say(f"{left} open failures (five tries in vain), after Retry {at.votes} votes")
        row.must(at.votes == at.planned, "votes lost")
        row.must(each <= most, f"{each:.2f} requests a vote")
        _exact(row, at)
    return row


class Stalling(Counting):
    """Keeps how long a client waited for an answer that does not come."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []

    async def _give(self, answer: Answer, request: Any) -> Any:
        if not answer.stall and not answer.trickle:
            return await super()._give(answer, request)
        began = time.monotonic()
        task = asyncio.ensure_future(super()._give(answer, request))
        while request.transport is not None and not request.transport.is_closing():
            await asyncio.sleep(0.005)
            if task.done():
                break
        self.waited.append(time.monotonic() - began)
        task.cancel()
        raise ConnectionResetError


def stalls(trials: int) -> Row:
    """No answer at all, and a body that never ends, in 10 % of the calls; 1 s of patience."""
    row, patience = Row(), 1.0
    before = _sockets()
    with site(100, Stalling()) as at:
        at.provider.rule = at_random(0.1, [say.stall(30), say.trickle(0.05)])
        at.work(at.plan(at.judge(concurrency=32, timeout=patience)))
        server: Any = at.provider
        over = max(server.waited) - patience
        row.say(f"{at.votes} of {at.planned} votes, {len(server.waited)} stalled, overrun")
        row.figures[-1] += f" at most {over * 1000:.0f} ms"
        row.must(at.votes == at.planned, "votes lost")
        row.must(over <= 1, f"{over:.2f} s over the deadline")
        _exact(row, at)
    until(lambda: _sockets() <= before, 5)
    row.say(f"sockets left open {max(0, _sockets() - before)}")
    row.must(_sockets() <= before, "sockets leaked")
    return row


def _sockets() -> int:
    links = (fd.readlink() for fd in Path("/proc/self/fd").iterdir() if fd.is_symlink())
    return sum(str(link).startswith("socket:") for link in links)


def replies(trials: int) -> Row:
    """Six kinds of a broken reply: first mended at the second asking, then never."""
    kinds = {
        "malformed": (say.malformed, "malformed"),
        "empty": (lambda: say.said(""), "empty"),
        "null": (say.null, "empty"),
        "truncated": (say.truncated, "malformed"),
        "wrong option": (lambda: say.ok(99), "out_of_range"),
        "words for a number": (lambda: say.ok("MET"), "out_of_range malformed"),
    }
    row, invented, misfiled = Row(), 0, []
    for name, (broken, filed) in kinds.items():
        with site(2) as at:
            at.provider.rule = lambda body, broken=broken: broken()
            at.work(at.plan())
            invented += at.votes
            said = at.failures()
            if sum(said.values()) != at.planned or not set(said) <= set(filed.split()):
                misfiled.append(f"{name} as {said}")
            row.must(at.provider.count == 2 * at.planned, f"{name}: no one repair each")
            row.must(not at.count("SELECT count(*) FROM call WHERE reply IS NULL"), "no raw text")
            _exact(row, at)
        with site(2) as at:
            at.provider.say(*[broken()] * at.planned)
            at.work(at.plan(at.judge(concurrency=at.planned)))
            row.must(at.votes == at.planned, f"{name}: not repaired")
    row.say(f"verdicts invented {invented}, misfiled {len(misfiled)} of {len(kinds)}, repaired all")
    row.must(not invented, "verdicts were invented")
    row.must(not misfiled, "; ".join(misfiled))
    return row


def refusals(trials: int) -> Row:
    """The model refuses, or a filter takes the answer away."""
    return _filed({"refusal": say.refusal(), "content_filter": say.filtered()}, asked=1)


def too_long(trials: int) -> Row:
    """The text is too long for the model; the request is a bad one."""
    long = say.status(400, "maximum context length", error_code="context_length_exceeded")
    return _filed({"context_length": long, "bad_request": say.status(400, "no such field")}, 1)


def _filed(kinds: dict[str, Answer], asked: int) -> Row:
    row, misfiled = Row(), 0
    for name, answer in kinds.items():
        with site(50) as at:
            at.provider.rule = lambda body, answer=answer: answer
            at.work(at.plan())
            wrong = at.planned - at.failures().get(name, 0)
            misfiled += wrong + at.votes
            row.must(at.provider.count == asked * at.planned, f"{name}: asked more than once")
            named = at.count("SELECT count(*) FROM failure WHERE item_id != ''")
            row.must(named == at.planned, f"{name}: items not named")
            _exact(row, at)
    row.say(f"misfiled {misfiled} of {2 * 50 * CRITERIA}, one request each, no verdict")
    row.must(not misfiled, "misfiled")
    return row


def locked_out(trials: int) -> Row:
    """A wrong key, an unknown model, an empty purse: that judge stops, the other goes on."""
    row, wasted, flight = Row(), [], 8
    most = flight + FATAL_AT_FIRST - 1  # the first may be a slip, and its place is taken anew
    kinds = {
        "key": say.status(401, "bad key"),
        "model": say.status(404, "no such model", error_code="model_not_found"),
        "purse": say.status(429, "no money left", error_code="insufficient_quota"),
    }
    for name, answer in kinds.items():
        with site(50) as at:
            bad = f"bad-{name}"
            at.provider.rule = lambda body, bad=bad, answer=answer: (
                answer if body["model"] == bad else by_request(body)
            )
            judges = (at.judge("ada"), at.judge(bad, concurrency=flight))
            at.work(at.plan(*judges))
            asked = sum(r.body["model"] == bad for r in at.provider.requests)
            wasted.append(asked)
            row.must(asked <= most, f"{name}: {asked} requests wasted")
            row.must(at.votes == at.planned, f"{name}: the other judge did not finish")
            said = {text for (text,) in at.ask("SELECT DISTINCT message FROM failure")}
            why = {text.partition("judge failed: ")[2] or text for text in said}
            row.must(len(why) == 1, f"{name}: {len(why)} reasons")
            _exact(row, at)
    row.say(f"requests wasted {wasted} (at most {most}), the other judge complete, one reason")
    return row


def _exact(row: Row, at: Site) -> None:
    """Requests at the server are the tries that we recorded."""
    row.must(
        at.provider.count == at.attempts(), f"{at.provider.count} requests, {at.attempts()} known"
    )
