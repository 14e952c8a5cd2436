"""Tables as committees, teachers and firms keep them, and what a person reads in them.

The shapes are those of forms, spreadsheets and survey programs; the texts are made up here.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from tests.formats.strangers import Stranger, essay, table


def _sheet(rows: Sequence[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


#: Five jurors' marks of nine tents; B. sat out for two of them.
TENT_MARKS = [
    [(3 * tent + 2 * juror + tent // 3) % 9 / 2 + 1 for juror in range(5)] for tent in range(9)
]
TENTS = ("Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir", "Gorse", "Hazel", "Ivy")


def _tents(name_first: bool) -> str:
    given = [
        ["S" if (tent, at) in ((2, 1), (5, 1)) else mark for at, mark in enumerate(marks)]
        for tent, marks in enumerate(TENT_MARKS)
    ]
    numbers = [[m for m in marks if m != "S"] for marks in given]
    means = [round(sum(n) / len(n), 2) for n in numbers]
    places = [1 + sum(other > mean for other in means) for mean in means]
    below = [[row[at] for row in given if row[at] != "S"] for at in range(5)]
    foot = [round(sum(c) / len(c), 2) for c in below]
    names = [["Tent"]] if name_first else [["Nr", "Tent"]]
    rows = [[name] if name_first else [at + 1, name] for at, name in enumerate(TENTS)]
    return _sheet(
        [
            ["Camp of the year"],
            ["Marks 1-5, halves allowed. S = sat out"],
            [*names[0], "Uma", "Vic", "Wes", "Xan", "Yul", "Mean", "Place"],
            *(
                [*row, *marks, mean, place]
                for row, marks, mean, place in zip(rows, given, means, places, strict=True)
            ),
            [""] * (len(rows[0]) + 7),
            [*([] if name_first else [""]), "Mean per juror", *foot, "", ""],
        ]
    )


#: How well each of six listeners understood seven speakers, on a line from 0 to 100.
HEARD = [
    {"speaker": f"s{n}", "listener": f"L{who}", "ease": 20 + (17 * n + 23 * who) % 141 / 2}
    | {"warmth": 1 + (n + who) % 7, "pace": 1 + (2 * n + who) % 7}
    for n in range(7)
    for who in range(6)
]


def sent(n: int) -> dict[str, object]:
    """One of five people's answers about one of four teams."""
    who, team = n % 5, n // 5
    return (
        {
            "Timestamp": f"3/{n + 1}/2026 10:05:33",
            "Your name": ("Ida Moe", "Jo Fox", "Kai Lo", "Lea Poe", "Mo Roy")[who],
        }
        | {"Which team are you reviewing?": f"Team {('Oak', 'Elm', 'Fir', 'Ash')[team]}"}
        | {
            f"Rate it [{part}]": 1 + (n * n * at + team * at + who) % 5
            for at, part in enumerate(("Plan", "Use of time", "Sources"), 1)
        }
        | {"Would you join this project?": ("Yes", "Maybe", "No")[(who * team + n) % 3]}
    )


AGREED = ("trifft gar nicht zu", "trifft eher nicht zu", "trifft eher zu", "trifft voll zu")
SYSTEMS = ("Gull-7B", "Tern-XL", "Skua-mini")
JURY = ("S1_ama", "S2_bo", "S3_cy")

COMMITTEE_TABLES: tuple[Stranger, ...] = (
    # A letter that a title explains, a mean below whose name is in the second column, a place.
    Stranger(
        "tents.csv",
        _tents(name_first=False),
        "at once",
        (43, 5, 9, 1),
        maps=("item=Tent raters=Uma raters=Vic raters=Wes raters=Xan raters=Yul",),
    ),
    Stranger(
        "named tents.csv",
        _tents(name_first=True),
        "refused",
        (43, 5, 9, 1),
        maps=("item=Tent raters=Uma raters=Vic raters=Wes raters=Xan raters=Yul",),
    ),
    # A line from 0 to 100 beside ratings is a question, too.
    Stranger(
        "heard.csv",
        table(HEARD),
        "refused",
        (126, 6, 7, 3),
        maps=("item=speaker rater=listener criteria=ease criteria=warmth criteria=pace",),
    ),
    # Two questions on two scales to the same people, and the highest mark of one.
    Stranger(
        "leaks.csv",
        table(
            [
                {"case": f"c{n}", "reply": essay(n)}
                | {f"leak_{who}": (n + at) % 5 for at, who in enumerate(JURY)}
                | {f"declined_{who}": "YPN"[(n + at * at) % 3] for at, who in enumerate(JURY)}
                | {"leak_max": max((n + at) % 5 for at in range(3))}
                for n in range(12)
            ]
        ),
        "refused",
        (72, 3, 12, 2),
        maps=(
            "item=case submission=reply raters=S1_ama raters=S2_bo raters=S3_cy criteria=leak"
            " criteria=declined",
        ),
    ),
    # An opinion in three usual words beside points, which differs between raters.
    Stranger(
        "avis.csv",
        table(
            [
                {"Dossier": f"D{n}", "Juré": who, "Clarté (/5)": (n + at) % 5 + 0.5}
                | {"Portée (/5)": (2 * n + at) % 5}
                | {"Avis": ("Réservé", "Favorable", "Défavorable")[(n + at * at) % 3]}
                for n in range(9)
                for at, who in enumerate(("Mme Oury", "M. Pons", "Mme Quin"))
            ]
        ),
        "at once",
        (81, 3, 9, 3),
        maps=("item=Dossier rater=Juré criteria=Clarté (/5) criteria=Portée (/5) criteria=Avis",),
    ),
    # Japanese marks by two raters on two questions, beside the system that answered.
    Stranger(
        "kigou.csv",
        table(
            [
                {
                    "番号": f"K{n:02}",
                    "回答": f"川は海へ流れます。例は{n}つ目で、河口に広い平野ができます。",
                }
                | {"モデル": f"型{n % 2}"}
                | {
                    f"{who}_{asked}": "◎○△×"[(n * at + of) % 4]
                    for of, asked in enumerate(("正確性", "自然さ"))
                    for at, who in enumerate(("森", "林"), 1)
                }
                for n in range(12)
            ]
        ),
        "refused",
        (48, 2, 12, 2),
        maps=("item=番号 submission=回答 raters=森 raters=林 criteria=正確性 criteria=自然さ",),
    ),
    # A form with a grid and a question in words; one person sent it again.
    Stranger(
        "teams.csv",
        table([sent(n) for n in (*range(20), 8)]),
        "at once",
        (80, 5, 4, 4),
        maps=(
            "rater=Your name item=Which team are you reviewing? criteria=Rate it [Plan]"
            " criteria=Rate it [Use of time] criteria=Rate it [Sources]"
            " criteria=Would you join this project?",
        ),
    ),
    # LimeSurvey: a row is a person, and one column says what they rated; codes go before names.
    Stranger(
        "results.csv",
        table(
            [
                {
                    "id. Antwort ID": 11 + n,
                    "submitdate. Datum Abgeschickt": f"2026-01-{n + 1:02} 10:00:00",
                }
                | {
                    "G01Q01. Welchen Kurs haben Sie besucht?": ("Töpfern", "Filzen", "Drechseln")[
                        n % 3
                    ]
                }
                | {
                    f"G01Q02[SQ00{at}]. Wie war der Kurs? [{part}]": AGREED[(n * at + n // 3) % 4]
                    for at, part in enumerate(("Es war klar", "Es war kurz"), 1)
                }
                | {"G01Q03. Würden Sie den Kurs empfehlen?": ("Ja", "Nein")[n // 2 % 2]}
                for n in range(18)
            ]
        ),
        "refused",
        (54, 18, 3, 3),
        maps=(
            "item=Welchen Kurs haben Sie besucht? rater=Antwort ID criteria=Wie war der Kurs?"
            " [Es war klar] criteria=Wie war der Kurs? [Es war kurz] criteria=Würden Sie den Kurs"
            " empfehlen?",
        ),
    ),
    # Three systems side by side, two people's scores of each, and who won by them.
    Stranger(
        "bake-off.csv",
        table(
            [
                {"#": n + 1, "Prompt": f"Write of river {n} for people who walk there."}
                | {
                    f"{name} {part}": cell
                    for at, name in enumerate(SYSTEMS)
                    for part, cell in (
                        ("output", essay(3 * n + at)),
                        ("score AB", 1 + (n + at) % 5),
                        ("score CD", 1 + (n * 2 + at) % 5),
                    )
                }
                | {"Winner": SYSTEMS[n % 3]}
                for n in range(9)
            ]
        ),
        "refused",
        (54, 2, 27, 1),
        maps=("item=item id submission=answer prompt=Prompt raters=score AB raters=score CD",),
    ),
)
