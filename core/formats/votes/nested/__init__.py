"""Votes inside cells: what is read of them, and what is left out."""
