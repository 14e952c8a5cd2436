"""The parts of the Library page."""
