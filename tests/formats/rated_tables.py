"""Tables that tell by their values who rated what, in several languages, and tables that rank.

The shapes were met in the wild; the words in them are made up here. Of a refused table the first
map is the reading that a person has, and the figure what comes of it.
"""

from __future__ import annotations

import json

from tests.formats.strangers import Stranger, essay, lines, short, table

AGREED = ("totalmente de acuerdo", "de acuerdo", "ni sí ni no", "en desacuerdo")
#: Lists of answers beside lists of people, as data sets on hubs have them.
LISTED = [
    {"key": f"k{n}", "passage": essay(n), "annotators": ["una", "vic"], "votes": [n % 2, n % 3 % 2]}
    for n in range(5)
]
WHO = ("KM", "TH", "RO")
CODERS = ((0, "al"), (1, "bob"))
TRIPLES = [(item, who, 3 * item + who) for item in range(4) for who in range(3)]
DUELS = [
    {"prompt": f"Lamp {n}?", "chosen": essay(n), "rejected": short(n), "annotator_id": f"w{who}"}
    if (n + who) % 3
    else {"prompt": f"Lamp {n}?", "chosen": short(n), "rejected": essay(n)}
    | {"annotator_id": f"w{who}"}
    for n in range(4)
    for who in range(2)
]

RATED_TABLES: tuple[Stranger, ...] = (
    # A survey: an id in each row, initials, a text's number, three parts of a question, remarks.
    Stranger(
        "encuesta.csv",
        table(
            [
                {
                    "ID de respuesta": 100 + at,
                    "Última página": 2,
                    "Iniciales del corrector": WHO[who],
                }
                | {"Redacción (código)": f"R-{item}"}
                | {
                    f"¿Qué le parece? [{part}]": AGREED[(item + who * n) % 4]
                    for n, part in enumerate(("Claridad", "Orden", "Léxico"))
                }
                | {"Comentarios": "Falta un final que cierre." if at % 4 == 1 else ""}
                for item, who, at in TRIPLES
            ]
        ),
        "at once",
        (36, 3, 4, 3),
        maps=(
            "item=Redacción (código) rater=Iniciales del corrector"
            " criteria=¿Qué le parece? [Claridad] criteria=¿Qué le parece? [Orden]"
            " criteria=¿Qué le parece? [Léxico] reason=Comentarios",
        ),
        words_in_refusal=("no column holds the texts that were judged",),
    ),
    # Counts of rows and what is the same for a rater are no answers.
    Stranger(
        "visits.csv",
        table(
            [
                {"case_no": f"{item:04d}", "instance": 1 + who, "clinician_initials": WHO[who]}
                | {
                    "years_in_job": 3 + who,
                    "stage": 1 + (item + who) % 4,
                    "side": "ABC"[(at + item) % 3],
                }
                | {"form_complete": 2}
                for item, who, at in TRIPLES
            ]
        ),
        "at once",
        (24, 3, 4, 2),
        maps=("item=case_no rater=clinician_initials criteria=stage criteria=side",),
    ),
    # An item of two columns, without texts; the rater's device and age are none of it.
    Stranger(
        "voices.csv",
        table(
            [
                {"hearer": f"H{who}", "age": 20 + who, "device": f"Box no {who}"}
                | {"voice": voice, "sentence_id": f"s{n}", "pleasant": 1 + (n + who) % 5}
                for who in range(3)
                for voice in ("old", "new")
                for n in range(2)
            ]
        ),
        "refused",
        (12, 3, 4, 1),
        maps=("item=sentence_id item=voice system=voice rater=hearer label=pleasant",),
    ),
    Stranger(
        "turns.csv",
        table(
            [
                {"chat_id": f"c{turn // 3}", "turn": 1 + turn % 3, "utterance": short(turn)}
                | {"annotator": f"p{who}", "apt": 1 + (turn + who) % 5, "kind": 1 + turn % 4}
                for turn in range(6)
                for who in range(2)
            ]
        ),
        "at once",
        (24, 2, 6, 2),
        maps=(
            "item=chat_id item=turn submission=utterance rater=annotator criteria=apt"
            " criteria=kind",
        ),
    ),
    # Reviews: the title is what was judged, the body what the reviewer says.
    Stranger(
        "pulls.jsonl",
        lines(
            [
                {"id": at, "pull": 50 + item, "title": f"{short(item)} Again.", "by": "abel"}
                | {"reviewer": WHO[who].lower(), "state": ("OK", "CHANGE", "ASK")[(at + item) % 3]}
                | {"body": f"I would write line {at} another way."}
                for item, who, at in TRIPLES
            ]
        ),
        "at once",
        (12, 3, 4, 1),
        maps=("item=pull submission=title rater=reviewer label=state reason=body",),
    ),
    Stranger(
        "reviews.csv",
        table(
            [
                {
                    "paper": f"P{item}",
                    "reviewer": f"R{who}",
                    "rating": f"{2 + (at + item) % 3}: so so",
                }
                | {"soundness": f"{1 + (item + who) % 3} fair", "novelty": f"{1 + at % 2} fair"}
                for item, who, at in TRIPLES
            ]
        ),
        "at once",
        (36, 3, 4, 3),
        maps=("item=paper rater=reviewer criteria=rating criteria=soundness criteria=novelty",),
    ),
    # Letters of assistants, one of them with a gap.
    Stranger(
        "letters.csv",
        table(
            [
                {"student_no": f"{n:05d}", "essay": essay(n), "late": ("yes", "no")[n % 2]}
                | {"AT1 mark": "ABBCA"[n], "AT2 mark": "BBCD"[n] if n < 4 else ""}
                for n in range(5)
            ]
        ),
        "refused",
        (9, 2, 5, 1),
        maps=("item=student_no submission=essay raters=AT1 mark raters=AT2 mark",),
    ),
    # The text is no label, however its column is headed.
    Stranger(
        "codes.csv",
        table(
            [
                {"case": f"K{item}", "answer": essay(item), "coder": WHO[who]}
                | {"codes": ("pay; hours", "hours", "pay")[(item + who) % 3]}
                for item, who, _ in TRIPLES
            ]
        ),
        "at once",
        (12, 3, 4, 1),
        maps=("item=case submission=answer rater=coder label=codes",),
    ),
    # Rows at the head and the foot that are no items.
    Stranger(
        "gradebook.csv",
        table(
            [
                {"Student": "  Points Possible", "ID": "", "Lab 1 (731)": 10, "Exam (734)": 100}
                | {"Final Score": "(read only)"},
                *(
                    {"Student": f"Ann {n}", "ID": 900 + n, "Lab 1 (731)": 5 + n}
                    | {"Exam (734)": 60 + 7 * n, "Final Score": 61.5 + 6.9 * n}
                    for n in range(5)
                ),
            ]
        ),
        "at once",
        (10, 1, 5, 2),
        maps=("item=ID criteria=Lab 1 (731) criteria=Exam (734)",),
    ),
    Stranger(
        "marking.xlsx",
        table(
            [
                {"Candidate": f"00{n}", "First Marker": 50 + 3 * n, "Second Marker": 54 + 2 * n}
                | {"Agreed": 52 + 2.5 * n}
                for n in range(6)
            ]
            + [{"Candidate": "Mean", "First Marker": 57.5, "Second Marker": 59, "Agreed": 58.25}]
        ),
        "wide",
        (12, 2, 6, 1),
    ),
    Stranger(
        "giuria.csv",
        table(
            [
                {"Opera": f"n. {n}", "Titolo": f"Il ponte {n}", "Sig. Rossi": 12 + n}
                | {"Sig.ra Bo": 13.5 + n / 2, "Dott. Riva": 11 + n}
                | {"Voto": round((36.5 + 2.5 * n) / 3, 2)}
                for n in range(6)
            ]
        ),
        "at once",
        (18, 3, 6, 1),
        maps=("item=Opera raters=Sig. Rossi raters=Sig.ra Bo raters=Dott. Riva",),
    ),
    # A survey's further rows of headings; people are rows, and what they rated columns.
    Stranger(
        "clips.csv",
        table(
            [
                {"Finished": "Finished", "ResponseId": "Response ID"}
                | {f"Q2_{n}": f"How lively is clip {n}?" for n in (1, 2, 3)},
                {"Finished": '{"ImportId": "finished"}', "ResponseId": '{"ImportId": "_recordId"}'}
                | {f"Q2_{n}": f'{{"ImportId": "QID2_{n}"}}' for n in (1, 2, 3)},
                *(
                    {"Finished": "True", "ResponseId": f"R_{n}aQ{n}"}
                    | {f"Q2_{q}": ("Very", "Fairly", "Not")[(n * q) % 3] for q in (1, 2, 3)}
                    for n in range(5)
                ),
            ]
        ),
        "refused",
        (15, 5, 3, 1),
        maps=("rater=ResponseId items=Q2_1 items=Q2_2 items=Q2_3",),
    ),
    # Marks beside blanks: a blank is a no, if a person says so.
    Stranger(
        "lista.csv",
        table(
            [
                {"Alumna": f"Eva {item}", "Docente": f"Prof. {WHO[who]}"}
                | {"Saluda": "x" if at % 3 else "", "Cita": "x" if at % 2 else ""}
                for item, who, at in TRIPLES
            ]
        ),
        "refused",
        (24, 3, 4, 2),
        maps=("item=Alumna rater=Docente criteria=Saluda criteria=Cita word:x=MET word:=UNMET",),
    ),
    # Nothing but values: codes of people, and what they repeat over.
    Stranger(
        "stücke.csv",
        table(
            [
                {"Stück": f"Stück Nr {item}", "wer": WHO[who], "Güte": 1 + (item * who) % 5}
                | {"Reiz": 1 + (item + who) % 5}
                for item, who, _ in TRIPLES
            ]
        ),
        "refused",
        (24, 3, 4, 2),
        maps=("item=Stück rater=wer criteria=Güte criteria=Reiz",),
    ),
    Stranger(
        "问答.csv",
        table(
            [
                {"编号": f"Q{item}", "问题": f"第{item}次怎么去上海比较快？"}
                | {"回答": f"第{item}题：坐高铁大约需要四个半小时，建议提前两周在网上买好车票。"}
                | {"评分人": ("张伟", "李娜", "王强")[who], "准确": 1 + (item + who) % 5}
                | {"流畅": 1 + (item * who) % 5}
                for item, who, _ in TRIPLES
            ]
        ),
        "at once",
        (24, 3, 4, 2),
        maps=("item=编号 submission=回答 prompt=问题 rater=评分人 criteria=准确 criteria=流畅",),
    ),
    Stranger(
        "votes in cells.jsonl",
        lines(LISTED),
        "at once",
        (10, 2, 5, 1),
        maps=("item=key submission=passage rater=annotators label=votes",),
    ),
    # Without a column of ids, a row is an item.
    Stranger(
        "raters only.csv",
        table([{f"rater{r}": 1 + (n * n + r) % 5 for r in (1, 2, 3)} for n in range(7)]),
        "refused",
        (21, 3, 7, 1),
        maps=("raters=rater1 raters=rater2 raters=rater3",),
    ),
    # Who chose is a rater; the same two answers the other way round are the same pair.
    Stranger("duels.jsonl", lines(DUELS), "pairs", (8, 2, 4, 1)),
    # Three in order are three pairs; of four with a best and a worst, five of six pairs are said.
    Stranger(
        "order.csv",
        table(
            [
                {"task": f"t{n}", "judge": f"j{n % 2}"}
                | dict(zip(("1st", "2nd", "3rd"), ("abc", "bca", "cab")[n % 3], strict=True))
                for n in range(6)
            ]
        ),
        "pairs",
        (18, 2, 18, 1),
    ),
    Stranger(
        "places.csv",
        table(
            [
                {"judge": f"j{n}"}
                | dict(zip(("Oak", "Elm", "Ash"), ("123", "231", "312")[n % 3], strict=True))
                for n in range(6)
            ]
        ),
        "pairs",
        (18, 6, 3, 1),
    ),
    Stranger(
        "extremes.csv",
        table(
            [
                {"trial": n, **dict(zip(("w1", "w2", "w3", "w4"), words, strict=True))}
                | {"most": words[n % 4], "least": words[(n + 1) % 4]}
                for n, words in enumerate(("abcd", "bcda", "acde", "dbea", "ebca"))
            ]
        ),
        "pairs",
        (25, 1, 25, 1),
    ),
    # Names of people beside their grades are no two answers, and they are the raters.
    Stranger(
        "tesi.csv",
        table(
            [
                {
                    "Tesi": f"T{n}",
                    "First examiner": f"Dr. {'AB'[n % 2]}",
                    "First examiner grade": 1 + n % 4,
                }
                | {"Second examiner": f"Dr. {'CD'[n % 2]}", "Second examiner grade": 1 + n % 3}
                for n in range(6)
            ]
        ),
        "refused",
        (12, 4, 6, 1),
        maps=("item=Tesi rater=Examiner label=Examiner grade",),
    ),
    # The least and the most of some columns are none of them.
    Stranger(
        "dives.csv",
        table(
            [
                {"Dive": f"D{n}", **{f"P{j}": 4 + (n * j) % 5 for j in (1, 2, 3, 4)}}
                | {"Least": 4, "Most": 8}
                for n in range(6)
            ]
        ),
        "refused",
        (24, 4, 6, 1),
        maps=("item=Dive raters=P1 raters=P2 raters=P3 raters=P4",),
    ),
    Stranger(
        "answers by name.json",
        json.dumps(
            [{"id": n, "text": essay(n), "by": {"kim": n % 3, "lee": n % 2}} for n in range(5)]
        ),
        "refused",
        (10, 2, 5, 1),
        maps=("item=id submission=text raters=by.kim raters=by.lee",),
    ),
    Stranger(
        "answers in objects.json",
        json.dumps(
            [
                {"id": n, "text": essay(n)}
                | {
                    "seen": [
                        {"coder": who, "mark": 1 + (n + len(who)) % 3} for who in ("al", "bob")
                    ]
                }
                for n in range(5)
            ]
        ),
        "long",
        (10, 2, 5, 1),
        essay(0),
    ),
    # The first and the second marker, each by three criteria; the rows below the mean are no items.
    Stranger(
        "two markers.csv",
        table(
            [
                {"Script": f"S{n}"}
                | {
                    f"{who} marker {c}": 40 + (7 * n + 5 * at + len(c)) % 40
                    for at, who in enumerate(("1st", "2nd"))
                    for c in ("Content", "Argument", "Style")
                }
                for n in range(8)
            ]
        )
        + "Mean,,,55.1,,,\n,Spread,1,2,3,4,5\n,,2,3,1,1,1\n",
        "wide",
        (48, 2, 8, 3),
    ),
    # Which of the two markings a row is, and the sum of the marks, are no criteria.
    Stranger(
        "copies.csv",
        table(
            [
                {"Copie": f"C{n}", "Correction": nth, "Correcteur": who}
                | {"Idées /10": a, "Style /30": b, "Note /40": a + b}
                for n in range(8)
                for nth, who, a, b in (
                    ("1re", "Dubois", 3 * n % 11, 7 * n % 31),
                    ("2e", "Moreau", 5 * n % 11, 11 * n % 31),
                )
            ]
        ),
        "criteria",
        (32, 2, 8, 2),
    ),
    # People by their initials above the criteria.
    Stranger(
        "interviews.csv",
        table(
            [
                {"Candidate": f"K{n}"}
                | {
                    f"{who} / {c}": (n + len(who) + len(c)) % 4
                    for who in ("M. de Wit", "S. Bos")
                    for c in ("Vakkennis", "Motivatie")
                }
                for n in range(8)
            ]
        ),
        "wide",
        (32, 2, 8, 2),
    ),
    # A score of each system is no rater's.
    Stranger(
        "systems.csv",
        table(
            [
                {"segment": n, "source": essay(n)}
                | {f"system_{s}": 50 + (7 * n + 9 * s) % 40 for s in (1, 2, 3)}
                for n in range(7)
            ]
        ),
        "refused",
        words_in_refusal=("scores of a system each", "a row for each answer"),
    ),
    # A person a row, and an item and a question in each heading.
    Stranger(
        "people.csv",
        table(
            [
                {"Participant": f"P{n}", "Age": 20 + n}
                | {
                    f"Song{s}_{q}": 1 + (n * s + len(q)) % 5
                    for s in (1, 2)
                    for q in ("sad", "loud")
                }
                for n in range(5)
            ]
        ),
        "refused",
        (20, 5, 2, 2),
        maps=("rater=Participant items=Song1 items=Song2 criteria=sad criteria=loud",),
    ),
    # Read twice: the number of the reading is no part of the item.
    Stranger(
        "twice.csv",
        table(
            [
                {"lesion": f"L{n}", "reader": f"R{k}", "session": s, "score": 1 + (n + k * s) % 4}
                for n in range(4)
                for k in (1, 2)
                for s in (1, 2)
            ]
        ),
        "at once",
        (16, 4, 4, 1),
        maps=("item=lesion rater=reader label=score replicate=session",),
    ),
    Stranger(
        "calls.csv",
        table(
            [
                {"QA Agent": who, "Ticket": f"#{n}", "Check": asked}
                | {"Result": ("Pass", "Fail")[(n + len(asked) + len(who)) % 2]}
                for n in (81, 82, 83)
                for who in ("Noor", "Pi")
                for asked in ("Greeting", "Tone", "Close")
            ]
        ),
        "refused",
        (18, 2, 3, 3),
        maps=("item=Ticket rater=QA Agent criterion=Check label=Result",),
    ),
    # What stands below the items, down to a line that is mostly empty.
    Stranger(
        "reliability.csv",
        table(
            [{"case": f"{n:02d}", "coder 1": 1 + n % 4, "coder 2": 1 + n % 3} for n in range(8)]
            + [
                {"case": "Mean", "coder 1": 2.5, "coder 2": 1.875},
                {"case": "SD", "coder 1": 1.2, "coder 2": 0.83},
                {"case": "", "coder 1": "alpha", "coder 2": ""},
            ]
        ),
        "wide",
        (16, 2, 8, 1),
    ),
    Stranger(
        "lettere.csv",
        table(
            [
                {
                    "testo": essay(n),
                    "Dott. Bo": ("sì", "no")[n % 2],
                    "Dott. Li": ("sì", "no")[n % 3 % 2],
                }
                for n in range(6)
            ]
        ),
        "refused",
        (12, 2, 6, 1),
        maps=("submission=testo raters=Dott. Bo raters=Dott. Li",),
    ),
    # Numbered questions of a test are no raters; percent are numbers.
    Stranger(
        "quiz.csv",
        table([{"Pupil": f"Pu {n}", "Q1": n % 4, "Q2": n % 3, "Q3": n % 5} for n in range(8)]),
        "refused",
        (24, 1, 8, 3),
        maps=("item=Pupil criteria=Q1 criteria=Q2 criteria=Q3",),
    ),
    Stranger(
        "percent.csv",
        table(
            [
                {"Video": f"V{item}", "Rater": WHO[who], "Trust (%)": f"{(17 * at * item) % 90}%"}
                | {"Calm (%)": f"{(23 * at + 7 * who) % 90}%"}
                for item, who, at in TRIPLES
            ]
        ),
        "at once",
        (24, 3, 4, 2),
        maps=("item=Video rater=Rater criteria=Trust (%) criteria=Calm (%)",),
    ),
    # What is known to be right stands beside the answers, and is none.
    Stranger(
        "known.csv",
        table(
            [
                {"id": f"i{item}", "text": essay(item), "annotator": WHO[who]}
                | {"label": ("pos", "neg")[at % 2], "gold_label": ("pos", "neg")[item % 2]}
                for item, who, at in TRIPLES
            ]
        ),
        "long",
        (12, 3, 4, 1),
        essay(0),
    ),
    # Decimal commas, and a heading that begins like a word for items.
    Stranger(
        "apfel.csv",
        table(
            [
                {"Sorte": f"S {item}", "Prüfer": ("Huber", "Lang", "Aydin")[who]}
                | {"Duft": f"{2 + (item + who) % 3},5", "Biss": f"{3 + (item * who) % 2},0"}
                for item, who, _ in TRIPLES
            ]
        ),
        "at once",
        (24, 3, 4, 2),
        maps=("item=Sorte rater=Prüfer criteria=Duft criteria=Biss",),
    ),
    # A form: questions that hold words for items and systems, a time in each row.
    Stranger(
        "groups.csv",
        table(
            [
                {
                    "Timestamp": f"2026/05/04 10:{10 + at}:31 AM GMT+2",
                    "Username": f"{WHO[who]}@x.org",
                }
                | {"Which group do you assess?": f"Group {item}, on a river of its own"}
                | {
                    f"{part} [1-5]": 1 + (item + who * (n + 1)) % 5
                    for n, part in enumerate(
                        (
                            "Content: did they keep to the topic?",
                            "Delivery: voice and pace",
                            "Slides",
                        )
                    )
                }
                for item, who, at in TRIPLES
            ]
        ),
        "at once",
        (36, 3, 4, 3),
        maps=(
            "item=Which group do you assess? rater=Username"
            " criteria=Content: did they keep to the topic? [1-5]"
            " criteria=Delivery: voice and pace [1-5] criteria=Slides [1-5]",
        ),
    ),
)
