"""Reviewing: queues, turns, events, and what people settled.

Used through ``Store`` only. Events are only ever added; all else follows from them.
"""
