"""More tables of strangers: workbooks of raters, ids that name no text, grids and counts.

The shapes were met in the wild; the texts are made up here.
"""

from __future__ import annotations

from tests.formats.strangers import Stranger, essay, table

#: A text and what three people or models said of it, as people head their columns.
RATED: tuple[tuple[str, ...], ...] = (
    ("Rater 1", "Rater 2", "Rater 3"),
    ("GPT 4", "Claude 3", "Human 1"),
    ("Kodierer 1", "Kodierer 2", "Kodierer 3"),
)
WORDS = ("good", "poor")

STRANGE_TABLES: tuple[Stranger, ...] = (
    # Headings of a word and a number are raters, where their cells repeat each other.
    *(
        Stranger(
            f"{heads[0]}.xlsx",
            table(
                [
                    {head: f"T{n}", "Text": essay(n)}
                    | {rater: WORDS[n % (at + 2) % 2] for at, rater in enumerate(heads)}
                    for n in range(8)
                ]
            ),
            "wide",
            (24, 3, 8, 1),
            essay(0),
        )
        for head, heads in zip(("id", "Nr", "Name"), RATED, strict=True)
    ),
    Stranger(
        "two answers of a number.xlsx",
        table(
            [
                {
                    "ID": n,
                    "Prompt": f"Lamp {n}?",
                    "Response 1": essay(n),
                    "Response 2": essay(n + 9),
                }
                | {"Preferred": 1 + n % 2}
                for n in range(4)
            ]
        ),
        "pairs",
        (4, 1, 4, 1),
    ),
    Stranger(
        "said to be votes.xlsx",
        table(
            [
                {"Aspect": f"T{n}", "Good (2)": WORDS[n % 2], "Poor (0)": WORDS[n % 3 % 2]}
                for n in range(6)
            ]
        ),
        "wide",
        (12, 2, 6, 1),
        words=("item=Aspect", "raters=Good (2)", "raters=Poor (0)"),
    ),
)
