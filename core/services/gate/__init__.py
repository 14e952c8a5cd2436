"""A gate for continuous integration: does agreement reach what is asked, and has it fallen?

May import agreement and what is below. Votes that exist are measured; only anchors are asked
again, on demand.
"""

__all__ = ["bounds", "checking", "drift"]
