"""The library: rubrics, datasets, judges, panels and drafts.

Use it through ``Store`` only. A saved version never changes.
"""
