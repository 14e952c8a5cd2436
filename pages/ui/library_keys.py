"""The keys of the Library page, beside those of `state` (used with `state.key`)."""

from __future__ import annotations

LIBRARY_VIEW = "library_view"
LIBRARY_SEARCH = "library_search"
LIBRARY_PACK = "library_pack"
LIBRARY_SCALE = "library_scale"
LIBRARY_PICK = "library_pick"
LIBRARY_LOOK = "library_look"
LIBRARY_TARGET = "library_target"
LIBRARY_ACT = "library_act"
LIBRARY_GUIDELINES = "library_guidelines"
