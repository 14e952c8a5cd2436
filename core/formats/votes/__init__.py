"""Imported votes: which rater chose which label, from tables and experiments.

May import all of ``core.formats`` except ``report``. Votes are never guessed: an unknown label is a
problem with its line.
"""
