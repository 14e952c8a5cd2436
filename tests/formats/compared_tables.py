"""Tables of two compared answers, in several languages and shapes; the texts are made up here."""

from __future__ import annotations

import json
from typing import Any

from tests.formats.strangers import Rows, Stranger, essay, lines, table

#: The task, both answers, the better one, its words and what they mean.
LANGUAGES: dict[str, tuple[str, ...]] = {
    "de": ("Frage", "Antwort A", "Antwort B", "Bevorzugt", "A", "B", "unentschieden"),
    "fr": ("Consigne", "Texte 1", "Texte 2", "Meilleur", "texte 1", "texte 2", "ex æquo"),
    "es": ("Pregunta", "Respuesta A", "Respuesta B", "Preferencia", "A", "B", "iguales"),
    "it": ("Domanda", "Risposta A", "Risposta B", "Preferenza", "A", "B", "pari"),
    "pt": ("Pergunta", "Resposta 1", "Resposta 2", "Melhor", "1", "2", "empate"),
    "nl": ("Vraag", "Tekst links", "Tekst rechts", "Voorkeur", "links", "rechts", "gelijk"),
    "pl": ("Pytanie", "Odpowiedź A", "Odpowiedź B", "Lepsza", "A", "B", "bez różnicy"),
    "zh": ("问题", "回答A", "回答B", "更好", "A", "B", "平局"),
    "ja": ("質問", "回答1", "回答2", "好み", "1", "2", "同じ"),
    "sv": ("Fråga", "Svar A", "Svar B", "Föredrar", "A", "B", "lika bra"),
}
OUTCOMES = ("model_a", "model_b", "tie")
SYSTEMS = ("oak", "elm", "ash")


def asked(n: int) -> str:
    return f"What should a guest know about lamp {n}?"


def battle(n: int) -> dict[str, Any]:
    models = {"model_a": SYSTEMS[n % 3], "model_b": SYSTEMS[(n + 1) % 3]}
    return {"question_id": f"q{n}", **models, "winner": OUTCOMES[n % 3]}


def two(n: int, *heads: str) -> dict[str, Any]:
    return dict(zip(heads or ("answer_a", "answer_b"), (essay(n), essay(n + 20)), strict=True))


def turn(text: str) -> Rows:
    return [{"role": "assistant", "content": text}]


#: What holds the texts of a battle, by form.
BATTLES: dict[str, Any] = {
    "answers": lambda n: {"question": asked(n), **two(n)},
    "turns": lambda n: (
        {"question": asked(n)} | {k: turn(t) for k, t in two(n, "output_a", "output_b").items()}
    ),
    "messages": lambda n: (
        {"prompt": asked(n)} | {k: turn(t)[0] for k, t in two(n, "reply_a", "reply_b").items()}
    ),
    "list of two": lambda n: {"prompt": asked(n), "responses": [*two(n).values()]},
    "object": lambda n: {"prompt": asked(n), "response": two(n, "a", "b")},
    "often short": lambda n: (
        {"prompt": asked(n), "text_a": "No" if n % 3 else essay(n)}
        | {"text_b": "Yes" if n % 3 == 1 else essay(n + 9)}
    ),
}
STRENGTH = ("A much better", "A slightly better", "about the same", "B somewhat better")

COMPARED_TABLES: tuple[Stranger, ...] = (
    *(
        Stranger(
            f"{lang}.csv",
            table(
                [
                    {"Nr": n, q: asked(n), **two(n, a, b)}
                    | {f"{head} {who}": words[(n + (who == "Lou")) % 3] for who in ("Kim", "Lou")}
                    for n in range(9)
                ]
            ),
            "pairs",
            (18, 2, 9, 1),
            prompt=asked(0),
        )
        for lang, (q, a, b, head, *words) in LANGUAGES.items()
    ),
    *(
        Stranger(
            f"battles, {form}.jsonl",
            lines([battle(n) | texts(n) for n in range(9)]),
            "pairs",
            (9, 1, 9, 1),
            "" if form == "often short" else f"A:\n{essay(0)}\n\nB:\n{essay(20)}",
            prompt=asked(0),
        )
        for form, texts in BATTLES.items()
    ),
    Stranger(
        "battles.csv", table([battle(n) | {"judge": f"u{n % 2}"} for n in range(9)]), "pairs",
        (9, 2, 9, 1),
    ),
    # Conversations in the cells of a CSV, and lists of texts with a column for each outcome.
    Stranger(
        "talks.csv",
        table(
            [
                battle(n)
                | {
                    f"conversation_{side}": json.dumps([*turn(asked(n)), *turn(text)])
                    for side, text in zip("ab", two(n).values(), strict=True)
                }
                for n in range(9)
            ]
        ),
        "pairs", (9, 1, 9, 1), prompt=asked(0),
    ),
    Stranger(
        "outcomes.csv",
        table(
            [
                {"id": n, "model_a": SYSTEMS[n % 3], "model_b": SYSTEMS[(n + 1) % 3]}
                | {"prompt": json.dumps([asked(n)])}
                | {k: json.dumps([t]) for k, t in two(n, "response_a", "response_b").items()}
                | {f"winner_{w}": int(battle(n)["winner"] == w) for w in OUTCOMES}
                for n in range(9)
            ]
        ),
        "pairs", (9, 1, 9, 1), prompt=asked(0),
    ),
    # Systems as headings, whole or in part, named by the preference.
    *(
        Stranger(
            f"named{end}.csv",
            table(
                [
                    {"id": n, "prompt": asked(n), **two(n, f"oak{end}", f"elm{end}")}
                    | {"preferred": ("oak", "elm", "tie")[n % 3], "annotator": f"w{n % 2}"}
                    for n in range(9)
                ]
            ),
            "pairs", (9, 2, 9, 1), prompt=asked(0),
        )
        for end in ("", "_response")
    ),
    Stranger(
        "sides.csv",
        table(
            [
                {"item": n, "source": asked(n), "left_system": SYSTEMS[n % 3], "left": essay(n)}
                | {"right_system": SYSTEMS[(n + 1) % 3], "right": essay(n + 9)}
                | {"choice": ("left", "right", "equal")[n % 3]}
                for n in range(9)
            ]
        ),
        "pairs", (9, 1, 9, 1), prompt=asked(0),
    ),
    Stranger(
        "how much.csv",
        table([{"id": n, **two(n), "preference": STRENGTH[n % 4]} for n in range(9)]),
        "pairs", (9, 1, 9, 1),
    ),
    # A preference for each criterion.
    *(
        Stranger(
            f"criteria{len(who)}.csv",
            table(
                [
                    {"id": n, "prompt": asked(n), **two(n), **who}
                    | {f"{c}": "AB"[(n + at) % 2] for at, c in enumerate(("Fluency", "Accuracy"))}
                    for n in range(9)
                ]
            ),
            "pairs", (18, 1, 9, 2),
        )
        for who in ({}, {"annotator": "kim"})
    ),
    # Raters by criteria, with the word that most gave; where nothing says which names are which,
    # it is asked.
    Stranger(
        "three on two questions.csv",
        table(
            [
                {"nr": n, "article": essay(n + 70), **two(n, "summary_A", "summary_B")}
                | {f"{who}_{asked}": "AB="[(n * at + n // 3) % 3]
                   for asked in ("overall", "concise")
                   for at, who in enumerate(("Ana", "Bo", "Cy"))}
                | {"majority_overall": "AB"[n % 2]}
                for n in range(12)
            ]
        ),
        "pairs", (72, 3, 12, 2), prompt=essay(70),
    ),
    Stranger(
        "two by two.csv",
        table(
            [
                {"nr": n, **two(n, "text_A", "text_B")}
                | {f"{who}_{asked}": "AB="[(n + at) % 3]
                   for who in ("oak", "elm")
                   for at, asked in enumerate(("north", "south"))}
                for n in range(12)
            ]
        ),
        "refused", (48, 2, 12, 2),
        maps=(
            "first=text_A second=text_B raters=oak raters=elm criteria=north criteria=south",
            "first=text_A second=text_B raters=north raters=south criteria=oak criteria=elm",
        ),
    ),
    # Numbers with a middle, 0 and 1, wins and losses: in both directions.
    *(
        Stranger(
            f"{name}.csv",
            table([{"id": n, "prompt": asked(n), **two(n, *of), head: word(n)} for n in range(14)]),
            "refused", (14, 1, 14, 1),
            maps=(f"first={of[0]} second={of[1]} prompt=prompt preference={head} {meant}",),
        )
        for name, of, head, word, meant in (
            ("of 5", ("answer_a", "answer_b"), "preference", lambda n: 1 + n % 5,
             "word:1=A is better word:2=A is better word:3=Tie word:4=B is better"
             " word:5=B is better"),
            ("of 1", ("answer_a", "answer_b"), "label", lambda n: n % 2,
             "word:0=A is better word:1=B is better"),
            ("won", ("output", "baseline"), "result", lambda n: ("win", "loss", "tie")[n % 3],
             "word:loss=B is better word:tie=Tie word:win=A is better"),
        )
    ),
    # Systems on shuffled sides, three people's preferences, and a remark that begins with one.
    Stranger(
        "shuffled.csv",
        table(
            [
                {"seg_id": f"{1 + n // 4}-{n % 4}", "source": asked(n)}
                | {"system_1": SYSTEMS[n % 2], "version_1": essay(n)}
                | {"system_2": SYSTEMS[1 - n % 2], "version_2": essay(n + 30)}
                | {"IrinaM": "12="[n % 3], "Tadeo": "12="[n * n % 3], "Wu": "21="[n % 3]}
                | {"Bemerkung": ("2 too long", "", "both wrong", "")[n % 4]}
                for n in range(12)
            ]
        ),
        "pairs", (36, 3, 12, 1), prompt=asked(0),
    ),
    # A preference for each criterion, beside an id of the task and the text that was summed up.
    Stranger(
        "degrees by criterion.csv",
        table(
            [
                {"Task": f"T{n // 2}", "Rater": ("Ada", "Ben")[n % 2]}
                | {"Source text": essay(n // 2 + 50)}
                | two(n // 2, "Summary A", "Summary B")
                | {"Faithful": STRENGTH[n % 4], "Readable": STRENGTH[n // 2 % 4]}
                for n in range(16)
            ]
        ),
        "pairs", (32, 2, 8, 2), prompt=essay(50),
    ),
    # Labels of what two sentences have to do with each other are no preference.
    Stranger(
        "entailed.csv",
        table([{"id": n, **two(n, "sentence1", "sentence2"), "label": n % 3} for n in range(12)]),
        "refused",
    ),
    # How often each won against each: no votes.
    *(
        Stranger(
            f"{name}.csv",
            table(
                [
                    {corner: SYSTEMS[row]} | {SYSTEMS[at]: won[row][at] for at in range(3)}
                    for row in range(3)
                ]
                + [{corner: "without ties"} | dict.fromkeys(SYSTEMS, "")]
            ),
            "refused", words_in_refusal=("a table of wins, of each against each",),
        )
        for name, corner, won in (
            ("wins", "wins (row against column)", (("", 4, 9), (7, "", 3), (2, 8, ""))),
            ("win rates", "", (("", 0.4, 0.9), (0.6, "", 0.25), (0.1, 0.75, ""))),
        )
    ),
    # More than two answers.
    *(
        Stranger(
            f"{head} of three.csv",
            table(
                [
                    {"id": n, "prompt": asked(n)}
                    | {f"answer_{end}": essay(n + 9 * at) for at, end in enumerate("abc")}
                    | {head: words[n % 3], "annotator": ("kim", "lou")[n % 2]}
                    for n in range(9)
                ]
            ),
            "pairs",
            (votes, 2, votes, 1),
        )
        for head, words, votes in (
            # Nine rows: the best of three says two pairs, an order all three.
            ("best", ("a", "b", "c"), 18),
            ("ranking", ("A>B>C", "B>A>C", "C>A>B"), 27),
            ("winner", ("answer_a", "answer_b", "answer_c"), 18),
        )
    ),
)  # fmt: skip
