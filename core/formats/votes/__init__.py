"""Votes from elsewhere: which rater chose which label, from tables, folders and the peers'
experiments.

May import all of ``core.formats`` but ``report``. No vote is guessed: an unknown label is a
problem with its line.
"""
