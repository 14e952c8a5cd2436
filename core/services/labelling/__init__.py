"""Labels: how many are needed and what they cost, results of queues, agreement of reviewers, cells
settled in the grid, and similar answers.

May import pairwise and the layers below.
"""

__all__ = [
    "answer_groups",
    "label_plan",
    "plan_queue",
    "plan_words",
    "queue_results",
    "reviewer_pairs",
    "settle_at_sight",
]
