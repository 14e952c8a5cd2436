"""Tables that a fifth stranger gave, or that were made for the readers' causes of fault.

Each is read as a person reads it, or asked about; the content is made up here.
"""

from __future__ import annotations

from tests.formats.strangers import Stranger, essay, table

#: Marks of three raters; 99 is no answer, as survey programs write it.
_MARKS = ((2, 6, 1), (6, 5, 99), (1, 99, 4), (4, 1, 3), (3, 2, 5), (2, 3, 3))
CODES = table(
    [
        {"ITEM": f"e{n}", "RATER_A": a, "RATER_B": b, "RATER_C": c, "MEAN": 3}
        for n, (a, b, c) in enumerate(_MARKS)
    ]
)
GRADED = table(
    [
        {"id": n, "text": essay(n), "quality": mark}
        for n, mark in enumerate((1, 5, -9, 4, 4, 2, ".", 5))
    ]
)

FRESH_TABLES: tuple[Stranger, ...] = (
    Stranger("missing codes.csv", CODES, "wide", (16, 3, 6, 1)),
    Stranger("codes that are answers.csv", CODES, "wide", (18, 3, 6, 1), words=("word:99=99",)),
    Stranger("codes of labels.csv", GRADED, "dataset", 8, essay(0), {"quality": "1"}),
    Stranger(
        "codes by name.csv",
        table([{"item": n, "r1": (1, 2, 3, 9)[n % 4], "r2": (3, 2, 1)[n % 3]} for n in range(8)]),
        "wide",
        (14, 2, 8, 1),
        words=("word:9=NA",),
    ),
)
