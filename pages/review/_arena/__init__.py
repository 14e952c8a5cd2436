"""The parts of the Arena page."""
