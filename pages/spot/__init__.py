"""Spot check: one submission, some judges, now."""
