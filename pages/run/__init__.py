"""One run: its views, one item with every vote. The address says which items are shown."""
