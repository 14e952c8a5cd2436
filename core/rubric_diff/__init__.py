"""Comparison of rubric versions: classified edits, word diffs, and merging two people's changes.

Pure: imports ``core.domain`` and ``core.scoring``. Every edit has one kind, such as words, score or
question.
"""
