"""Import votes: answers that people or models gave elsewhere become a run, once looked at."""

from __future__ import annotations

from pages.grade._import import form, result
from pages.ui import import_keys as keys
from pages.ui import state

if state.arriving():
    # Coming back is for another file.
    state.drop(keys.DONE)
state.arrived()
_done = state.get(keys.DONE)
if _done is None:
    form.show()
else:
    result.show(*_done)
