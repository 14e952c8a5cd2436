"""A program that serves one model file with llama.cpp. It imports nothing of this project.

    python server.py FILE THREADS CONTEXT CALLS

It prints its address first. It ends when its input does, that is when its starter ends.
"""

from __future__ import annotations

import os
import sys


def serve_file(path: str, threads: int, context: int, calls: int) -> None:
    """Serve the file for this many concurrent calls, each with the whole context."""
    import xllamacpp  # type: ignore[import-not-found]

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_parallel, params.n_ctx = calls, calls * context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.hostnames, params.port = ["127.0.0.1"], 0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    # Nobody reads the server's log from here on.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    sys.stdin.read()
    # Without this, the server's own threads would outlive this process.
    os._exit(0)


if __name__ == "__main__":
    serve_file(sys.argv[1], *map(int, sys.argv[2:5]))
