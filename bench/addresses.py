"""A judge with three addresses of which one dies under load: failed cells, and what each one did.

So many questions (`--cells`, three to an item) are asked of one judge at three stand-ins, each a
process of its own that answers after 20 ms, 48 calls at a time. When a third of the votes are
there, one of the three is killed with -9; when two thirds are, it is started again at its port.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from bench.stand_in import stand_in
from core.domain.panel import Judge
from core.services.runs import lifecycle
from core.services.runs.runner import work_here
from core.store.store import Store
from tests.services.runs.world import asked_of

DELAY = 0.02
#: A stand-in that can be killed, and started again where it was.
CHILD = "import sys; from bench.stand_in import serve; serve()"


def started(port: int = 0) -> tuple[subprocess.Popen[bytes], int]:
    """A stand-in of this machine, at a port of its own choice or at a given one."""
    command = [sys.executable, "-c", CHILD, str(DELAY), str(port)]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout is not None
    return server, int(server.stdout.readline())


def main() -> None:
    """Run it and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=6_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as held:
        store = Store(Path(folder) / "studio.db")
        first, third = (held.enter_context(stand_in(DELAY)) for _ in range(2))
        mortal, port = started()
        held.callback(lambda: mortal.kill())
        second = f"http://127.0.0.1:{port}/v1"
        others = (second, third)
        judge = Judge(name="ada", model="ada", api_base=first, replicas=others, concurrency=48)
        run = lifecycle.start(store, asked_of(store, judge, Path(folder), -(-given.cells // 3)))
        planned = store.runs.row(run).planned
        moments = [planned // 3, 2 * planned // 3]

        def look() -> None:
            nonlocal mortal
            if moments and store.runs.row(run).votes >= moments[0]:
                if len(moments) == 2:
                    mortal.kill()
                    mortal.wait()
                else:
                    mortal, _ = started(port)
                print(f"{moments.pop(0)} votes: {'killed' if moments else 'started again'}")

        began = time.monotonic()
        work_here(store, run, on_tick=look, tick=0.05)
        row, notes = store.runs.row(run), store.runs.get(run).notes["addresses"]["ada"]
        print(f"{row.votes} votes of {row.planned}, failed cells {row.failures_open}, ", end="")
        print(f"{time.monotonic() - began:.1f} s")
        for address, told in notes.items():
            print(f"  {urlsplit(address).port}{' (killed)' if address == second else ''}: {told}")


if __name__ == "__main__":
    main()
