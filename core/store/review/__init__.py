"""Reviewing: queues, turns, events and settled cells.

Use it through ``Store`` only. Events are only ever added, and everything else follows from them.
"""
