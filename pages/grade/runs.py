"""Runs: the list, or the form that plans one (`?plan=new`, with `&rubric=ID&dataset=ID`)."""

from __future__ import annotations

from pages.grade._runs import listing, planning
from pages.ui import run_keys, state

if state.address(run_keys.PLAN) is None:
    listing.show()
else:
    planning.show()
