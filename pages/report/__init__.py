"""The report of a run, with its limits, to read or download."""
