"""How many labels it takes: what more of them would buy, at what price, and the queue that asks;
what came of a queue, and how far its reviewers agree; and cells settled in the grid itself.

May import pairwise and what is below.
"""

__all__ = [
    "label_plan",
    "plan_queue",
    "plan_words",
    "queue_results",
    "reviewer_pairs",
    "settle_at_sight",
]
