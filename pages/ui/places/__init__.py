"""Orientation: the sidebar, its tabs, the head of a run, and links from a run's items."""
