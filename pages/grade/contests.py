"""Compare systems: contests, their leaderboard, and every contest behind it.

`?run=ID` shows a contest run, or what can be said of systems from any other run; `?plan=new`
plans one; without either, the list.
"""

from __future__ import annotations

from pages.grade._contests import listing, overview, planning
from pages.ui import state

_run = state.address_id(state.RUN)
if state.address(state.PLAN) is not None:
    planning.show()
elif _run is None:
    listing.show()
else:
    overview.show(_run)
