"""The parts of the Compare systems page."""
