"""Report: what a run found, how sure that is, and what it cannot say (`?run=ID`)."""

from __future__ import annotations

from pages.measure._report import overview

overview.show()
