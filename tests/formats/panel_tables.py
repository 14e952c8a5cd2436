"""Tables of a ninth stranger's kinds: preferences by name, titles under review, a lone rater each.

The shapes were met in the wild; the texts are made up here.
"""

from __future__ import annotations

import json
from itertools import product

from tests.formats.strangers import Stranger, essay, source, table

CHOICES = ("A", "B", "same")


def tasted(n: int) -> dict[str, object]:
    """One pair and what three people preferred; the last left two out."""
    pair = {"Nr": n, "Draft A": essay(n), "Draft B": essay(n + 20)}
    third = CHOICES[n % 2] if n > 1 else ""
    return pair | {"Ines": CHOICES[n % 3], "Otto": CHOICES[(n + 1) % 3], "Wanda": third}


SUM = {"Nr": "", "Draft A": "", "Draft B": "A won", "Ines": 3, "Otto": 3, "Wanda": 4}


def marked(n: int, people: int) -> list[dict[str, int]]:
    """What so many people without names gave one recap."""
    return [{"clear": 1 + (n + k) % 4, "true": 1 + (n * k) % 5} for k in range(people)]


#: Two recaps of each report, each with marks of two groups whose members have no names.
RECAPS = [
    {"id": f"r{report}", "model_id": model, "text": source(report), "recap": essay(2 * report + at)}
    | {"references": [essay(50 + report), essay(60 + report)]}
    | {"staff_annotations": marked(report + at, 2), "crowd_annotations": marked(report, 3 + at)}
    for report, (at, model) in product(range(4), enumerate(("fir", "yew")))
]

BY_PLAN = "criteria=Plan criteria=Style criteria=Spelling"
#: Parts of three questions, as Qualtrics heads them: codes, what was asked, and its own ids.
PARTS = {
    f"T{tune}_{n}": (tune, part) for tune in (1, 2, 3) for n, part in ((1, "Ease"), (2, "Charm"))
}
ABOUT = ("Status", "RecordedDate", "ResponseId")
SURVEY_HEADS = [
    {head: head for head in ABOUT}
    | {
        code: f"Please judge tune {t}. - {part} (1 = none, 5 = much)"
        for code, (t, part) in PARTS.items()
    },
    {head: f'{{"ImportId": "{head}"}}' for head in (*ABOUT, *PARTS)},
]


def surveyed(n: int) -> dict[str, object]:
    """One person's answers to all parts; the first person only tried the survey."""
    about = (
        "Survey Preview" if n == 0 else "IP Address",
        f"2026-03-0{n + 1} 09:00:00",
        f"R_{n}kQ{n}",
    )
    marks = {code: 1 + (n * at + n + at) % 5 for at, code in enumerate(PARTS)}
    return dict(zip(ABOUT, about, strict=True)) | marks


PANEL_TABLES: tuple[Stranger, ...] = (
    # A last row counts what each person preferred.
    Stranger("drafts.xlsx", table([*map(tasted, range(9)), SUM]), "pairs", (25, 3, 9, 1)),
    # A lone unknown word is asked about once, for all of them.
    Stranger(
        "asked.csv",
        table([{**tasted(n), "Otto": ("A", "B", "hm")[n % 3]} for n in range(9)]),
        "refused",
        (25, 3, 9, 1),
        maps=(
            "first=Draft A second=Draft B preference=Ines preference=Otto preference=Wanda"
            " word:hm=Tie",
        ),
    ),
    # The title of what was reviewed is not what was reviewed.
    Stranger(
        "talks.csv",
        table(
            [
                {
                    "#": 104 + 13 * talk,
                    "title": f"On small bridges and the rivers of town {talk}",
                    "reviewer": f"R-{who}",
                }
                | {"rigour": 1 + (talk + who) % 5, "novelty": 1 + (talk * who) % 4}
                | {"review": f"I liked talk {talk}. It needs a map, as {who} said before."}
                for talk in range(5)
                for who in range(3)
                if (talk + who) % 4
            ]
        ),
        "refused",
        (22, 3, 5, 2),
        maps=("item=# rater=reviewer criteria=rigour criteria=novelty reason=review",),
    ),
    *(
        Stranger(
            f"recaps.{ending}",
            data,
            "criteria",
            (88, 6, 8, 2),
            essay(0),
            reference=essay(50),
            prompt=source(0).strip(),
        )
        for ending, data in (
            ("json", json.dumps(RECAPS)),
            ("jsonl", "".join(json.dumps(recap) + "\n" for recap in RECAPS)),
        )
    ),
    # Each essay has one rater, named in a column, who marked it by several criteria in letters.
    *(
        Stranger(
            f"essays{len(words)}.csv",
            table(
                [
                    {"Nr": n, "Essay": essay(n), "Plan": "ABC"[n % 3], "Style": "ABC"[n * n % 3]}
                    | {"Spelling": "ABC"[(n + 1) % 3], "Rater": ("Ito", "Abe")[n // 6]}
                    for n in range(12)
                ]
            ),
            "criteria" if words else "refused",
            (36, 2, 12, 3),
            essay(0) if words else "",
            words=words,
            maps=(f"item=Nr submission=Essay rater=Rater {BY_PLAN}",),
        )
        for words in (
            (),
            ("submission=Essay", *BY_PLAN.replace("criteria", "labels").split(), "rater=Rater"),
        )
    ),
    # A survey's own previews are no answers; parts of a question are named by what was asked.
    Stranger(
        "survey.csv",
        table([*SURVEY_HEADS, *map(surveyed, range(7))]),
        "refused",
        (36, 6, 3, 2),
        maps=("rater=ResponseId items=T1 items=T2 items=T3 criteria=Ease criteria=Charm",),
    ),
)
