"""Human review: queues, turns, blind verdicts, adjudication, and the audit trail.

May import runs, rubrics and what is below. Every act is an event and can be undone. Before their
own verdict, reviewers do not see those of others.
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
