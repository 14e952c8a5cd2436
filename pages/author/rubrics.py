"""Rubrics: the list, or one rubric in the editor (`?rubric=ID`)."""

from __future__ import annotations

from pages.ui.widgets import page_header

page_header("Rubrics", "Write, check and version what judges are asked.")
