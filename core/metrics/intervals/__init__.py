"""How sure a figure is: bootstrap, exact bounds, samples drawn unevenly, and differences.

May import ``core.metrics`` only. Items are what is resampled; what is said of one stays together.
"""
