"""Votes from elsewhere become a run, once looked at."""
