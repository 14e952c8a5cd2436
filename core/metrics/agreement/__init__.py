"""How much raters agree: with a reference, in pairs, or as a group.

May import ``core.metrics`` only. Levels are 0 .. k-1, and -1 without a rating.
"""
