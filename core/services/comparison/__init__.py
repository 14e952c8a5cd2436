"""Compare two runs: paired, all differences on the same resamples, costs next to accuracy.

May import agreement and what is below.
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
