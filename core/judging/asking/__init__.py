"""One question to one judge, with retries, kept answers and its cost; and the engine that asks
a whole panel.

May import ``prompts`` and ``providers``. Whatever goes wrong with a call comes back as a failure
of a kind, never as a vote.
"""
