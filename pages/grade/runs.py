"""Runs: the list, the form that plans one (`?plan=new`, with `&rubric=ID&dataset=ID`), or many at
once (`?plan=sweep`).
"""

from __future__ import annotations

from pages.grade._runs import listing, planning, sweeping
from pages.ui import state

_plan = state.address(state.PLAN)
if _plan is None:
    listing.show()
elif _plan == state.SWEEP:
    sweeping.show()
else:
    planning.show()
