"""Rubrics: the list, or one rubric in the editor (`?rubric=ID`, read-only with `&version=ID`)."""

from __future__ import annotations

from pages.author._rubric import editor, listing, reading, spread, versions
from pages.ui import state

_rubric = state.address(state.RUBRIC)
_version = state.address_id(state.VERSION)
_against = state.address_id(state.AGAINST)
_run = state.address_id(state.RUN)
if _rubric is None:
    listing.show()
elif _run is not None:
    spread.show(_rubric, _run)
elif _version is not None and _against is not None:
    versions.show_difference(_version, _against)
elif _version is not None:
    reading.show(_version)
else:
    editor.show(_rubric)
