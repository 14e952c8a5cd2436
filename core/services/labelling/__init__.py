"""How many labels it takes: what more of them would buy, at what price, and the queue that asks;
what came of a queue, and how far its reviewers agree; cells settled in the grid; answers alike.

May import pairwise and what is below.
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
