"""The keys of the review pages, beside those of `state` (used with `state.key`)."""

from __future__ import annotations

# Address parameters.
QUEUE = "queue"
NEW = "new"
SHOW = "show"
CRITERION = "criterion"
FLAGGED = "flagged"

# Families of session keys.
IDENTITY = "identity"
NAME = "identity_name"
KEEP = "identity_keep"
HEARD = "identity_heard"
SESSION = "identity_session"
QUEUES_ACT = "queues_act"
QUEUE_FIELD = "queue_field"
QUEUE_ACT = "queue_act"
REVIEW = "review"
REVIEW_ACT = "review_act"
REVIEW_REFUSED = "review_refused"
REVIEW_NOTE = "review_note"
REVIEW_FIND = "review_find"
REVIEW_SPANS = "review_spans"
REVIEW_LOOK = "review_look"
REVIEW_HELP = "review_help"
REVIEW_TAKE = "review_take"
