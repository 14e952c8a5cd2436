"""Grade a run's models in batches: questions in files, answers within a day, half the price.

The run's worker uses it instead of the engine that calls models directly.
"""

__all__ = ["lanes"]
