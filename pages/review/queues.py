"""Queues: what people are to look at (`?queue=ID` for one, `?run=ID` for the queues of a run).

`?show=issues` lists what reviewers found wrong with criteria.
"""

from __future__ import annotations

from pages.review._queues import issues, listing, making, one
from pages.ui import identity, state

_queue = state.address_id(state.QUEUE)
_who = identity.seat(listing.HEADER)
if _who is not None:
    if _queue is not None:
        one.show(_who, _queue)
    elif state.address(state.NEW) is not None:
        making.show(_who)
    elif state.address(state.SHOW) == "issues":
        issues.show()
    else:
        listing.show(_who)
