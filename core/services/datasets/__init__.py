"""Datasets: in and out, columns, labels, parts.

Imports no other service. An item teaches judges or measures them, never both.
"""

__all__ = ["catalog", "item_columns", "label_stats", "splits", "twins"]
