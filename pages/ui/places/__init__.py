"""Orientation: the sidebar, the tabs of a place, the head of a run, links from its items."""
