"""The keys of the Compare systems and Arena pages, beside those of `state`."""

from __future__ import annotations

# Address parameters: the form, the view, what is counted, the cell of the matrix and the contest.
QUESTION = "question"
ORDERS = "orders"
CELL = "cell"
BOUT = "bout"
SCORES = "scores"
PART = "part"
JOIN = "join"

# Families of session keys.
CONTEST_ACT = "contest_act"
CONTEST_FIELD = "contest_field"
CONTEST_CHART = "contest_chart"
CONTEST_FORM = "contest_form"
