"""Agreement: how far a run's verdicts can be trusted (`?run=ID&criterion=NAME`)."""

from __future__ import annotations

from pages.measure._agreement import overview

overview.show()
