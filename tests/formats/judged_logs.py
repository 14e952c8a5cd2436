"""Logs of judges and annotators: verdicts beside scores, answers in records, winners and losers.

The shapes are those of evaluation harnesses and annotation tools; names and texts are made up.
"""

from __future__ import annotations

import json
from typing import Any

from tests.formats.strangers import Stranger, essay, lines, table

CRITERIA, PEOPLE = ("clarity", "accuracy"), ("ann", "bo", "cy")
WHY = "Both lamps are named, but not where they stand."
MODELS = ("prometheus-8x7b", "oak-judge")


def marks(n: int, at: int) -> dict[str, int]:
    return {name: 1 + (n + at + k) % 4 for k, name in enumerate(CRITERIA)}


def review(n: int, at: int) -> dict[str, Any]:
    return {"scores": marks(n, at), "verdict": ("accept", "revise")[(n + at) % 2], "minutes": n}


def answered(n: int, question: int) -> list[dict[str, Any]]:
    """Three people's answers to a question, of which the last person discarded every fourth."""
    return [
        {"user_id": who, "value": None if (gone := at == 2 and n % 4 == 0) else 1 + (n + at) % 5}
        | {"status": "discarded" if gone else "submitted", "question": question}
        for at, who in enumerate(PEOPLE)
    ]


def decisions(better: str, worse: str, judge: str) -> str:
    rows = [
        {judge: PEOPLE[n % 3], better: f"S{n % 5}", worse: f"S{(n + 1 + n % 3) % 5}", "seconds": n}
        for n in range(12)
    ]
    return table(rows)


WINNERS = (
    *(("Winning script", "Losing script", "Judge"), ("preferred_id", "rejected_id", "rater")),
    *(("Gewinner", "Verlierer", "Prüfer"), ("Better", "Worse", "Assessor")),
    *(("Chosen", "Not chosen", "Judge"), ("Texto ganador", "Texto perdedor", "Juez")),
    ("勝者", "敗者", "審査員"),
)
PANEL = [
    {"judge_model": judge, "sample_id": f"s{n}", "output": essay(n)}
    | {"judge_raw": json.dumps({"reasoning": f"It is clear by line {n + at}.", **marks(n, at)})}
    | {"scores": marks(n, at), "parse_ok": True, "latency_ms": 900 + 7 * n + at}
    for n in range(8)
    for at, judge in enumerate(MODELS)
]

VERDICTS = ("pass", "fail")
ASKED = ("Which bird is it?", "How many are there?", "Is it in flight?")


def answer(asked: str, value: int) -> dict[str, str]:
    return {"task": f"T{ASKED.index(asked)}", "task_label": asked, "value": f"{1 + value % 4}"}


JUDGED_LOGS: tuple[Stranger, ...] = (
    # Eight texts, three reviewers, two scores and a verdict each: 8 x 3 x 3 votes.
    Stranger(
        "keyed reviews.json",
        json.dumps(
            {
                "requests": [
                    {"nr": 40 + n, "diff": essay(n)}
                    | {"reviews": {who: review(n, at) for at, who in enumerate(PEOPLE)}}
                    for n in range(8)
                ]
            }
        ),
        "long", (72, 3, 8, 3), essay(0),
    ),
    # The same, as a list of judging models.
    Stranger(
        "panel.jsonl",
        lines(
            [
                {"case_id": f"c{n}", "answer": essay(n)}
                | {"judges": [{"model": m, **review(n, at)} for at, m in enumerate(MODELS)]}
                for n in range(8)
            ]
        ),
        "long", (48, 2, 8, 3), essay(0),
    ),
    # Marks by criteria beside an overall mark; the file's key `criteria` makes it no rubric.
    Stranger(
        "overall.json",
        json.dumps(
            {
                "essays": [
                    {"essay_id": f"e{n}", "text": essay(n)}
                    | {"marks": {w: {"overall": 3, "criteria": marks(n, 0)} for w in PEOPLE}}
                    for n in range(8)
                ]
            }
        ),
        "long", (72, 3, 8, 3), essay(0),
    ),
    # A column names the judge of each row, in which scores are listed.
    Stranger(
        "listed scores.jsonl",
        lines(
            [
                {"task_id": f"t{n}", "output": essay(n), "grader": who}
                | {"scores": [{"metric": c, "score": s} for c, s in marks(n, at).items()]}
                for n in range(8)
                for at, who in enumerate(PEOPLE)
            ]
        ),
        "long", (48, 3, 8, 2), essay(0),
    ),
    # Two models judge eight samples by two criteria; the raw answer repeats their scores.
    Stranger(
        "judge runs.jsonl", lines(PANEL), "at once", (32, 2, 8, 2),
        maps=(
            "item=sample_id submission=output rater=judge_model criteria=scores.clarity"
            " criteria=scores.accuracy reason=judge_raw.reasoning",
        ),
    ),
    # Two judges of two candidates' answers, with reasons; a run that failed has no scores.
    Stranger(
        "reasoned runs.jsonl",
        lines(
            [
                {"sample_id": f"s{n}", "input": f"What of lamp {n}?", "candidate": f"lamp-{of}"}
                | {"output": essay(n + 8 * of), "expected": essay(n + 60)}
                | {"grader": {"model": judge, "seed": 3}, "overall": 2.5}
                | {
                    "scores": {c: {"score": m, "reason": WHY} for c, m in marks(n, at).items()}
                    if (n, of, at) != (7, 1, 1)
                    else {}
                }
                for n in range(8)
                for of in range(2)
                for at, judge in enumerate(MODELS)
            ]
        ),
        "long", (62, 2, 16, 2), essay(0), reference=essay(60), prompt="What of lamp 0?",
    ),
    # Two models' answers to a question, each judged by two models with a mark, a verdict and why.
    Stranger(
        "judge and result.jsonl",
        lines(
            [
                {"question_id": f"q{n}", "question": f"What of lamp {n}?"}
                | {"expected": essay(n + 60), "model": f"lamp-{of}", "answer": essay(n + 8 * of)}
                | {"judge": {"name": judge, "seed": 3}, "ms": 900 + 7 * n + at}
                | {"result": {"score": 1 + (n + of + at) % 9, "verdict": VERDICTS[(n + at) % 2]}
                   | {"reason": WHY, "tokens": 40 + n}}
                for n in range(8)
                for of in range(2)
                for at, judge in enumerate(MODELS)
            ]
        ),
        "long", (64, 2, 16, 2), essay(0), reference=essay(60), prompt="What of lamp 0?",
    ),
    # The same without a judge: nothing says who gave the marks.
    Stranger(
        "results alone.jsonl",
        lines(
            [
                {"question_id": f"q{n}", "question": f"What of lamp {n}?", "answer": essay(n)}
                | {"result": {"score": 1 + n % 5, "verdict": VERDICTS[n % 2], "reason": WHY}}
                for n in range(8)
            ]
        ),
        "dataset", 8, essay(0), prompt="What of lamp 0?",
    ),
    # Under keys without a known word: sixteen different answers are no labels of the questions.
    Stranger(
        "answers and marks.jsonl",
        lines(
            [
                {"question_id": f"q{n}", "model": f"lamp-{of}", "answer": essay(n + 8 * of)}
                | {"by": judge}
                | {"out": {"points": 1 + (n + of + at) % 4, "reason": f"Line {n + at} holds."}}
                for n in range(8)
                for of in range(2)
                for at, judge in enumerate(MODELS)
            ]
        ),
        "refused", (32, 2, 16, 1),
        maps=(
            "item=question_id item=model system=model submission=answer rater=by label=out.points"
            " reason=out.reason",
        ),
    ),
    # What volunteers were asked of each picture stands beside their answers, as Zooniverse has it.
    Stranger(
        "volunteers.csv",
        table(
            [
                {"classification_id": 700 + 5 * n + at, "user_name": who, "user_id": 30 + at}
                | {"created_at": f"2026-03-02 10:{n:02}:{at:02} UTC"}
                | {"annotations": json.dumps([*map(answer, ASKED, (n, at + n, n % 2))])}
                | {"subject_ids": 9000 + n}
                for n in range(8)
                for at, who in enumerate(PEOPLE)
            ]
        ),
        "refused", (72, 3, 8, 3),
        maps=(
            "item=subject_ids rater=user_name criterion=criterion label=score",
        ),
    ),
    # A row for each text and criterion; people and a model have a column each, one of them gaps.
    Stranger(
        "beside the criterion.csv",
        table(
            [
                {"mr": f"pond#{30 + n}", "heading": f"Fix lamp {n % 4}", "patch": essay(n)}
                | {"lines_changed": 17 * n + 3, "metric": metric}
                | {"ines": (n + at) % 4, "tomek": "" if at == n % 3 else (n * at) % 4}
                | {"llm_reviewer": (n + 1) % 4, "n": 3 - (at == n % 3), "mean": 1.5}
                for n in range(9)
                for at, metric in enumerate(("correct", "readable", "tested"))
            ]
        ),
        "refused", (72, 3, 9, 3), essay(0),
        maps=(
            "item=mr submission=patch criterion=metric raters=ines raters=tomek"
            " raters=llm_reviewer",
        ),
    ),
    # Eight records, three people, two questions; cy discarded two records: 2 x (24 - 2).
    Stranger(
        "records.jsonl",
        lines(
            [
                {"id": f"r{n}", "response": essay(n)}
                | {"helpful": answered(n, 1), "style": answered(n, 2)}
                for n in range(8)
            ]
        ),
        "long", (44, 3, 8, 2), essay(0),
    ),
    # The older records of an annotation tool: each person's answers to all questions.
    Stranger(
        "older records.json",
        json.dumps(
            [
                {"id": f"r{n}", "fields": {"prompt": f"What of lamp {n}?", "text": essay(n)}}
                | {
                    "responses": [
                        {"user_id": w, "status": "draft" if n == at else "submitted"}
                        | {"values": {c: {"value": m} for c, m in marks(n, at).items()}}
                        for at, w in enumerate(PEOPLE)
                    ]
                }
                for n in range(8)
            ]
        ),
        "argilla", (42, 3, 8, 2), essay(0),
    ),
    # Twelve decisions of three judges; the headings say who won.
    *(
        Stranger(f"{better}.csv", decisions(better, worse, judge), "pairs", (12, 3, 12, 1))
        for better, worse, judge in WINNERS
    ),
    # The outcome names a side; the best of three lists two pairs for each of nine rows.
    Stranger(
        "sided outcomes.csv",
        table(
            [
                {"model_left": ("oak", "elm")[n % 2], "model_right": ("ash", "fir")[n // 2 % 2]}
                | {"user": PEOPLE[n % 3], "outcome": ("left", "right", "tie")[n % 3]}
                for n in range(12)
            ]
        ),
        "pairs", (12, 3, 12, 1),
    ),
    Stranger(
        "best of three.jsonl",
        lines(
            [
                {"id": n, "prompt": f"What is lamp {n} for?", "best": n % 3}
                | {"responses": [essay(n), essay(n + 20), essay(n + 40)], "rater": PEOPLE[n // 3]}
                for n in range(9)
            ]
        ),
        "pairs", (18, 3, 18, 1), prompt="What is lamp 0 for?",
    ),
)  # fmt: skip
