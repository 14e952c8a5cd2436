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
QUESTIONS = ("Why does salt dissolve?", "What is a delta?")
#: Microsoft Forms, Google Forms and Moodle: two answers of four people, with points.
MICROSOFT = table(
    [
        {
            "ID": n,
            "Start time": "11/3/26 9:00:00",
            "Email": f"s{n}@school.example",
            "Name": f"S {n}",
        }
        | {"Total points": n + 1, "Quiz feedback": "Good"}
        | {
            f"{of}{question}": cell
            for at, question in enumerate(QUESTIONS)
            for of, cell in (
                ("", essay(n + 9 * at)),
                ("Points - ", (n + at) % 4),
                ("Feedback - ", "Well argued, but see me about the end of it please."),
            )
        }
        for n in range(4)
    ]
)
GOOGLE = table(
    [
        {"Timestamp": f"2026/05/0{n + 1} 9:00:00", "Email Address": f"s{n}@school.example"}
        | {"Score": f"{n} / 10"}
        | {
            f"{question}{of}": cell
            for at, question in enumerate(QUESTIONS)
            for of, cell in (
                ("", essay(n + 9 * at)),
                (" [Score]", f"{(n + at) % 4}.00 / 5"),
                (" [Feedback]", ""),
            )
        }
        for n in range(4)
    ]
)
MOODLE = table(
    [
        {"Surname": f"S{n}", "First name": f"F{n}", "ID number": 9000 + n, "State": "Finished"}
        | {"Started on": "3 May 2026 10:00", "Time taken": "23 mins 37 secs", "Grade/10.00": n}
        | {"Q. 1 /5.00": n % 4, "Q. 2 /5.00": 1.5}
        | {"Response 1": essay(n), "Response 2": essay(n + 9)}
        for n in range(4)
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
    Stranger("microsoft.csv", MICROSOFT, "dataset", 8, essay(0), {"score": "0"}),
    Stranger("google.csv", GOOGLE, "dataset", 8, essay(0), {"score": "0.00"}),
    Stranger("moodle.csv", MOODLE, "dataset", 8, essay(0), {"score": "0"}),
)
