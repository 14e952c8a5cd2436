"""The library: rubrics, datasets, judges, panels, drafts and writing tasks.

Use it through ``Store`` only. A saved version never changes.
"""
