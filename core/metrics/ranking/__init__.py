"""Systems ranked by contests or scores: win matrix, Bradley-Terry, Elo, ranks.

May import ``core.metrics`` only. The contests of an item stay together in every resample.
"""
