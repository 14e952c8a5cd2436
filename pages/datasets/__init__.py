"""Datasets: the list, the import, and one dataset with its items, labels and split."""
