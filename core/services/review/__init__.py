"""People review: queues, turns, blind verdicts, adjudication, and the record of it.

May import runs and rubrics and what is below. Every act is an event and can be undone; before a
verdict nobody sees another's.
"""

__all__ = [
    "adjudication",
    "audit_trail",
    "claims",
    "commit_reveal",
    "corrected_estimates",
    "other_acts",
    "queues",
    "random_audit",
    "random_labels",
    "regrades",
    "reviewer_quality",
    "reviewers",
    "second_looks",
]
