"""Tables that a fifth stranger gave, or that were made for the readers' causes of fault.

Each is read as a person reads it, or asked about; the content is made up here.
"""

from __future__ import annotations

import json

from tests.formats.strangers import Stranger, essay, lines, short, source, table

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
REPEATED = table(
    [{"response_id": f"r{n // 2}", "response": essay(n // 2), "score": n % 4} for n in range(12)]
)
REPEATED_MAPS = (
    "item=response_id submission=response label=score",
    "submission=response labels=score",
)
SYSTEMS = table(
    [
        {"id": n, "source": short(n), "alpha": essay(n), "alpha_score": 40 + 3 * n}
        | {"beta": essay(n + 9), "beta_score": 77 - n}
        for n in range(5)
    ]
)
COMPLETIONS = [
    {
        "uid": f"u{n}",
        "instruction": short(n),
        "completions": [
            {"model": m, "text": essay(n + at), "ratings": {"tone": 1 + n, "depth": 2 + at}}
            for at, m in enumerate(("alpha", "beta"))
        ],
    }
    for n in range(4)
]
#: Each ticket was reviewed once.
TICKETS = table(
    [
        {"Ticket ID": f"T-{n}", "Agent": f"a{n % 3}", "Transcript": essay(n)}
        | {"QA Reviewer": ("Sam", "Lou")[n % 2], "Greeting (Y/N)": "YN"[n % 2]}
        | {"Resolved (Y/N)": "YN"[n // 2 % 2], "Empathy (1-5)": 1 + n % 5}
        | {"Handle time (s)": 100 + 37 * n}
        for n in range(8)
    ]
)
#: Marks set on lines, with a decimal comma.
LINES = "Prüfer;Probe;Süße;Säure;Gesamteindruck\n" + "".join(
    f"P{p};Probe {s};{(7 * s + 31 * p) % 100 // 10},{(7 * s + 3 * p) % 10}"
    f";{(9 * s + 17 * p) % 10},{(s + 7 * p) % 10};{1 + (s * s + 2 * p) % 5}\n"
    for s in range(4)
    for p in range(4)
)
STEMS = table(
    [
        {"item_id": f"e{n}", "text": essay(n), "r1_holistic": 1 + n % 4, "r2_holistic": 1 + n % 3}
        for n in range(6)
    ]
)
RANGES = table(
    [
        {"Schülernr.": n + 1, "Klasse": "9b", "Aufsatz": essay(n), "Inhalt (0-15)": 3 + n % 4}
        | {"Aufbau (0-15)": 2 + n % 5}
        for n in range(8)
    ]
)
FINDINGS = table(
    [
        {"Accession": f"X{n}", "Report": essay(n)}
        | {
            f"Reader {r} - {what} present?": ("Yes", "No")[(n + r * at) % 2]
            for at, what in enumerate(("Nodule", "Effusion"))
            for r in (1, 2)
        }
        for n in range(8)
    ]
)
COPIES = table(
    [
        {"N° copie": n, "Copie": essay(n), "Note correcteur A /20": 8 + n % 4}
        | {"Note correcteur B /20": 9 + n % 3}
        for n in range(8)
    ]
)
TURNS = table(
    [
        {"conversation_id": f"c{n}", "model": m, "turns": 2 + (3 * n + at) % 5}
        | {"transcript": essay(2 * n + (m == "B")), "evaluator": who}
        | {"helpfulness": 1 + (n + 2 * at) % 5, "safety": ("pass", "fail")[(n + at) % 3 % 2]}
        for n in range(4)
        for at, (m, who) in enumerate((m, who) for m in "AB" for who in ("eva", "tom"))
    ]
)
JUDGED = lines(
    [
        {"sample_id": f"s{n}", "input": {"question": short(n)}, "output": {"text": essay(n)}}
        | {
            "judge": {
                "name": who,
                "score": 1 + (n + at) % 5,
                "explanation": f"It says {n} twice, {who} holds.",
            }
        }
        for n in range(6)
        for at, who in enumerate(("gpt-4o", "claude"))
    ]
)
GRID = table(
    [
        {"SegID": n, "Source": short(n), "MT": essay(n)}
        | {
            f"{criterion}_{who}": 1 + (n + at * k) % 4
            for k, criterion in enumerate(("adequacy", "fluency"))
            for at, who in enumerate(("anna", "boris", "carla"))
        }
        for n in range(8)
    ]
)
TOTALS = table(
    [
        {"Votre nom": f"Élève {who}", "Copie évaluée": f"Copie {n}"}
        | {"Clarté [1-5]": 1 + (n + who) % 5, "Argumentation [1-5]": 1 + n * who % 5}
        | {"Total /10": 2 + (n + who) % 5 + n * who % 5}
        for n in range(4)
        for who in range(3)
    ]
)
#: One judge asked three times; the column of texts is called an answer.
RUNS = table(
    [
        {"item": f"q{n}", "answer": essay(n), "judge": "gpt-4o", "run": run, "score": 1 + n + run}
        for n in range(4)
        for run in range(3)
    ]
)
DIMENSIONS = table(
    [
        {"doc": f"d{n}", "target": essay(n), "assessor": who, "dimension": what}
        | {"score": 1 + (7 * n + len(what)) % 9}
        for n in range(4)
        for who in ("X1", "X2")
        for what in ("accuracy", "style")
    ]
)
WORDS = ("Needs improvement", "Meets expectations", "Exceeds expectations")
INTERVIEWS = table(
    [
        {"Candidate": f"C{n}", "Answer transcript": essay(n)}
        | {
            f"Interviewer {who}: {what}": 1 + (n + at) % 4
            for who in "AB"
            for at, what in enumerate(("Communication", "Problem solving"))
        }
        for n in range(9)
    ]
)

WHO, NAMED = ("PO", "LQ"), ("Moor", "Lind")
BY_INITIALS = ("raters=PO,LQ", "criteria=burden,lawful", "submission=passage")
HUNDREDS = (
    ("Ott", "Adequacy", 1),
    ("Ott", "Fluency", 2),
    ("Serra", "Adequacy", 3),
    ("Serra", "Fluency", 4),
)
#: Raters by criteria whose scales differ: words and yes or no, marks of a hundred, two headings.
LEASES = table(
    [
        {"Unnamed: 0": n, "lease": f"L{n % 3}", "passage": essay(n)}
        | {f"burden_{who}": ("Low", "High", "Medium")[(n + at) % 3] for at, who in enumerate(WHO)}
        | {f"lawful_{who}": ("yes", "no")[(n + at) % 2] for at, who in enumerate(WHO)}
        | {"n_words": 16 + n}
        for n in range(9)
    ]
)
OUT_OF_100 = table(
    [
        {"Nr": n + 1, "Quelle": short(n), "Übersetzung": essay(n), "Wörter": 5 + n % 3}
        | {f"{what}_{who}": 30 + (5 * n + 3 * at) % 70 for who, what, at in HUNDREDS}
        | {"Mean": f"{30 + n}.25"}
        for n in range(14)
    ]
)
PANEL = table(
    [
        {"Bid": f"F{n}", "Short name": f"BID{n}", "Abstract": essay(n), "Budget": 20000 + 1500 * n}
        | {
            f"{who} / {what}": 1 + n * (n + at * k) % 5
            for at, who in enumerate(("Dr. Ito", "Prof. Bell"), 1)
            for k, what in enumerate(("Excellence", "Impact", "Team"), 1)
        }
        for n in range(8)
    ]
)
SURNAMES = table(
    [
        {"id": n, "letter": essay(n)}
        | {f"{who} / {what}": 1 + (n + len(what)) % 4 for who in NAMED for what in ("Wit", "Reach")}
        for n in range(6)
    ]
)

#: What programs and people write for no answer, beside numbers; 99 beside marks below zero, too.
NONE_GIVEN = ("\\N", "n.c.", "NULL", "#N/A", "n/d", "s/o", "k.A.", "\u2013")
ABSENCES = table(
    [
        {"item": f"p{n // 2}", "rater": "uv"[n % 2], "depth": NONE_GIVEN[n // 2]}
        | {"reach": 1 + n % 4}
        if n in (1, 2, 5, 6, 9, 10, 13, 14)
        else {"item": f"p{n // 2}", "rater": "uv"[n % 2], "depth": 1 + n % 5, "reach": 1 + n % 4}
        for n in range(16)
    ]
)
SIGNED = table(
    [
        {
            "subject": f"s{n}",
            "letter": essay(n),
            "warm_k1": 1 + n % 7,
            "warm_k2": (99, 2)[n % 7 > 1],
        }
        | {"mood_k1": n % 7 - 3, "mood_k2": 99 if n == 4 else (n + 2) % 7 - 3}
        for n in range(10)
    ]
)

VERDICTS = ("Mostly true", "False", "Half true", "True", "Mostly false", "Pants on fire")
#: Each claim was checked once, by the person in the column.
CLAIMS = {
    of: table(
        [
            {"Claim ID": f"K{n}", "Claim": short(n), "Verdict": VERDICTS[n * n % 6]}
            | {of: ("Ada", "Ben", "Cy")[n % 3], "Hours": f"{1 + n / 4}"}
            for n in range(9)
        ]
    )
    for of in ("Checked by", "Evaluado por", "Bewertet von", "Coded by")
}
#: Headings that name raters, in pairs.
RATER_PAIRS = (
    ("Erstkorrektur", "Zweitkorrektur"),
    ("First marker", "Second marker"),
    ("Corrector 1", "Corrector 2"),
    ("1st reader", "2nd reader"),
)
MARKS_IN_WORDS = ("gut", "sehr gut", "mangelhaft", "befriedigend")

#: Columns that say when a thing was tasted, beside what was tasted in it.
TASTED = {
    of: table(
        [
            {
                "Panelist": f"T{who}",
                of: 1 + (n + who) % 4 // 2,
                "Sample": 200 + 31 * n,
                "Order": 1 + (n + who) % 4,
            }
            | {"Salt": (7 * n + 13 * who) % 15, "Aroma": (11 * n * who + n) % 13}
            for who in range(1, 6)
            for n in range(4)
        ]
    )
    for of in ("Session", "Round", "Wave", "Batch", "Day", "Sitzung")
}

#: Three people rated one thing; how long a task took is no item, however different the times are.
HURDLES = table(
    [
        {
            "Stamp": f"2026/03/0{n + 1} 9:00:00",
            "Participant": f"U{n}",
            "Time on task (s)": 90 + 7 * n,
        }
        | {"What was hard?": essay(n)}
        | {f"Hurdle - {who}": (n * k) % 5 for k, who in enumerate(("Ina", "Jo", "Kai"), 1)}
        | {"Hurdle mean": f"{((n % 5) + (2 * n) % 5 + (3 * n) % 5) / 3:.2f}"}
        for n in range(9)
    ]
)

FRESH_TABLES: tuple[Stranger, ...] = (
    Stranger(
        "hurdles.csv",
        HURDLES,
        "refused",
        (27, 3, 9, 1),
        maps=(
            "item=Participant submission=What was hard? raters=Ina raters=Jo raters=Kai"
            " criteria=Hurdle",
        ),
    ),
    *(
        Stranger(f"tasted by {of}.csv", data, "criteria", (40, 5, 4, 2))
        for of, data in TASTED.items()
    ),
    *(
        Stranger(
            f"claims {of}.csv",
            data,
            "refused",
            (9, 3, 9, 1),
            maps=(f"item=Claim ID submission=Claim rater={of} label=Verdict",),
        )
        for of, data in CLAIMS.items()
    ),
    *(
        Stranger(
            f"{pair[0]}.csv",
            table(
                [
                    {"Nr": n, "Text": essay(n)}
                    | {
                        # One was not marked again, and a remark stands beside.
                        who: "" if n == 5 and at else MARKS_IN_WORDS[(n + at) % 4]
                        for at, who in enumerate(pair)
                    }
                    | {"Remark": "see below" if n == 2 else ""}
                    for n in range(8)
                ]
            ),
            "wide",
            (15, 2, 8, 1),
            essay(0),
        )
        for pair in RATER_PAIRS
    ),
    Stranger("absences.csv", ABSENCES, "criteria", (24, 2, 8, 2)),
    Stranger(
        "signed.csv",
        SIGNED,
        "refused",
        (35, 2, 10, 2),
        maps=("item=subject submission=letter raters=k1 raters=k2 criteria=warm criteria=mood",),
    ),
    Stranger(
        "leases.csv",
        LEASES,
        "refused",
        (36, 2, 9, 2),
        maps=("submission=passage raters=PO raters=LQ criteria=burden criteria=lawful",),
    ),
    # Where a passage begins and ends is no answer.
    Stranger(
        "pages.csv",
        table(
            [
                {"id": n, "essay": essay(n), "start_time": n, "end_time": n + 1}
                | {"start_page": 2 * n, "end_page": 2 * n + 3, "score": 1 + n % 5}
                for n in range(9)
            ]
        ),
        "dataset",
        9,
        essay(0),
        {"score": "1"},
    ),
    Stranger("leases by one map.csv", LEASES, "wide", (36, 2, 9, 2), essay(0), words=BY_INITIALS),
    Stranger(
        "out of a hundred.csv",
        OUT_OF_100,
        "refused",
        (56, 2, 14, 2),
        maps=(
            "item=Nr submission=Übersetzung prompt=Quelle raters=Ott raters=Serra"
            " criteria=Adequacy criteria=Fluency",
        ),
    ),
    Stranger("panel.csv", PANEL, "wide", (48, 2, 8, 3), essay(0)),
    # Nothing says which of the two names rated: both readings are proposed.
    Stranger(
        "surnames.csv",
        SURNAMES,
        "refused",
        (24, 2, 6, 2),
        maps=(
            "item=id submission=letter raters=Moor raters=Lind criteria=Wit criteria=Reach",
            "item=id submission=letter raters=Wit raters=Reach criteria=Moor criteria=Lind",
        ),
    ),
    Stranger(
        "full-width brackets.csv",
        table(
            [
                {"番号": n, "回答": essay(n)}
                | {
                    f"{what}（{who}）": 1 + n % 4
                    for who in ("森", "林")
                    for what in ("正確", "自然")
                }
                for n in range(6)
            ]
        ),
        "wide",
        (24, 2, 6, 2),
        essay(0),
        words=("raters=森,林", "criteria=正確,自然", "item=番号", "submission=回答"),
    ),
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
    Stranger("repeated.csv", REPEATED, "refused", (12, 2, 6, 1), maps=REPEATED_MAPS),
    Stranger(
        "foot.csv",
        "Entry,Essay,Judge A,Judge B,Average\n"
        + "".join(f'E{n},"{essay(n)}",{n},{n % 3},{(n + n % 3) / 2}\n' for n in range(6))
        + "Mean,,2.5,1,1.75\nJudges scored alone.\n",
        "wide",
        (12, 2, 6, 1),
        essay(0),
    ),
    Stranger("side by side.csv", SYSTEMS, "dataset", 10, essay(0), {"score": "40"}),
    Stranger(
        "completions.json",
        json.dumps({"examples": COMPLETIONS}),
        "dataset",
        8,
        essay(0),
        {"tone": "1", "depth": "2"},
    ),
    Stranger(
        "completions.jsonl", lines(COMPLETIONS), "dataset", 8, essay(0), {"tone": "1", "depth": "2"}
    ),
    Stranger(
        "tickets.csv",
        TICKETS,
        "refused",
        (24, 2, 8, 3),
        maps=(
            "item=Ticket ID submission=Transcript rater=QA Reviewer criteria=Greeting (Y/N) "
            "criteria=Resolved (Y/N) criteria=Empathy (1-5)",
        ),
    ),
    Stranger("lines.csv", LINES, "criteria", (48, 4, 4, 3)),
    Stranger(
        "categories.csv",
        table(
            [
                {"id": n // 2, "rater": f"m{n % 2}", "label": ("spam", "none", "hate")[n % 3]}
                for n in range(8)
            ]
        ),
        "long",
        (8, 2, 4, 1),
    ),
    Stranger("stems.csv", STEMS, "wide", (12, 2, 6, 1), essay(0)),
    Stranger(
        "ranges.csv", RANGES, "dataset", 8, essay(0), {"Inhalt (0-15)": "3", "Aufbau (0-15)": "2"}
    ),
    Stranger("findings.csv", FINDINGS, "wide", (32, 2, 8, 2), essay(0)),
    Stranger("out of twenty.csv", COPIES, "wide", (16, 2, 8, 1), essay(0)),
    Stranger("turns.csv", TURNS, "criteria", (32, 2, 8, 2), essay(0)),
    Stranger(
        "judge in cells.jsonl",
        JUDGED,
        "refused",
        (12, 2, 6, 1),
        maps=(
            "item=sample_id submission=output.text rater=judge.name label=judge.score"
            " reason=judge.explanation",
        ),
    ),
    Stranger(
        "by initials.csv",
        GRID,
        "refused",
        (48, 3, 8, 2),
        maps=(
            "item=SegID submission=MT prompt=Source raters=anna raters=boris raters=carla"
            " criteria=adequacy criteria=fluency",
        ),
    ),
    Stranger("total of ten.csv", TOTALS, "criteria", (24, 3, 4, 2)),
    Stranger("runs.csv", RUNS, "long", (12, 3, 4, 1), essay(0)),
    Stranger("dimensions.csv", DIMENSIONS, "long", (16, 2, 4, 2), essay(0)),
    Stranger(
        "percent.csv",
        "Kandidat;Erstprüfer;Zweitprüfer\n"
        + "".join(f"K{n};{41 + 7 * n} %;{95 - 6 * n} %\n" for n in range(8)),
        "wide",
        (16, 2, 8, 1),
    ),
    Stranger(
        "checks.csv",
        table(
            [
                {"response_id": n, "response": essay(n)}
                | {
                    "cites_source": ("TRUE", "FALSE")[n % 2],
                    "stays_calm": ("TRUE", "FALSE")[n // 3],
                }
                for n in range(6)
            ]
        ),
        "refused",
        maps=(
            "item=response_id submission=response raters=cites_source raters=stays_calm",
            "submission=response labels=cites_source labels=stays_calm",
        ),
    ),
    Stranger(
        "md1 and md2.csv",
        table(
            [
                {"encounter": f"E{n}", "summary": essay(n)}
                | {"md1_accurate": n % 2, "md2_accurate": n // 2 % 2}
                | {"md1_complete": n // 3 % 2, "md2_complete": (n + 1) % 2}
                for n in range(8)
            ]
        ),
        "wide",
        (32, 2, 8, 2),
        essay(0),
    ),
    # Lengths are no scores, and passages no answers.
    Stranger(
        "lengths.csv",
        table(
            [
                {"id": n, "heading": short(n), "heading_length": n, "essay": essay(n)}
                | {"essay_length": 80 + n}
                for n in range(6)
            ]
        ),
        "dataset",
        6,
        essay(0),
    ),
    Stranger(
        "passages.jsonl",
        lines(
            [
                {"id": n, "question": short(n), "llm_answer": essay(n)}
                | {"passages": [{"text": source(n)}, {"text": source(n + 9)}]}
                for n in range(4)
            ]
        ),
        "dataset",
        4,
        essay(0),
    ),
    Stranger("interviews.csv", INTERVIEWS, "wide", (36, 2, 9, 2), essay(0)),
    Stranger(
        "texts twice.csv",
        table([{"essay": essay(n // 2), "holistic score": 1 + n % 5} for n in range(12)]),
        "refused",
        (12, 2, 6, 1),
        maps=("item=essay label=holistic score", "submission=essay labels=holistic score"),
    ),
    Stranger(
        "expectations.csv",
        table(
            [
                {"Case Number": f"c{n}", "Chat Log": essay(n), "Evaluator": ("Jo", "Al")[n % 2]}
                | {"Tone": WORDS[n % 3], "Accuracy": WORDS[n // 2 % 3]}
                for n in range(8)
            ]
        ),
        "refused",
        (16, 2, 8, 2),
        maps=(
            "item=Case Number submission=Chat Log rater=Evaluator criteria=Tone criteria=Accuracy",
        ),
    ),
)
