"""Importing votes as a run, after a preview."""
