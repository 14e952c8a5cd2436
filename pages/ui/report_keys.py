"""The keys of the Report page, beside those of `state` (used with `state.key`)."""

from __future__ import annotations

#: The container that the style sheet knows by its key.
REPORT = "rs_report"

REPORT_FIELD = "report_field"
REPORT_ACT = "report_act"
REPORT_CHART = "report_chart"
