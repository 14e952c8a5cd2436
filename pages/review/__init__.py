"""Screens where people settle what judges left in doubt."""
