"""The models of a run asked in batches: questions in files, answers within a day, half the price.

Used by the worker of a run in place of the engine that asks directly.
"""

__all__ = ["lanes"]
