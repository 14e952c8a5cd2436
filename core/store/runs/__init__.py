"""Runs: votes and calls as facts, derived verdicts and scores, leases, and help tasks.

Use it through ``Store`` only. Every record of a run requires the fence of its lease.
"""
