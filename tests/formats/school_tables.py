"""Tables of a sixth stranger's kinds: graded work under titles, lists in objects, calls.

The shapes were met in the wild; the texts are made up here.
"""

from __future__ import annotations

import json

from tests.formats.strangers import Stranger, essay, table

TITLE = "Unit 2: why do rivers bend?\n3 points a trait\n\n"

SCHOOL_TABLES: tuple[Stranger, ...] = (
    # Two Dutch readers beside each criterion; one mark does not apply.
    Stranger(
        "lezers.csv",
        table(
            [
                {"Student": name}
                | {
                    f"{c} - {who}": "n.v.t." if (n, at) == (3, 3) else 5 + (n + at) % 4
                    for at, (c, who) in enumerate(
                        (c, who)
                        for c in ("Opbouw", "Stijl")
                        for who in ("Begeleider", "Tweede lezer")
                    )
                }
                for n, name in enumerate(("Jan Bos", "Els Kuip", "Ria Post", "Wim Berg", "Bo Dam"))
            ]
        ),
        "wide",
        (19, 2, 5, 2),
    ),
    # Answers with marks headed like levels are graded work, not a grid of a rubric.
    *(
        Stranger(
            f"marks.{ending}",
            TITLE
            + table(
                [
                    {
                        "Nr.": n,
                        "Pupil": f"Pupil {n}",
                        "Class": ("7B", "7C")[n % 2],
                        "Answer": essay(n),
                    }
                    | {"Facts (0-3)": n % 4, "Terms (0-3)": (n + 1) % 4, "Links (0-3)": n // 2 % 4}
                    | {"Total /9": n % 4 + (n + 1) % 4 + n // 2 % 4, "Comment": "See me"}
                    for n in range(8)
                ]
            ),
            "refused",
            maps=("submission=Answer labels=Facts (0-3) labels=Terms (0-3) labels=Links (0-3)",),
        )
        for ending in ("xlsx", "csv")
    ),
    # An object around one list is that list; its entries list the answers of several raters.
    Stranger(
        "flags.json",
        json.dumps(
            {"board": "lamps", "taken": "2025-02-01"}
            | {
                "threads": [
                    {"thread": n, "posted": f"2025-01-0{n + 1}", "message": essay(n)}
                    | {
                        "flags": [
                            {"checker": f"c{(n + k) % 4}", "rude": n % 2, "ad": (n + k) % 2}
                            for k in range(2 + n % 2)
                        ]
                    }
                    for n in range(6)
                ]
            }
        ),
        "at once",
        (30, 4, 6, 2),
        maps=(
            "item=thread submission=message rater=flags[].checker criteria=flags[].rude"
            " criteria=flags[].ad",
        ),
    ),
)
