"""Runs: planning, cost estimates, starting, processing and serving.

May import results, judges, datasets. The database is the truth: a resumed run takes the same
decisions as before the kill.
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
