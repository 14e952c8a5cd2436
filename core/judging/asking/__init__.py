"""Asking: retries, cached answers and cost of a question; the panel's engine.

May import ``prompts`` and ``providers``. A failed call becomes a ``VoteFailure``, never a vote.
"""
