"""Tables that say what was asked, judged and why in columns of their own, and a person's reading.

The shapes are those of schools, forms, survey programs and programs that judge; the texts are made
up here.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable

from tests.formats.strangers import Rows, Stranger, essay, lines, short, source, table

PUPILS = ("Ana", "Rui", "Eva", "Gil", "Mia", "Noa")


def _marked(topic: str, *, heads: tuple[str, ...]) -> Rows:
    """Two markers' marks of each of six texts on one topic."""
    code, asked, marker, remark = heads
    return [
        {code: f"T-{n // 2}", asked: topic, marker: ("A. Paz", "B. Reis")[n % 2]}
        | {f"Parte {at}": 40 * (1 + (n * at + n // 3) % 5) for at in (1, 2, 3)}
        | {remark: ("Letra pequena.", "Bom final.", "")[n * 2 % 5 % 3]}
        for n in range(12)
    ]


#: Heads of a code, a topic, a marker and a remark in some languages, each with a topic.
ON_TOPIC = {
    "pt": ("Código Tópico Avaliador Observações", "Redes sociais"),
    "it": ("Codice Argomento Valutatore Osservazioni", "Il mare"),
    "fr": ("Code Sujet Correcteur Remarques", "La ville"),
    "de": ("Kürzel Thema Prüfer Bemerkung", "Mein Garten"),
    "en": ("essay_id Topic Marker Remarks", "School uniforms"),
    "en_other": ("Script Topic Examiner Remarks", "School uniforms"),
}


def _on_topic(name: str, heads: str, topic: str) -> Stranger:
    code, asked, marker, remark = heads.split()
    marks = " ".join(f"criteria=Parte {at}" for at in (1, 2, 3))
    return Stranger(
        f"topic_{name}.csv",
        table(_marked(topic, heads=(code, asked, marker, remark))),
        "at once",
        (36, 2, 6, 3),
        maps=(f"item={code} rater={marker} prompt={asked} {marks} reason={remark}",),
    )


#: Two models' answers to each question, and one rationale that both judges leave.
JUDGED: Rows = [
    {"prompt_id": f"p{n // 4}", "model": ("lark", "wren")[n // 2 % 2], "judge": "xy"[n % 2]}
    | {"response": essay(n // 2), "rationale": f"It says too little of sand, {n // 2} words."}
    | {"scores": {part: 1 + (n * at + n // 3) % 5 for at, part in enumerate(("depth", "wit"), 1)}}
    for n in range(24)
]


#: What stands with each judge's name, outside and inside of brackets: stands, and what of them.
STANDS, PARTS = ("Stand Oak", "Stand Elm", "Stand Fir"), ("Idea", "Look")


def _stands(form: str) -> str:
    """A form with a row for each judge, and a grid of questions."""
    return table(
        [
            {"Timestamp": f"3/{n + 1}/2026 10:05:33", "Your name": f"{name} Moe"}
            | {
                form.format(stand, part): 1 + (n * n * (at + 1) + n + 2 * of) % 5
                for at, stand in enumerate(STANDS)
                for of, part in enumerate(PARTS)
            }
            for n, name in enumerate(PUPILS)
        ]
    )


def _items(items: Iterable[str], criteria: Iterable[str] = (), rater: str = "Your name") -> str:
    parts = [f"rater={rater}", *(f"items={i}" for i in items), *(f"criteria={c}" for c in criteria)]
    return " ".join(parts)


#: Qualtrics' codes, what was asked, and its ids; then five people's answers.
POSTED = "\n".join(
    (
        "StartDate,ResponseId,Finished,Q4_1,Q4_2,Q4_3",
        "Start Date,Response ID,Finished,"
        + ",".join(f"How plain is this map? - Map {of}" for of in "KLM"),
        ",".join(f'"{{""ImportId"": ""{of}""}}"' for of in ("s", "r", "f", "q1", "q2", "q3")),
        *(
            f"2026-02-0{n + 1} 10:0{n}:05,R_{n}x{n}k,True,{1 + n % 7},{1 + 3 * n % 7},{7 - n}"
            for n in range(5)
        ),
        "",
    )
)

#: Signs that a survey quotes, in two wordings: `SIGN - QUESTION`, and the sign inside of both.
SIGNS = ("Mind the wet floor.", "Push", "No swimming in the pond, please.")
WORDINGS = {
    "before": ('Sign {n}: "{sign}" - Is it plain?', 'Sign {n}: "{sign}" - Would you obey it?'),
    "inside": ("Wie klar ist „{sign}“?", "Wie freundlich ist „{sign}“ für Sie?"),
}


def _quoting(wordings: tuple[str, str]) -> str:
    """A survey of Qualtrics with two questions about each sign, and five answers to each."""
    codes = [f"S{n}_{of}" for n in (1, 2, 3) for of in ("plain", "obey")]
    asked = [of.format(n=n, sign=s) for n, s in enumerate(SIGNS, start=1) for of in wordings]
    rows = [["StartDate", "ResponseId", *codes], ["Start Date", "Response ID", *asked]]
    rows.append([json.dumps({"ImportId": head}) for head in rows[0]])
    rows += [
        [f"2026-02-0{n + 1} 10:0{n}:05", f"R_{n}x{n}k"]
        + [str(1 + (n * n * (at + 1) + at) % 5) for at in range(6)]
        for n in range(5)
    ]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


#: Three people's marks of six applicants: one heading is elsewhere a number of years.
APPLIED: Rows = [
    {"Applicant": f"{PUPILS[n // 3]} Roe", "Interviewer": ("Mr Ox", "Ms Ray", "Ms Yew")[n % 3]}
    | {
        part: (3 + (n * (at + 1) + n // 3 * 3) % 7) / 2
        for at, part in enumerate(("Experience", "Drive", "Speech", "Length", "Team spirit"))
    }
    | {"Outlook": ("poor", "good", "fair")[n // 3 % 3]}
    for n in range(18)
]

#: Three programs' answers, of which one is mostly short, their scores, and the best one.
BESIDE: Rows = [
    {"prompt": f"Name river {n} and what it carries."}
    | {"oak_answer": essay(n), "elm_answer": short(n), "ash_answer": f"River {n}."}
    | {"oak_score": 5 + n % 3, "elm_score": 4 + n % 2, "ash_score": 1 + n % 2}
    | {"best_model": ("oak", "elm")[n % 2]}
    for n in range(8)
]

#: Two sentences, and what each of four coders says that the second is to the first.
PAIRED: Rows = [
    {"pairID": f"{700 + n}#x", "sentence1": short(n), "sentence2": f"Town {n} has no bridge yet."}
    | {"coder_labels": [("follows", "open", "contrary")[(n * at + n) % 3] for at in range(4)]}
    for n in range(9)
]

#: Heads of a participant, an age, an item, its condition, its sentence, a rating, a reaction time.
VERSIONS = {
    "en": "participant age item condition sentence rating RT",
    "de": "Proband Alter Item Bedingung Satz Bewertung RT",
    "fr": "participant age item condition phrase note RT",
    "es": "participante edad item condición oración puntuación RT",
    "it": "partecipante età item clausola frase voto RT",
}


def _versions(*heads: str) -> Rows:
    """Six sentences in two versions, of which each of eight people reads one."""
    return [
        dict(
            zip(
                heads,
                (
                    f"P{who}",
                    20 + 3 * who % 11,
                    item,
                    ("kept", "moved")[(item + who) % 2],
                    (f"In town {item} there is a bridge.", f"There is a bridge in town {item}.")[
                        (item + who) % 2
                    ],
                    1 + (item * item + who * (item % 3) + who // 2) % 7,
                    900 + 37 * ((item * 7 + who * 13) % 41),
                ),
                strict=True,
            )
        )
        for who in range(8)
        for item in range(1, 7)
    ]


def _of_versions(
    who: str, _: str, item: str, condition: str, text: str, mark: str, *__: str
) -> str:
    system = f" system={condition}" if condition != "clausola" else ""
    return f"item={item} item={condition}{system} submission={text} rater={who} label={mark}"


#: What each of four coders says of pairs, of which three have one premise, with parses of both.
PARSED: Rows = [
    {"pairID": row["pairID"], "coder_labels": row["coder_labels"], "sentence1": short(n // 3)}
    | {"sentence1_parse": f"(ROOT (S {short(n // 3)}))", "sentence2": row["sentence2"]}
    | {"sentence2_parse": f"( Town ( {n} has no bridge yet, say the people of the council. ) )"}
    for n, row in enumerate(PAIRED)
]

#: Two programs' recaps of an article, and what two readers and an expert think of each.
RECAPS: Rows = [
    {
        "of_readers": [
            {p: 1 + (n * k + at) % 4 for at, p in enumerate(("wit", "form"))} for k in (1, 3)
        ]
    }
    | {"of_experts": [{"wit": 1 + (n * n + k) % 4, "form": 1 + (n // 2 + k) % 4} for k in (0, 1)]}
    | {"references": [short(n // 2)], "recap_made": essay(n)[: 60 + n], "id": f"a-{n // 2}"}
    | {"model_id": ("oak", "elm")[n % 2], "text": source(n // 2)}
    for n in range(8)
]

#: Three systems' answers, each beside its mark, which has the name of the system.
BAKED: Rows = [
    {"id": f"b{n}", "prompt": f"Name river {n} and what it carries."}
    | {"oak-3": essay(n), "oak-3_score": 5 + n % 3, "elm-4": short(n), "elm-4_score": 4 + n % 2}
    | {"ash_big": f"River {n} carries sand.", "ash_big_score": 1 + n % 5}
    for n in range(8)
]

#: Texts with a cross for each of four kinds.
KINDS = ("Bericht", "Satire", "Werbung", "Sonstiges")
CROSSES: Rows = [
    {"Nr.": n, "Text": essay(n)}
    | {k: "x" if at in (n % 4, n % 5) else "" for at, k in enumerate(KINDS)}
    for n in range(1, 13)
]

#: Two ratings of each of nine translations, with the jobs of three raters.
JOBS: Rows = [
    {"UserID": f"u{(n + n // 9) % 3}", "JOBID": f"JOB{1 + n // 3:02}", "SegmentID": 100 + n % 9}
    | {"target": f"Town {n % 9} spoke of its bridge.", "raw_score": 10 * ((n * n + n // 9) % 10)}
    for n in range(18)
]


def _best_of(size: int, heads: tuple[str, str, str], first: int) -> str:
    """Lists of answers with their authors, and the number of the one that each of two liked."""
    listed, best, who = heads
    return lines(
        [
            {"about": {"id": f"walk-{n // 2}", "place": f"Hill {n // 2}"}}
            | {
                listed: [
                    {
                        "text": f"Walk {n // 2} by way {at} is long.",
                        "engine": ("fox", "elk", "owl")[at],
                    }
                    for at in range(size)
                ]
            }
            | {best: first + n * n % size, who: ("Una", "Ivo")[n % 2]}
            for n in range(12)
        ]
    )


#: Files of lists with the best: their size, headings, the number of the first, the votes and pairs.
BEST_OF = {
    "two.jsonl": (2, ("answers", "choice", "worker"), 0, 12, 6),
    "two from one.jsonl": (2, ("Antworten", "Wahl", "rater"), 1, 12, 6),
    "three.jsonl": (3, ("replies", "best", "annotator"), 0, 24, 16),
}

#: Headings of a segment, a judge, and of each ranked system's name, rank and number.
RANKED = {
    "en": ("segmentId", "judgeId", "system{}Id", "system{}rank"),
    "de": ("Satz-ID", "Gutachter", "System {}", "Rang {}"),
    "es": ("id_frase", "evaluador", "sistema_{}", "puesto_{}"),
}


def _ranked(segment: str, judge: str, name: str, rank: str) -> str:
    """Three of four systems in each row, their order in the row and their ranks; some are equal."""
    return table(
        [
            {segment: n // 2, judge: ("Kit", "Joy")[n % 2]}
            | {name.format(at + 1): ("fir", "oak", "elm", "ash")[(n + at) % 4] for at in range(3)}
            | {rank.format(at + 1): 1 + (n * n + at * at) % 3 for at in range(3)}
            for n in range(12)
        ]
    )


#: Sentences with a source, marks and no header; the first line is like the others.
BARE = "".join(
    f"{('hs', 'kt')[n % 2]}{n // 4}\t{1 + n * n % 4}\t{('', '?')[n % 3 % 2]}\t{short(n)}\n"
    for n in range(16)
)

#: A form's question about each of some sentences, headed for when it was sent and for a first name.
SENTENCES = {
    "fr": ("Horodateur", "Quel est votre prénom ?", "Cette phrase est-elle claire ?"),
    "es": ("Marca temporal", "Escribe tu nombre de pila", "¿Suena bien cada frase? (1 = nada)"),
}


def _sentences_of(sent: str, name: str, asks: str) -> str:
    return table(
        [
            {sent: f"0{n + 1}/05/2026 10:05:3{n}", name: who}
            | {f"{asks} [{short(at)}]": 1 + (n * n * (at + 1) + 3 * n + at) % 5 for at in range(4)}
            for n, who in enumerate(PUPILS)
        ]
    )


ASKED_TABLES: tuple[Stranger, ...] = (
    *(
        Stranger(
            f"sentences {name}.csv",
            _sentences_of(*heads),
            "refused",
            (24, 6, 4, 1),
            maps=(_items((f"{heads[2]} [{short(at)}]" for at in range(4)), rater=heads[1]),),
        )
        for name, heads in SENTENCES.items()
    ),
    *(
        Stranger(f"signs {name}.csv", _quoting(of), "criteria", (30, 5, 3, 2), SIGNS[0])
        for name, of in WORDINGS.items()
    ),
    Stranger(
        "bare.tsv",
        BARE,
        "refused",
        maps=("submission=column 4 labels=column 2",),
        words_in_refusal=("The first line is data like the others",),
    ),
    Stranger(
        "bare.csv",
        BARE.replace("\t", ";"),
        "refused",
        maps=("submission=column 4 labels=column 2",),
    ),
    *(
        Stranger(
            f"ranked {name}.csv",
            _ranked(*heads),
            "at once",
            (36, 2, 30, 1),
            maps=(
                f"item={heads[0]} rater={heads[1]} preference=preference"
                " first_system=first_system second_system=second_system",
            ),
        )
        for name, heads in RANKED.items()
    ),
    *(
        Stranger(
            f"best of {name}",
            _best_of(size, heads, first),
            "at once",
            (votes, 2, pairs, 1),
            maps=(
                f"item=about.id rater={heads[2]} preference=preference first=first second=second"
                " first_system=first_system second_system=second_system",
            ),
        )
        for name, (size, heads, first, votes, pairs) in BEST_OF.items()
    ),
    *(_on_topic(name, heads, topic) for name, (heads, topic) in ON_TOPIC.items()),
    Stranger(
        "one rationale.jsonl",
        lines(JUDGED),
        "at once",
        (48, 2, 12, 2),
        maps=(
            "item=prompt_id item=model system=model submission=response rater=judge"
            " criteria=scores.depth criteria=scores.wit reason=rationale",
        ),
    ),
    *(
        Stranger(
            name,
            _stands(form),
            "refused",
            (36, 6, 3, 2),
            maps=(_items(STANDS, PARTS), _items(PARTS, STANDS)),
        )
        for name, form in (("stands outside.csv", "{0} [{1}]"), ("stands inside.csv", "{1} [{0}]"))
    ),
    Stranger(
        "maps.csv",
        POSTED,
        "refused",
        (15, 5, 3, 1),
        maps=(_items(("Map K", "Map L", "Map M"), rater="ResponseId"),),
    ),
    # Where no list is longer and some repeat an answer, each is of another coder.
    Stranger(
        "paired.jsonl",
        lines(PAIRED),
        "at once",
        (36, 4, 9, 1),
        maps=("item=pairID prompt=sentence1 submission=sentence2 label=coder_labels",),
    ),
    # Lists of other lengths may hold all labels that one person chose.
    Stranger(
        "paired otherwise.jsonl",
        lines(
            [row | {"coder_labels": row["coder_labels"][n % 2 :]} for n, row in enumerate(PAIRED)]
        ),
        "refused",
        (32, 4, 9, 1),
        maps=("item=pairID submission=sentence2 prompt=sentence1 label=coder_labels",),
    ),
    Stranger(
        "applied.csv",
        table(APPLIED),
        "at once",
        (90, 3, 6, 5),
        maps=(
            "item=Applicant rater=Interviewer criteria=Experience criteria=Drive criteria=Speech"
            " criteria=Length criteria=Team spirit",
        ),
    ),
    # The years of a rater stay out, whatever the other numbers are.
    Stranger(
        "years.csv",
        table([row | {"Experience": 2 + n % 3} for n, row in enumerate(APPLIED)]),
        "at once",
        (72, 3, 6, 4),
        maps=(
            "item=Applicant rater=Interviewer criteria=Drive criteria=Speech criteria=Length"
            " criteria=Team spirit",
        ),
    ),
    Stranger("short beside.csv", table(BESIDE), "dataset", 24, essay(0), {"score": "5"}),
    # Two of the three are ever the best; they are no pair.
    Stranger(
        "three.csv",
        table([{k: v for k, v in row.items() if "score" not in k} for row in BESIDE]),
        "refused",
        maps=("submission=oak_answer", "submission=elm_answer"),
    ),
    # A row for each rater, and a column for each essay.
    Stranger(
        "raters by essays.csv",
        table(
            [
                {"Rater": who} | {f"S{e:02}": "ABCDF"[(e * at + e // 3) % 5] for e in range(1, 15)}
                for at, who in enumerate(PUPILS[:4], 1)
            ]
        ),
        "refused",
        (56, 4, 14, 1),
        maps=(_items([f"S{e:02}" for e in range(1, 15)], rater="Rater"),),
    ),
    # An address of a machine tells people less than the id of an answer.
    Stranger(
        "addresses.csv",
        table(
            [
                {"IPAddress": f"192.0.2.{n}", "ResponseId": f"R_{n}x", "item_id": f"T{n // 2}"}
                | {"answer": essay(n // 2)}
                | {"Plain": 1 + n % 5, "Whole": 5 - n * n % 5}
                for n in range(16)
            ]
        ),
        "refused",
        (32, 16, 8, 2),
        maps=("item=item_id submission=answer rater=ResponseId criteria=Plain criteria=Whole",),
    ),
    # How far the marks are apart is said of raters, however little these agree.
    Stranger(
        "spread.csv",
        table(
            [
                {"Proposal": f"P-{n}"}
                | {
                    who: 1 + (n * n * (at + 1) + (at + 3) * n + at) % 7
                    for at, who in enumerate(PUPILS[:4])
                }
                | {"SD": f"{1 + n / 7:.2f}"}
                for n in range(9)
            ]
        ),
        "refused",
        (36, 4, 9, 1),
        maps=("item=Proposal " + " ".join(f"raters={who}" for who in PUPILS[:4]),),
    ),
    *(
        Stranger(
            f"versions_{name}.csv",
            table(_versions(*heads.split())),
            "refused",
            (48, 8, 12, 1),
            maps=(_of_versions(*heads.split()),),
        )
        for name, heads in VERSIONS.items()
    ),
    Stranger(
        "parsed.jsonl",
        lines(PARSED),
        "at once",
        (36, 4, 9, 1),
        maps=("item=pairID prompt=sentence1 submission=sentence2 label=coder_labels",),
    ),
    Stranger(
        "recaps.jsonl",
        lines(RECAPS),
        "criteria",
        (64, 4, 8, 2),
        RECAPS[0]["recap_made"],
        reference=short(0),
        prompt=source(0).strip(),
    ),
    Stranger("baked.csv", table(BAKED), "dataset", 24, essay(0), {"score": "5"}),
    Stranger(
        "crosses.csv",
        table(CROSSES),
        "refused",
        maps=(
            " ".join(("submission=Text", *(f"labels={kind}" for kind in KINDS)))
            + " word:x=MET word:=UNMET",
        ),
    ),
    Stranger(
        "jobs.csv",
        table(JOBS),
        "refused",
        (18, 3, 9, 1),
        maps=("item=SegmentID submission=target rater=UserID label=raw_score",),
    ),
)
