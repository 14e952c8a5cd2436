"""Runs: planned, estimated, started, worked off, served.

May import results, judges, datasets. The database is the truth: a run that is killed and resumed
decides the same again.
"""

__all__ = [
    "batches",
    "candidates",
    "cluster",
    "cost_estimate",
    "held_work",
    "keeping",
    "lifecycle",
    "limits",
    "monitoring",
    "planning",
    "questions",
    "ready_run",
    "runner",
    "server",
    "server_log",
    "sweeps",
]
