"""Datasets: import and export, columns, labels, splits.

The lowest of the services: it imports no other. An item either teaches judges or measures them.
"""

__all__ = ["catalog", "item_columns", "label_draws", "label_stats", "splits", "twins"]
