"""The keys of the Agreement page, beside those of `state` (used with `state.key`)."""

from __future__ import annotations

# Address parameters, beside `run`.
REFERENCE = "reference"
RATER = "rater"
CELL = "cell"
MEASURE = "measure"
FINDING = "finding"
ABOUT = "about"

# Families of session keys.
AGREEMENT_FIELD = "agreement_field"
AGREEMENT_CHART = "agreement_chart"
