"""The parts of the Datasets page."""
