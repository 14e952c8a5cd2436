"""The keys of the Import votes page, beside those of `state` (used with `state.key`)."""

from __future__ import annotations

# Families of session keys.
FILE = "votes_file"
RUBRIC = "votes_rubric"
DATASET = "votes_dataset"
SHAPE = "votes_shape"
FIELD = "votes_field"
RATERS = "votes_raters"
NAME = "votes_name"
ACT = "votes_act"
DONE = "votes_done"
