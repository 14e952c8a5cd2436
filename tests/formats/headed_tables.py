"""Tables of a twelfth stranger's kinds: names of raters above their columns, codes of two people.

The shapes were met in the wild; the texts are made up here.
"""

from __future__ import annotations

from tests.formats.strangers import Stranger, essay, short, source, table


def _marked(n: int) -> str:
    """A pupil's marks by two teachers on three criteria, each with a sum, and what follows."""
    marks = [[(n * (k + 2) + t * (n % 3)) % 9 + 1 for k in range(3)] for t in (0, 1)]
    both = ",".join(f"{','.join(map(str, own))},{sum(own)}" for own in marks)
    return f"{n + 1},Pupil {'ABCDEFGHIJ'[n]},{both},{sum(map(sum, marks)) / 2},\n"


#: The last rater's name stands above the mean and the remarks, too, which are nobody's marks.
TEACHERS = (
    "Essay of 7b,,,,,,,,,,,\n"
    ",,Moser,,,,Ilic,,,,,\n"
    "No,Name,Content,Structure,Style,Sum,Content,Structure,Style,Sum,Mean,Remark\n"
    + "".join(map(_marked, range(10)))
)

WORDS = ("calm", "mixed", "tense")


def _read(n: int) -> str:
    """What three readers see in a picture, and how sure each of them is."""
    seen = [f"{WORDS[(n * (r + 1) + r * (n % 2)) % 3]},{(n + r) % 4 + 1}" for r in range(3)]
    return f"P-{n:02},{40 + n},{','.join(seen)},{WORDS[n % 3]},\n"


READERS = (
    ",,R1 (Dr. Ode),,R2 (Ms Lim),,R3 (trainee),,,\n"
    "Picture,Width,Mood,Confidence,Mood,Confidence,Mood,Confidence,Truth,Note\n"
    + "".join(map(_read, range(12)))
)

CODES = ("HOPE", "DOUBT", "DUTY")
CODED = [
    {"Talk": f"T{n // 6}", "Line": 10 + 7 * (n % 6), "Passage": essay(n % 21)}
    | {"Code Ola": CODES[n % 3], "Code Per": CODES[n % 3 if n % 4 else 0], "Memo": ""}
    for n in range(24)
]

#: Two coders by name: their columns are nothing but theirs, and the passages are the texts.
FRAGMENTS = [
    {"Charla": f"C{n // 6}", "Línea": 10 + 7 * (n % 6), "Fragmento": essay(n % 7)}
    | {"Codificadora Inés": CODES[n % 3], "Codificador Luis": CODES[n % 3 if n % 4 else 0]}
    for n in range(24)
]


def generated(heading: str) -> Stranger:
    """Two workers' marks of each text, beside the model that wrote it."""
    rows = [
        {"story_id": n // 2, "story": essay(n // 2), heading: NAMES[n // 2 % 3]}
        | {"WorkerId": f"W{n % 2}", "Coherence": 1 + n % 5, "Fluency": 1 + n * 2 % 5}
        for n in range(24)
    ]
    told = f"item=story_id submission=story system={heading} rater=WorkerId criteria=Coherence"
    told = f"{told} criteria=Fluency"
    return Stranger(f"{heading}.csv", table(rows), "at once", (48, 2, 12, 2), maps=(told,))


def _tasks(n: int) -> str:
    """A pupil's points of four tasks, their sum and the mark for it."""
    points = [(n * (k + 2) + k) % 5 + (n + k) % 2 * 0.5 for k in range(4)]
    return f"{n + 1},Child {'ABCDEFGHIJ'[n]},{','.join(map(str, points))},{sum(points)},{n % 5}\n"


#: The points possible are those of tasks, whatever these are called: no rater has any.
TASKS = (
    "Fractions in 6c,,,,,,,\n"
    "Datum: 3. Mai,,,Lehrerin: Fr. Ilic,,,,\n"
    "Nr.,Name,A1,A2,A3,A4,Summe,Note\n"
    "max. Punkte,,6,8,5,9,28,\n" + "".join(map(_tasks, range(10)))
)

QUALITY, NAMES = ("coherence", "relevance"), ("lead", "tuned", "plain")

HEADED_TABLES: tuple[Stranger, ...] = (
    Stranger(
        "fragments.csv",
        table(FRAGMENTS),
        "at once",
        (48, 2, 24, 1),
        maps=(
            "item=Charla item=Línea submission=Fragmento raters=Codificadora Inés"
            " raters=Codificador Luis",
        ),
    ),
    Stranger(
        "tasks.csv",
        TASKS,
        "at once",
        (40, 1, 10, 4),
        maps=("item=Name criteria=A1 criteria=A2 criteria=A3 criteria=A4",),
    ),
    *map(generated, ("generator", "author model", "source_model", "llm")),
    # A name is the item rather than a number in the list.
    Stranger(
        "teachers.csv",
        TEACHERS,
        "refused",
        (60, 2, 10, 3),
        maps=(
            "item=Name raters=Moser raters=Ilic criteria=Content criteria=Structure criteria=Style",
        ),
    ),
    # A word and a number from each reader; the confidence of each is an answer.
    Stranger("readers.csv", READERS, "wide", (72, 3, 12, 2)),
    # Two people coded each passage, which a talk and a line name together.
    Stranger(
        "coded.csv",
        table(CODED),
        "refused",
        (48, 2, 24, 1),
        maps=("item=Talk item=Line submission=Passage raters=Code Ola raters=Code Per",),
    ),
    # Three annotators by name, a text and the article that it sums up: nothing is left to ask.
    Stranger(
        "summaries.csv",
        table(
            [
                {"item_id": f"n{n // 2}-{n % 2}", "system": ("lead", "tuned")[n % 2]}
                | {"article": source(n // 2), "summary": short(n)}
                | {
                    f"{c}_ann{a}": 1 + (n * a + k) % 5
                    for k, c in enumerate(QUALITY)
                    for a in (1, 2, 3)
                }
                for n in range(12)
            ]
        ),
        "at once",
        (72, 3, 12, 2),
        maps=(
            "item=item_id submission=summary prompt=article raters=ann1 raters=ann2 raters=ann3"
            " criteria=coherence criteria=relevance",
        ),
    ),
    # The second part could be systems: it is asked.
    Stranger(
        "systems.csv",
        table(
            [
                {"item_id": f"n{n}", "question": essay(n)}
                | {
                    f"{c}_{s}": 1 + (n * k + len(s)) % 5
                    for k, c in enumerate(QUALITY)
                    for s in NAMES
                }
                for n in range(12)
            ]
        ),
        "refused",
        words_in_refusal=("could be raters",),
    ),
    # What is called submission holds numbers: papers, each with three reviews.
    Stranger(
        "papers.csv",
        table(
            [
                {"#": 3 * n + k, "submission": n, "title": f"On bridge {n}", "reviewer": who}
                | {"soundness": 1 + (n + k) % 5, "novelty": 1 + (n * k) % 4}
                | {"review": f"The paper {who} read is clear. Part {n} is thin."}
                for n in range(1, 13)
                for k, who in enumerate(NAMES)
            ]
        ),
        "criteria",
        (72, 3, 12, 2),
    ),
    # Each nurse rates each wound twice.
    Stranger(
        "wounds.csv",
        table(
            [
                {"wound_id": f"w{n}", "nurse": who, "session": of}
                | {"size": 1 + (n + of + k) % 5, "depth": 1 + (n * k + of) % 4}
                for n in range(10)
                for k, who in enumerate(NAMES)
                for of in (1, 2)
            ]
        ),
        "criteria",
        (120, 6, 10, 2),
    ),
)
