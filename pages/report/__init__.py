"""What a run found, with its limits, to read or to take away."""
