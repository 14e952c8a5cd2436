"""Submissions and changed items written by a model, to test whether judges notice."""
