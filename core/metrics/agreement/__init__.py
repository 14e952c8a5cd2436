"""How far raters agree: with a reference, two with each other, or a whole group.

May import ``core.metrics`` only. Levels are 0 .. k-1, and -1 where there is no rating.
"""
