"""Where one is: the sidebar, the tabs of a place, the head of a run, ways on from its items."""
