"""Reviewing: queues, turns, events and settled cells.

Use it through ``Store`` only. Events are only ever added; everything else is derived from them.
"""
