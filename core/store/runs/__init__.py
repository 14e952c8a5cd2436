"""Runs and what came of them: votes and calls as facts, verdicts and scores derived from them,
leases on the work.

Used through ``Store`` only. Nothing is recorded for a run without the fence of its lease.
"""
