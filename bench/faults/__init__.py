"""Faults, made on purpose, and what became of the run: `python -m bench.faults`."""
