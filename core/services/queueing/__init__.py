"""Which cells of a run people should look at, in which order, and at most how many.

Nothing here is written, and nothing known of who reviews: ``review`` makes queues of it. May import
runs, rubrics and what is below.
"""

__all__ = [
    "draw_chances",
    "queue_cap",
    "queue_cells",
    "queue_order",
    "queue_table",
    "queued_columns",
]
