"""Contests of systems: planning, judging, ranking."""
