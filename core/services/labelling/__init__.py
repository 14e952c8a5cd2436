"""How many labels it takes: what more of them would buy, at what price, and the queue that asks;
and what came of a queue, and how far its reviewers agree.

May import pairwise and what is below.
"""

__all__ = ["label_plan", "plan_queue", "plan_words", "queue_results", "reviewer_pairs"]
