"""The keys of the workbench, beside those of `state` (used with `state.key`)."""

from __future__ import annotations

BENCH = "workbench"
#: What the view is called on the page.
BENCH_VIEW = "Workbench"

WORKBENCH_CRITERION = "workbench_criterion"
WORKBENCH_FIELD = "workbench_field"
WORKBENCH_FIND = "workbench_find"
WORKBENCH_OPEN = "workbench_open"
WORKBENCH_GONE = "workbench_gone"
WORKBENCH_PAGE = "workbench_page"
WORKBENCH_CALL = "workbench_call"
WORKBENCH_SAVED = "workbench_saved"
WORKBENCH_ACT = "workbench_act"
