"""Datasets: in and out, columns, labels, parts.

The lowest of the services: imports no other. An item teaches judges or measures them, never both.
"""

__all__ = ["catalog", "item_columns", "label_draws", "label_stats", "splits", "twins"]
