"""Asking judges: prompts, replies, doors to providers, offline judges, and the engine over them.

Judging never writes to the store and never reads the environment: both come in from services.
"""
