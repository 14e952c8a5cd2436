"""Judging: prompts, providers, rate limits, replies and offline judges.

``asking`` sends a question of ``protocol`` to a model through ``prompts`` and ``providers``.
``writing`` asks a model for help with a rubric. ``offline`` learns from labels. Judging never
writes to the store and never reads the environment: services pass both in.
"""
