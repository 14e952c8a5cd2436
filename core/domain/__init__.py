"""The nouns: rubric, dataset, panel, vote, run, review. Frozen, always valid, without I/O or clock.

The store returns records (``library``, ``runs``, ``review_records``, part of ``votes``); pages and
services may import them. Imports only ``core.text``, ``core.identity`` and ``core.errors``.
"""
