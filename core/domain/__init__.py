"""The nouns: rubric, dataset, panel, vote, run, review. Frozen, valid by construction, without
I/O and without a clock.

The store returns records (``library``, ``runs``, ``review_records``, part of ``votes``); pages and
services may import them. Imports only ``core.text``, ``core.identity`` and ``core.errors``.
"""
