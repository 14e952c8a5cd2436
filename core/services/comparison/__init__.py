"""Compare two runs: paired, all differences on the same resamples, costs with accuracy.

May import agreement and the layers below.
"""

__all__ = [
    "cascade_sweep",
    "comparison_blocks",
    "costs",
    "differences",
    "in_words",
    "one_impression",
    "paired_runs",
    "rightness",
    "run_comparison",
    "side_by_side",
]
