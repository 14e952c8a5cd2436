"""Many reviewers at once, each a browser's session without a browser.

    python -m bench.reviewers [--reviewers 50] [--minutes 10] [--every 5] [--processes 1]

A server of the app in a process of its own (or several on one data file: each reviewer stays with
one, as behind a proxy that keeps to a cookie), and a run of 3,000 items and more, all of whose
cells under one criterion are in a queue. Each reviewer is a WebSocket that speaks Streamlit's
protocol as the browser does (`streamlit.proto`): it says who it is, opens an item, and every so
many seconds presses an option, Commit and, where votes are then shown, Confirm, until the next item
is drawn.
What a browser spends on drawing is not in the figures. A decision's time is from the first press
until the last answer's script has ended. Afterwards the data file is asked what it has of each.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import aiohttp
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from bench.filled import fill
from core.domain.review import QueueRule, QueueSettings
from core.services.review import queues, reviewers
from core.store.store import Store

ROOT = Path(__file__).resolve().parents[1]
CRITERION = "Correct"


class Reviewer:
    """One session: what is drawn on its page, and what it presses."""

    def __init__(self, name: str, queue: int, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.name, self._socket = name, socket
        self._query = f"queue={queue}"
        self._buttons: dict[str, tuple[str, str]] = {}  # by key: its id, and its fragment
        self._hash, self._heard, self._note, self._turn = "", "", "", asyncio.Lock()
        self._beats: dict[str, float] = {}
        self.decided, self.waits, self.errors = 0, list[float](), Counter[str]()

    async def _ask(self, press: str = "", fragment: str = "", *, beat: bool = False) -> None:
        """A rerun, by a button or not, until the script has ended."""
        await self._socket.send_bytes(self._rerun(press, fragment, beat).SerializeToString())
        if not fragment:
            self._buttons.clear()
        seen, ended = set[str](), False
        while not ended:
            message = await asyncio.wait_for(self._socket.receive(), 120)
            if message.type != aiohttp.WSMsgType.BINARY:
                raise ConnectionError(f"the connection ended: {message.type}")
            ended = self._take(ForwardMsg.FromString(message.data), seen)
        # What this fragment does not draw any more is gone.
        for key, (_, of) in list(self._buttons.items()):
            if fragment and of == fragment and key not in seen:
                del self._buttons[key]

    def _rerun(self, press: str, fragment: str, beat: bool) -> BackMsg:
        """What the browser sends for it."""
        sent = BackMsg()
        state = sent.rerun_script
        state.query_string, state.page_name = self._query, "" if self._hash else "item"
        state.page_script_hash, state.fragment_id = self._hash, fragment
        state.is_auto_rerun = beat
        if self._heard:
            said = state.widget_states.widgets.add()
            said.id = self._heard
            said.json_value = json.dumps({"heard": {"name": self.name, "session": self.name}})
        if self._note and "commit" in press:
            # Typed while one reads: a verdict against all judges needs one.
            said = state.widget_states.widgets.add()
            said.id, said.string_value = self._note, "The reference says so."
        if press:
            pressed = state.widget_states.widgets.add()
            pressed.id, pressed.trigger_value = press, True
        return sent

    def _take(self, message: ForwardMsg, seen: set[str]) -> bool:
        """Notes what is drawn; whether the script has ended."""
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self._hash = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            self._beats[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            element, fragment = message.delta.new_element, message.delta.fragment_id
            drawn = element.WhichOneof("type")
            if drawn == "button" and not element.button.disabled:
                key = element.button.id.rpartition("-")[2]
                self._buttons[key] = (element.button.id, fragment)
                seen.add(key)
            elif drawn == "bidi_component" and "identity/browser" in element.bidi_component.id:
                self._heard = element.bidi_component.id
            elif drawn == "text_area":
                self._note = element.text_area.id
            elif drawn == "exception":
                self.errors[element.exception.message[:200]] += 1
            elif (
                drawn == "html" and 'role="status"><span class="rs-tag rs-bad' in element.html.body
            ):
                self.errors["refused: " + element.html.body[-300:]] += 1
        return kind == "script_finished"

    def _find(self, *parts: str) -> tuple[str, str, str] | None:
        return next(
            (
                (key, *found)
                for key, found in self._buttons.items()
                if all(part in key for part in parts)
            ),
            None,
        )

    async def press(self, *parts: str) -> bool:
        """Press the button whose key holds these; whether it is there."""
        found = self._find(*parts)
        if found is None:
            return False
        await self._ask(found[1], found[2])
        return True

    async def sit_down(self) -> None:
        """Say who one is, and wait for the first item."""
        await self._ask()
        for _ in range(5):
            if self._find("review_act/commit/"):
                return
            await self._ask()
        raise LookupError(f"no item was opened; buttons: {sorted(self._buttons)}, {self.errors}")

    async def decide(self, dice: random.Random) -> None:
        """Give a verdict on the open item, and go on to the next."""
        async with self._turn:
            before = self._find("review_act/commit/")
            began = time.perf_counter()
            if before is None or not await self.press(
                "review_act/option/", f"/{dice.choice('01')}"
            ):
                self.errors["nothing to decide"] += 1
                return
            for _ in range(3):
                await self.press("review_act/commit/")
                now = self._find("review_act/commit/")
                if now is None or now[0] != before[0]:
                    break
            else:
                self.errors["the next item did not come"] += 1
                return
            self.waits.append(time.perf_counter() - began)
            self.decided += 1

    async def stay(self) -> None:
        """What the page asks a browser to do meanwhile: its fragments again, at their times."""
        while True:
            await asyncio.sleep(20)
            async with self._turn:
                for fragment in list(self._beats):
                    try:
                        await self._ask(fragment=fragment, beat=True)
                    except Exception as error:
                        self.errors[f"beat: {type(error).__name__}: {error}"[:200]] += 1
                        return


async def work(who: Reviewer, until: float, every: float, dice: random.Random) -> None:
    """Decide at even times, the first at a random one; who is late goes on at once."""
    await asyncio.sleep(dice.uniform(0, every))
    beat = asyncio.create_task(who.stay())
    due = time.monotonic()
    while time.monotonic() < until:
        try:
            await who.decide(dice)
        except Exception as error:
            who.errors[f"{type(error).__name__}: {error}"[:200]] += 1
            break
        due += every
        await asyncio.sleep(max(0.0, due - time.monotonic()))
    async with who._turn:  # a beat that is under way may end
        beat.cancel()


async def review(
    servers: list[tuple[str, int]], queue: int, asked: argparse.Namespace
) -> list[Reviewer]:
    """All of them at once; prints what they met. ``servers`` are addresses and processes."""
    pids = [pid for _, pid in servers]
    async with aiohttp.ClientSession() as session:
        people = list[Reviewer]()
        for n in range(asked.reviewers):
            stream = await session.ws_connect(
                servers[n % len(servers)][0].replace("http", "ws") + "/_stcore/stream",
                protocols=("streamlit",),
                max_msg_size=0,
            )
            people.append(Reviewer(f"Reviewer {n}", queue, stream))
        began = time.monotonic()
        for who in people:
            await who.sit_down()
        print(f"{len(people)} sat down in {time.monotonic() - began:.1f} s, {memory(*pids)}")
        used, began = cpu_seconds(*pids), time.monotonic()
        until = began + asked.minutes * 60
        tasks = [work(one, until, asked.every, random.Random(n)) for n, one in enumerate(people)]
        await asyncio.gather(*tasks)
        used, took = cpu_seconds(*pids) - used, time.monotonic() - began
    waits = sorted(wait for who in people for wait in who.waits)
    if waits:
        p50, p95 = statistics.median(waits), waits[int(len(waits) * 0.95)]
        print(
            f"{len(waits)} decisions in {took:.0f} s: p50 {p50 * 1000:.0f} ms, "
            f"p95 {p95 * 1000:.0f} ms, longest {waits[-1] * 1000:.0f} ms"
        )
        print(
            f"server: {used / len(waits) * 1000:.0f} ms CPU a decision, "
            f"{used / took * 100:.0f} % of a core, {len(waits) / took:.1f} a second, "
            f"{memory(*pids)}"
        )
    return people


def memory(*pids: int) -> str:
    """What the servers hold, and held at most."""
    now = most = 0.0
    for pid in pids:
        status = Path(f"/proc/{pid}/status").read_text()
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        now += int(fields["VmRSS"].split()[0]) / 1024
        most += int(fields["VmHWM"].split()[0]) / 1024
    return f"{now:.0f} MiB resident (at most {most:.0f})"


def cpu_seconds(*pids: int) -> float:
    """What processes have used of the processor so far."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def prepare(db: Path, cells: int) -> int:
    """A graded run, and a queue of that many cells and more under one criterion."""
    run = fill(db, items=cells)
    store = Store(db)
    reviewers.sign_in(store, "Lead")
    seat = reviewers.seat_of(store, "Lead", "bench")
    rule = QueueRule(everything=True, audit_share=0.0, criteria=(CRITERION,))
    made = queues.make_queue(store, seat, run, "All", rule, QueueSettings(), order="dataset")
    store.close()
    return made.id


@contextmanager
def served(db: Path, log: Path) -> Iterator[tuple[str, int]]:
    """A server on the file: its address and its process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    settings = {"RUBRIC_STUDIO_RUNNER": "none", "PYTHONPATH": str(ROOT), "RUBRIC_STUDIO_LOG": ""}
    words = ("-m", "core.cli", "app", "--db", str(db), "--port", str(port))
    with log.open("ab") as out:
        server = subprocess.Popen(
            [sys.executable, *words],
            cwd=ROOT,
            env={**os.environ, **settings},
            stdout=out,
            stderr=out,
        )
        try:
            while socket.socket().connect_ex(("127.0.0.1", port)):
                assert server.poll() is None, log.read_text()
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}", server.pid
        finally:
            server.terminate()
            server.wait(60)


def main() -> None:
    """Print the figures; status 1 where something was lost or went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reviewers", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between decisions")
    parser.add_argument("--processes", type=int, default=1, help="servers on the one data file")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        db, log = Path(folder) / "studio.db", Path(folder) / "server.log"
        wanted = asked.reviewers * (2 + int(asked.minutes * 60 / asked.every))
        queue = prepare(db, max(3000, wanted + wanted // 10))
        with ExitStack() as stack:
            servers = [stack.enter_context(served(db, log)) for _ in range(asked.processes)]
            people = asyncio.run(review(servers, queue, asked))
        with sqlite3.connect(db) as file:
            kept = dict(
                file.execute("SELECT reviewer, count(final) FROM review_verdict GROUP BY reviewer")
            )
        errors = sum((who.errors for who in people), Counter[str]())
        errors["a traceback in the server's log"] += log.read_text().count("Traceback")
    lost = {who.name: who.decided - kept.get(who.name, 0) for who in people}
    missing, all_ = sum(max(0, n) for n in lost.values()), sum(who.decided for who in people)
    load = os.getloadavg()[0]
    print(f"decisions lost {missing} of {all_}, errors {errors.total()}, load {load:.1f}")
    for words, count in (+errors).most_common(5):
        print(f"  {count} x {words}")
    sys.exit(bool(errors.total() or any(n > 0 for n in lost.values())))


if __name__ == "__main__":
    main()
