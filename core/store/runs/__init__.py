"""Runs and what came of them: votes and calls as facts, verdicts and scores derived from them,
leases on the work.
"""
