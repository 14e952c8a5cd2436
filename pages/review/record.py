"""Findings of review: what people's verdicts are worth (`?queue=ID`, or `?run=ID`; `&view=`)."""

from __future__ import annotations

from pages.review._record import overview
from pages.ui import identity

_who = identity.seat(overview.HEADER)
if _who is not None:
    overview.show(_who)
