"""Tables of a twentieth stranger's kinds: numbered pairs of rater and score, grids of forms.

The shapes were met in the wild; the texts are made up here.
"""

from __future__ import annotations

from tests.formats.strangers import Stranger, essay, source, table

CROWD = ("w3", "w1", "w9", "w4", "w6", "w7", "w2")


def _numbered_pairs(rater: str, score: str, *, derived: str = "", first: int = 1) -> str:
    """Six requests that five of seven people scored; `#` in a heading is the number of a pair."""
    rows = []
    for n in range(6):
        of_row: dict[str, object] = {"Id": 40 + n, "Request": essay(n)}
        pairs = {k: (CROWD[(n + k) % 7], 1 + n * k % 9) for k in range(first, first + 5)}
        of_row |= {score.replace("#", str(k)): mark for k, (_, mark) in pairs.items()}
        of_row |= {rater.replace("#", str(k)): who for k, (who, _) in pairs.items()}
        rows.append(of_row | ({derived: f"{n * 0.37 - 1:.4f}"} if derived else {}))
    return table(rows)


PEOPLE = ("Ада", "Ben O.", "Cem", "Dee", "Eva", "Finn", "Gia")
FERRIES = ("The old ferry sank. Nobody was hurt", "A new ferry came! It is red", "It is late")


WORK = ("Gave time and care to what we did", "Came to all of our meetings", "Said what was wrong")


def _form_grid(
    text: str, *asked: str, of: tuple[str, ...] = FERRIES, dates: str = "{}.05.2024 14:00:11"
) -> str:
    """A form's answers: when, who, how old, and marks of each ferry's text by what was asked."""
    rows = []
    for n, who in enumerate(PEOPLE):
        person = {"Отметка": dates.format(n + 1), "Имя": who, "Возраст": 20 + n * n}
        texts = [text.format(k, words) for k, words in enumerate(of, start=1)]
        heads = [f"{whole} [{what}]" for whole in texts for what in asked]
        rows.append(person | {head: 1 + n * (1 + k % 4) % 5 for k, head in enumerate(heads)})
    return table(rows)


def _product_survey() -> str:
    """Qualtrics: ids, wording and ids of import; a frame of lines is around each text."""
    asks = "Read about this product:\n\n{} every day, whatever the weather.\n\nDo you agree?"
    told = {
        f"Q{n}_{k}": f"{asks.format(ferry)} - It is {what}"
        for n, ferry in enumerate(FERRIES, start=1)
        for k, what in enumerate(("easy to understand", "convincing"), start=1)
    }
    heads = {"RecordedDate": "Recorded Date", "ResponseId": "Response ID"} | told
    ids = {head: f'{{"importId": "{head}"}}' for head in heads}
    answers = ("Disagree", "Neither agree nor disagree", "Agree")
    rows = [
        {"RecordedDate": f"2024-05-0{n + 1} 10:00:01", "ResponseId": f"R_{n * 7919:x}k"}
        | {head: answers[n * k % 3] for k, head in enumerate(told, start=1)}
        for n in range(7)
    ]
    return table([heads, ids, *rows])


#: A mark a row under headings that say nothing; not everybody read each text.
PLAIN_WORDS = [
    {"tresc": essay(n), "kto": who, "co": what, "ile": f"{1 + (n + k * m) % 4},5"}
    for n in range(8)
    for k, who in enumerate(("Nowak", "Kania", "Lis"))
    for m, what in enumerate(("Styl", "Smak"), start=1)
    if n % 3 != k
]
#: What shops sold of each thing by month: no marks.
SOLD = [
    {"thing": f"T{n}", "about it": essay(n), "shop": shop, "month": month, "sold": 7 * n * k + m}
    for n in range(5)
    for k, shop in enumerate(("North", "South"), start=1)
    for m, month in enumerate(("May", "June", "July"))
]
#: A shared task's judgements, without a header; each rater met one damaged translation.
DAMAGED = [
    {"r": f"r{k}x", "s": system, "n": n, "kind": kind, "to": "deu", "score": (n * 31 + k * 17) % 97}
    | {"source": source(n), "text": f"{kind} {system} {n}: der Rat der Stadt tagte am Montag."}
    for n in range(7)
    for m, system in enumerate(("Lark", "Wren", "Kite"))
    for k in range(2 + n % 2)
    for kind in ("TGT", "BAD")
    if kind == "TGT" or m == k == n % 3
]
#: A radio button is two columns; one answer was rejected.
BUTTONS = [
    {"HITId": f"H{n // 2}", "WorkerId": f"W{n * 5 % 7}", "Input.text": essay(n // 2)}
    | {"AssignmentStatus": ("Approved", "Rejected")[n == 4], "Answer.tone": n * 2 % 5 + 1}
    | {f"Answer.plain.{w}": ("false", "true")[(n % 3 > 0) == (w == "yes")] for w in ("no", "yes")}
    for n in range(24)
]


def _texts_as_columns(
    *before: str, rows: tuple[str, ...], words: str = "Text {}: it is raining"
) -> str:
    """Four texts as columns: a row with them, one with who wrote them, then marks by row."""
    heads = [f"Fassung {n}" for n in range(1, 5)]
    marks = [[f"{n * k % 5 + 1},5" for n in range(4)] for k in range(1, len(rows) + 1)]
    blank = ";" * (len(before) - 1)
    lines = [
        [*before, *heads],
        [blank + "Wortlaut", *(words.format(n) + " all day" for n in range(4))],
        [blank + "Verfasser", "ich", "du", "du", "ich"],
        *([row, *of] for row, of in zip(rows, marks, strict=True)),
        [blank + "Mittelwert", "3", "2", "1", "3"],
    ]
    return "".join(";".join(line) + "\n" for line in lines)


FORM_TABLES = (
    Stranger(
        "turned.csv",
        _texts_as_columns(
            "Bewerter", "Kriterium", rows=("Ute;Stil", "Ute;Kürze", "Jan;Stil", "Jan;Kürze")
        ),
        "at once",
        (16, 2, 4, 2),
        maps=("item=item submission=text rater=Bewerter criterion=Kriterium label=score",),
    ),
    # The wording of questions below their codes, and people's answers.
    Stranger(
        "wording.csv",
        _texts_as_columns("Zeile", rows=("Ute", "Jan", "Eva"), words="Is text {} raining?")
        .replace(" all day", "")
        .replace("Fassung ", "Q"),
        "refused",
        words_in_refusal=("'Zeile', 'Q1', 'Q2'",),
    ),
    Stranger(
        "turned names.csv",
        _texts_as_columns("Zeile", rows=("Prof. Amin", "Dr. Bell", "Dr. Cruz")),
        "at once",
        (12, 3, 4, 1),
        maps=("item=item submission=text raters=Prof. Amin raters=Dr. Bell raters=Dr. Cruz",),
    ),
    Stranger(
        "plain words.csv",
        table(PLAIN_WORDS),
        "refused",
        (32, 3, 8, 2),
        maps=("item=tresc rater=kto criterion=co label=ile",),
    ),
    Stranger(
        "damaged.csv",
        table(DAMAGED).partition("\n")[2],
        "refused",
        (57, 3, 27, 1),
        maps=(
            "item=column 2 item=column 3 item=column 4 submission=column 8 prompt=column 7"
            " rater=column 1 label=column 6 system=column 2",
        ),
        words_in_refusal=("'column 4' tells 'TGT' and 'BAD' apart",),
    ),
    Stranger(
        "buttons.csv",
        table(BUTTONS),
        "at once",
        (48, 7, 12, 2),
        maps=(
            "item=HITId submission=Input.text rater=WorkerId criteria=Answer.tone"
            " criteria=Answer.plain",
        ),
    ),
    Stranger("sold.csv", table(SOLD), "refused", words_in_refusal=("is neither",)),
    Stranger(
        "texts in headings.csv",
        _form_grid("Текст {}. {}.", "Ясность", "Интерес"),
        "at once",
        (42, 7, 3, 2),
        maps=(
            "rater=Имя items=Текст 1 items=Текст 2 items=Текст 3 criteria=Ясность criteria=Интерес",
        ),
    ),
    # Statements about people look like texts about which names are asked.
    Stranger(
        "statements.csv",
        _form_grid("Statement {}. {} in the last half of the year.", "Ana", "Cy", of=WORK),
        "refused",
        words_in_refusal=("a row is a person ('Имя')",),
    ),
    Stranger(
        "times.csv",
        _form_grid("{} {}?", "a", "b", of=WORK, dates="2024. 5. {} 오후 2:00:11"),
        "refused",
        words_in_refusal=("a row is a person ('Имя')",),
    ),
    Stranger(
        "products.csv",
        _product_survey(),
        "at once",
        (42, 7, 3, 2),
        maps=(
            "rater=ResponseId items=Q1 items=Q2 items=Q3 criteria=It is easy to understand"
            " criteria=It is convincing",
        ),
    ),
    Stranger(
        "crowd of five.csv",
        _numbered_pairs("TurkId#", "Score#", derived="Normalized Score"),
        "at once",
        (30, 7, 6, 1),
        maps=("item=Id submission=Request rater=TurkId label=Score",),
    ),
    Stranger(
        "crowd from 0.csv",
        _numbered_pairs("rater#_id", "rater#_style", first=0),
        "at once",
        (30, 7, 6, 1),
        maps=("item=Id submission=Request rater=Rater id criteria=style",),
    ),
)
