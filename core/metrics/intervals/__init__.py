"""The uncertainty of figures: bootstrap, exact bounds, unevenly drawn samples, differences.

May import ``core.metrics`` only. Resampling draws whole items, with all of their ratings.
"""
