"""Metrics: arrays in, numbers out. They do not depend on the domain, and import only this package.

An undefined figure is ``None`` with a reason, never NaN, 0 or 1.
"""
