"""The keys of the Compare runs page, beside those of `state` (used with `state.key`)."""

from __future__ import annotations

# Address parameters: all runs that are looked at, and the two that are compared.
#: Which figure the forest plot shows, which flip is open (its number), which page of its items.
FIGURE = "figure"
FLIP = "flip"

COMPARE_FIELD = "compare_field"
COMPARE_ACT = "compare_act"
