"""How many labels it takes: what more of them would buy, at what price, and the queue that asks.

May import pairwise and what is below.
"""

__all__ = ["label_plan", "plan_words"]
