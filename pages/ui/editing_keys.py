"""The keys of the editor's hands (what is typed and pressed), beside those of `state`."""

from __future__ import annotations

#: The uid of the criterion that was added last, by rubric: the cursor goes into it.
FRESH = "editing_fresh"
#: The template that was used last, by rubric: another one like it is one key away.
TEMPLATE = "editing_template"
HANDS = "editing_hands"
