"""Grade a run on many machines: the engine's work, spread over a Dask cluster.

Workers call the models and send outcomes back. Only the run's owner writes, under its lease, so no
recorded outcome is lost if a worker, the scheduler or the owner dies. Workers get questions,
judges, and the *names* of variables with keys (docs/cluster.md). `asking`, `credit`, `joining` and
`training` are public. Dask is an extra, imported when a cluster is used.
"""

__all__ = ["asking", "credit", "joining", "training"]
