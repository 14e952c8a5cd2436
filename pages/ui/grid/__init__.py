"""The grid of a run's cells: how it is drawn, and one run or several side by side in it."""
