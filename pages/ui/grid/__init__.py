"""The grid of a run's cells, for one run or for several side by side."""
