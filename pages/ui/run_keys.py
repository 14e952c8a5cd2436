"""The keys of the Runs and Run pages, beside those of `state` (used with `state.key`)."""

from __future__ import annotations

# Address parameters of the Runs page.
PLAN = "plan"
SWEEP = "sweep"
FIND = "find"
PAGE = "page"

# Address parameters of the Run page: the view, and which of its items are shown in which order.
VIEW = "view"
ONLY = "only"
OUTCOME = "outcome"
SORT = "sort"
DOWN = "down"
LEAST = "min"
MOST = "max"
SYSTEM = "system"
TAG = "tag"
SPLIT = "split"
CRITERION = "criterion"
VERDICT = "verdict"

# Families of session keys.
RUNS_ACT = "runs_act"
RUNS_FILTER = "runs_filter"
PLAN_FIELD = "plan_field"
PLAN_SEED = "plan_seed"
SWEPT = "plan_swept"
RUN_ACT = "run_act"
RUN_LOOK = "run_look"
RUN_FILTER = "run_filter"
RUN_TABLE = "run_table"
RUN_VIEW = "run_view"
RUN_CHART = "run_chart"
ITEM_ACT = "item_act"
ITEM_OPEN = "item_open"
ITEM_MARKS = "item_marks"
