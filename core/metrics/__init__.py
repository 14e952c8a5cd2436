"""Metrics: arrays in, numbers out. They know no nouns of ours, and import only this package.

An undefined figure is ``None`` with a reason, never NaN, 0 or 1.
"""
