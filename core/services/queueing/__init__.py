"""Select the cells of a run that people should review, with their order and number.

It writes nothing and does not depend on reviewers; ``review`` makes queues of the cells. May import
runs, rubrics and the layers below.
"""

__all__ = [
    "draw_chances",
    "drawn_cells",
    "drawn_texts",
    "queue_cap",
    "queue_cells",
    "queue_order",
    "queue_table",
    "queued_columns",
]
