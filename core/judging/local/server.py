"""llama.cpp's server of one model file, as a program of its own: it imports nothing of ours.

    python server.py FILE THREADS CONTEXT CALLS

Its first line is its address. It ends when its input does, which is when its starter ends.
"""

from __future__ import annotations

import os
import sys


def serve(path: str, threads: int, context: int, calls: int) -> None:
    """Serve the file for this many calls at once, each with the whole context."""
    import xllamacpp  # type: ignore[import-not-found]

    given = xllamacpp.CommonParams()
    given.model.path = path
    given.n_parallel, given.n_ctx = calls, calls * context
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = threads
    given.hostnames, given.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(given)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    # Its log is not read any more.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    sys.stdin.read()
    # The server's own threads would outlive this one.
    os._exit(0)


if __name__ == "__main__":
    serve(sys.argv[1], *map(int, sys.argv[2:5]))
