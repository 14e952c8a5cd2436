"""Test data: submissions by a model, and changed items (`?rubric=NAME`, `&view=edits`)."""

from __future__ import annotations

from pages.author._help import test_data

test_data.show()
