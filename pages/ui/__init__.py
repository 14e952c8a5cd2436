"""The kit every screen shares: keys, resources, widgets, number formatting."""
