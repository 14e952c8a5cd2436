"""Judges: who can be asked (`?judge=ID`), panels of them (`?panel=ID`), and which keys are set."""

from __future__ import annotations

from pages.grade._judges import editing, overview, panel_editing
from pages.ui import state

_judge = state.address(state.JUDGE)
_panel = state.address(state.PANEL)
if _judge is not None:
    editing.show(_judge)
elif _panel is not None:
    panel_editing.show(_panel)
else:
    overview.show()
