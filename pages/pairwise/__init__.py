"""Contests of systems: planned, held, ranked."""
