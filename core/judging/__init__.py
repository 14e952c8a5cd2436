"""Asking judges: prompts, providers, rate limits, replies, and judges that work offline.

``asking`` puts a question of ``protocol`` to a model through ``prompts`` and ``providers``;
``writing`` asks a model for help with a rubric; ``offline`` learns from labels. Judging never
writes to the store and never reads the environment: both come in from services.
"""
