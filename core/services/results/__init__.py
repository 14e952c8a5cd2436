"""The results of a run's votes: items, verdicts, scores, and rules fitted on labels.

May import datasets. Verdicts are derived from votes, never stored as facts of their own.
"""

__all__ = [
    "browsing",
    "doubt",
    "fair_sample",
    "flip_check",
    "grid",
    "item_view",
    "run_columns",
    "scored_items",
    "verdicts",
    "weight_fit",
    "weight_fit_words",
]
