"""Versions of a rubric compared: edits named, words diffed, two people's changes merged.

Pure: imports ``core.domain`` and ``core.scoring``. Every edit is of one kind: words, score, or
question.
"""
