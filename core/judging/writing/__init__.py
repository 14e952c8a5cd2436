"""Writing help from a model: a request in, strictly parsed text out, or a failure.

May import ``asking``, ``prompts`` and ``providers``. Unreadable parts are dropped and reported.
"""
