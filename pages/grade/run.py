"""Run: one run (`?run=ID`), or one item of it with every vote (`&item=ID`)."""

from __future__ import annotations

from pages.grade._run import item, overview
from pages.ui import state

_run = state.address_id(state.RUN)
_item = state.address(state.ITEM)
if _run is None:
    overview.none_chosen()
elif _item is None:
    overview.show(_run)
else:
    item.show(_run, _item)
