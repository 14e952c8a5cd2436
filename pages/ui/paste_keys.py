"""The keys of pasting criteria and of weights from grades, beside those of `state`."""

from __future__ import annotations

PASTE_TEXT = "paste_text"
PASTE_KIND = "paste_kind"
PASTE_ACT = "paste_act"
WEIGHTS_SOURCE = "weights_source"
WEIGHTS_FILE = "weights_file"
WEIGHTS_TEXT = "weights_text"
WEIGHTS_DATASET = "weights_dataset"
WEIGHTS_TOTAL = "weights_total"
WEIGHTS_STEP = "weights_step"
WEIGHTS_ACT = "weights_act"
