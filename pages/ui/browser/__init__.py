"""What the browser does by itself on every page: give typed texts away, and take tables home."""
