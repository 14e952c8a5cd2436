"""The keys of a model's help, beside those of `state` (used with `state.key`)."""

from __future__ import annotations

# Families of session keys.
HELP_VIEW = "help_view"
HELP_FIELD = "help_field"
HELP_ACT = "help_act"
