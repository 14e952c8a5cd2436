"""Human review: queues, turns, blind verdicts, adjudication, and the audit trail.

May import runs, rubrics and the layers below. Every act is an event and can be undone. Reviewers do
not see others' verdicts before they give their own.
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
