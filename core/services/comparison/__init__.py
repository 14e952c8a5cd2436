"""Two runs compared: paired, every difference on the same resamples, costs beside accuracy.

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
]
