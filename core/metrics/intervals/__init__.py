"""The uncertainty of figures: bootstrap, exact bounds, unequal sampling, differences.

May import ``core.metrics`` only. Resampling draws whole items, with all of their ratings.
"""
