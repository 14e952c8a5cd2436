"""What is kept to be used again: rubrics, datasets, judges, panels, drafts, and tasks of a
writing model.

Used through ``Store`` only. A version is never changed once it is there.
"""
