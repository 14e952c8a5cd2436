"""Votes from elsewhere: which rater chose which label, from tables, folders and the peers'
experiments.
"""
