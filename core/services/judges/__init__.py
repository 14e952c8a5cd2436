"""Judges and panels: the registry, settings, keys by name, the connection check.

Imports no other service. A run keeps a copy of its panel, so nothing here changes an existing run.
"""

__all__ = ["check_rules", "connection", "panel_setup", "programs", "readiness", "registry"]
