"""Tables of an eighth stranger's kinds: prompts beside texts, derived columns, two-column items.

The shapes were met in the wild; the texts are made up here.
"""

from __future__ import annotations

from typing import Any

from tests.formats.compared_tables import asked, two
from tests.formats.strangers import Stranger, essay, lines, table

#: What was asked, and the text that answers, in several languages.
ASKED = (
    ("Pregunta 1", "Respuesta 1"),
    ("Customer message", "Agent reply"),
    ("Kundenanfrage", "Antwort"),
    ("Message du client", "Réponse"),
    ("Messaggio del cliente", "Risposta"),
    ("Bericht van de klant", "Antwoord"),
    ("Wiadomość klienta", "Odpowiedź"),
    ("Сообщение клиента", "Ответ"),
    ("客户消息", "回复"),
    ("お客様の声", "回答"),
    ("고객 문의", "답변"),
    ("clinical_note", "generated_text"),
)
WANTED = "Why does the lamp at the gate go out when it rains for long?"


def rated(n: int) -> list[int]:
    return [1 + (n + at * at) % 4 for at in range(4)]


def averaged(n: int) -> dict[str, Any]:
    given = {"Ana": 1 + n % 4, "Rui": 1 + n % 4, "Eva": 1 + (n + n % 2) % 4}
    given |= {"Zé": 1 + n % 4} if n % 5 else {}
    mean = round(sum(given.values()) / len(given), 2)
    return {"Nº": n, "Problema": f"Botão {n}", "Zé": ""} | given | {"Média": f"{mean:g}"}


WORTH = ("wrong", "partly right", "right")
IMPRESSIONS = ("insuffisant", "limite", "satisfaisant", "très satisfaisant")


def stood(n: int, at: str, who: str) -> dict[str, Any]:
    k = n * 7 + int(at) * 3 + ord(who[-1]) * n % 5
    marks = {"Mains (0/1)": k % 2, "Dit (0-4)": k % 9 / 2, "Geste (0-4)": k * 5 % 7 / 2}
    row = {"Étudiant": f"Élève {n}", "Station": f"{at} - Pose", "Examinateur": who, **marks}
    total = sum(marks.values())
    extra = {"Total": total, "Note /20": round(total * 20 / 9, 2)}
    return row | extra | {"Impression globale": IMPRESSIONS[k // 3 % 4]}


def called(n: int) -> dict[str, Any]:
    marks = {"Greets Y/N": "YN"[n % 5 == 0], "Warmth 1-5": 1 + n % 5, "Solves 1-5": 1 + n * 2 % 5}
    share = 100 * (marks["Greets Y/N"] == "Y") / 3 + 20 * (1 + n % 5) / 3 + 20 * (1 + n * 2 % 5) / 3
    who = {"Call ID": f"c{n}", "Evaluator": ("Kim", "Lou")[n % 2]}
    return {**who, **marks, "Score": f"{share:.1f}%", "Result": ("FAIL", "PASS")[share >= 60]}


def preferred(n: int) -> dict[str, Any]:
    places = {f"P{at + 1}": (n * 3 + at * 2) % 7 - 3 for at in range(4)}
    mean = sum(places.values()) / 4
    winner = "A" if mean < 0 else "B" if mean > 0 else "-"
    return {"#": n + 1, **two(n, "Version A", "Version B"), **places, "Winner": winner}


LIKED = ("1. Warm as home", "2. Plain good tea", "3. A cup to wake")
ANSWERED_TABLES: tuple[Stranger, ...] = (
  *(
    Stranger(
        f"asked {at}.csv",
        table([{"Nr": n, "Staat": "ok", question: WANTED, text: essay(n)} for n in range(8)]),
        "dataset", 8, text=essay(0), prompt=WANTED,
    )
    for at, (question, text) in enumerate(ASKED)
  ),
    # A number computed from the text is no label of it.
    Stranger(
        "grades.csv",
        table([{"case": n, "generated_text": essay(n), "fk_grade": 4 + n % 4} for n in range(9)]),
        "dataset", 9, text=essay(0),
    ),
    # The mean of the raters is no rater, whatever it is called and where one is missing.
    Stranger(
        "media.csv", table([averaged(n) for n in range(1, 14)]), "wide", (50, 4, 13, 1),
    ),
    # What a judge wrote before its score is the reason, not a criterion.
    Stranger(
        "runs.jsonl",
        lines(
            [
                {"item_id": n, "question": asked(n), "student_answer": essay(n), "judge": who}
                | {"score": (s := 2 + (n + at) % 8)}
                | {"raw_output": f"The answer is {WORTH[s // 4]}. Rating: [[{s}]]"}
                for n in range(10)
                for at, who in enumerate(("gpt-4o", "claude", "kim"))
            ]
        ),
        "long", (30, 3, 10, 1), text=essay(0), prompt=asked(0),
    ),
    # Two columns name the item; headings with a range are criteria, also with half points.
    Stranger(
        "stations.csv",
        table([stood(n, at, w) for n in range(9) for at in "12" for w in ("Mme P", f"M. C{at}")]),
        "refused", (144, 3, 18, 4),
        maps=(
            "item=Étudiant item=Station rater=Examinateur criteria=Mains (0/1) criteria=Dit (0-4)"
            " criteria=Geste (0-4) criteria=Impression globale",
        ),
    ),
    # A result that a percentage tells is no criterion.
    Stranger("calls.csv", table([called(n) for n in range(20)]), "at once", (60, 2, 20, 3),
        maps=("item=Call ID rater=Evaluator criteria=Greets Y/N criteria=Warmth 1-5"
              " criteria=Solves 1-5",)),
    # How much better, by several people beside a winner, is asked about.
    Stranger(
        "copy.csv", table([preferred(n) for n in range(9)]), "refused", (36, 4, 9, 1),
        maps=(
            "first=Version A second=Version B preference=P1 preference=P2 preference=P3"
            " preference=P4 word:-1=A is better word:-2=A is better word:-3=A is better word:0=Tie"
            " word:1=B is better word:2=B is better word:3=B is better",
        ),
    ),
    Stranger(
        "译文.csv",
        table(
            [
                {"编号": n, "原文": asked(n), **two(n, "译文A", "译文B")}
                | {who: ("A更好", "B更好", "差不多")[(n + at) % 3] for at, who in enumerate("王李")}
                for n in range(9)
            ]
        ),
        "pairs", (18, 2, 9, 1),
    ),
    # The number of the best item is no answer on an item, and з/о is no answer.
    Stranger(
        "slogans.csv",
        table(
            [
                {"Респондент": f"R{n}", "Возраст": 20 + n}
                | {s: "з/о" if n == k else 1 + n * (k + 3) % 10 for k, s in enumerate(LIKED)}
                | {"Лучший (№)": 1 + n % 3}
                for n in range(15)
            ]
        ),
        "refused", (42, 15, 3, 1),
        maps=("rater=Респондент " + " ".join(f"items={head}" for head in LIKED),),
    ),
)  # fmt: skip
