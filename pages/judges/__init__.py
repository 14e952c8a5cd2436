"""Judges, panels, and the keys of the environment."""
