"""The keys of the page "Findings of review", beside those of `state` and `review_keys`."""

from __future__ import annotations

# Address parameters, beside `queue`, `run` and `item`.
VIEW = "view"
CRITERION = "criterion"

# Families of session keys.
RECORD_FIELD = "record_field"
RECORD_ACT = "record_act"
RECORD_CHART = "record_chart"
AGAIN = "record_again"
