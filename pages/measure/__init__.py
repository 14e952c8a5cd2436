"""Measure: whether the grades can be trusted."""
