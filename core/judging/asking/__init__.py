"""Asking: retries, cached answers and cost of a question; the panel's engine.

May import ``prompts`` and ``providers``. Trouble with a call becomes a failure of a kind, never a
vote.
"""
