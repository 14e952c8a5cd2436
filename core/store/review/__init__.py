"""Reviewing: queues, turns, events, and what people settled."""
