"""The keys of a rubric's versions and of what they do to runs, beside those of `state`."""

from __future__ import annotations

SPREAD_ACT = "spread_act"
SPREAD_VERSION = "spread_version"
SPREAD_MOVE = "spread_move"
SPREAD_KEEP = "spread_keep"
SPREAD_ASK = "spread_ask"
SPREAD_AGAIN = "spread_again"
SPREAD_REASON = "spread_reason"
