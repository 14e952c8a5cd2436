"""The parts of the Rubrics page."""
