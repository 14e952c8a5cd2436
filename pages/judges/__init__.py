"""Judges, panels, and API keys in the environment."""
