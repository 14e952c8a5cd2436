"""The parts of the Import votes page."""
