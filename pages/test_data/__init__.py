"""Submissions and changed items that a model writes, to see whether judges notice."""
