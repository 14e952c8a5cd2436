"""A gate for continuous integration: does agreement reach the bounds, and has it fallen?

May import agreement and the layers below. It measures existing votes; only anchors are graded
again, on demand.
"""

__all__ = ["bounds", "checking", "drift"]
