"""A run's questions asked by many machines: the engine's work, spread over a Dask cluster.

Workers ask and send outcomes back; only the run's owner writes, under its lease as ever, so any
worker, the scheduler or the owner may die and nothing recorded is lost. What a worker gets are
questions, judges, and the *names* of variables with keys (docs/cluster.md). `asking`, `credit`,
`joining` and `training` are for others. Dask is an extra: it is imported when somebody asks for a
cluster.
"""

__all__ = ["asking", "credit", "joining", "training"]
