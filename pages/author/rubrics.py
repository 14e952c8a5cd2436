"""Rubrics: the list, or one rubric in the editor (`?rubric=ID`, read-only with `&version=ID`)."""

from __future__ import annotations

from pages.author._rubric import editor, listing, reading
from pages.ui import state

_rubric = state.address(state.RUBRIC)
_version = state.address_id(state.VERSION)
if _rubric is None:
    listing.show()
elif _version is not None:
    reading.show(_version)
else:
    editor.show(_rubric)
