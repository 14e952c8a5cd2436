"""Judgements nested in cells, by judge and criterion, as harnesses write them."""

from __future__ import annotations

from typing import Any

from tests.formats.strangers import Stranger, essay, lines, table

JUDGES, CRITERIA = ("judge-a", "judge-b"), ("clarity", "tone")
WHY = "It says what the lamp is for."


def score(n: int, judge: str, criterion: str) -> int:
    return 1 + (n + JUDGES.index(judge) + 2 * CRITERIA.index(criterion)) % 4


def scores(n: int, judge: str) -> dict[str, int]:
    return {criterion: score(n, judge, criterion) for criterion in CRITERIA}


def by_criterion(n: int) -> dict[str, dict[str, int]]:
    return {c: {j: score(n, j, c) for j in JUDGES} for c in CRITERIA}


def reasoned(n: int, judge: str, criterion: str) -> dict[str, Any]:
    return {"score": score(n, judge, criterion), "reason": WHY}


#: What each row nests, by form.
NESTS: dict[str, Any] = {
    "judge and scores": lambda n: [
        {"judge": j, "scores": scores(n, j), "latency_ms": 90 + n, "comment": WHY} for j in JUDGES
    ],
    "criterion, judge": by_criterion,
    "with means": lambda n: {c: {**of, "mean": 2.5} for c, of in by_criterion(n).items()},
    "judge, criterion": lambda n: {j: scores(n, j) for j in JUDGES},
    "flat list": lambda n: [
        {"criterion": c, "judge": j, **reasoned(n, j, c)} for c in CRITERIA for j in JUDGES
    ],
    "criterion, judge, reasons": lambda n: {
        c: {j: reasoned(n, j, c) for j in JUDGES} for c in CRITERIA
    },
    "judge, reasons": lambda n: {j: {"scores": scores(n, j), "explanation": WHY} for j in JUDGES},
    "list in a list": lambda n: [
        {"reviewer": j, "scores": [{"name": c, "value": v} for c, v in scores(n, j).items()]}
        for j in JUDGES
    ],
}


def nested(form: str, **beside: Any) -> str:
    rows = [
        {"id": f"i{n}", "response": essay(n), "judgements": NESTS[form](n), **beside}
        for n in range(8)
    ]
    return lines(rows)


NESTED_TABLES: tuple[Stranger, ...] = (
    # Two people's preferences, a reference beside the two answers: four pairs.
    Stranger(
        "preferences.jsonl",
        lines(
            [
                {"id": n, "prompt": f"What is lamp {n} for?", "reference": essay(n + 40)}
                | {"response_a": essay(n), "response_b": essay(n + 20)}
                | {"votes": [{"annotator": w, "choice": "AB"[n % 2]} for w in ("ann", "bo")]}
                for n in range(4)
            ]
        ),
        "pairs", (8, 2, 4, 1), reference=essay(40), prompt="What is lamp 0 for?",
    ),
    # A reference beside what two people rate by two criteria.
    Stranger(
        "references.csv",
        table(
            [
                {"doc": n, "question": f"What is lamp {n} for?", "ref": essay(n + 40)}
                | {"answer": essay(n), "rater": who, "accuracy": n % 4, "clarity": n % 3}
                for n in range(6)
                for who in ("Ann", "Bob")
            ]
        ),
        "criteria", (24, 2, 6, 2), essay(0), reference=essay(40), prompt="What is lamp 0 for?",
    ),
    # Two judges, two criteria, eight items; a mean beside them is no answer.
    *(
        Stranger(f"{form}.jsonl", nested(form, mean=2.5), "long", (32, 2, 8, 2), essay(0))
        for form in NESTS
    ),
    # One criterion, by models of usual names; one judge, who is not named.
    Stranger(
        "models.jsonl",
        lines(
            [
                {"id": n, "response": essay(n)}
                | {"verdicts": {m: {"score": n % 4, "reason": WHY} for m in ("gpt-4.1", "claude")}}
                for n in range(8)
            ]
        ),
        "long", (16, 2, 8, 1), essay(0),
    ),
    Stranger(
        "nobody.jsonl",
        lines(
            [
                {"id": n, "response": essay(n)}
                | {"grades": {c: reasoned(n, "judge-a", c) for c in CRITERIA}}
                for n in range(8)
            ]
        ),
        "long", (16, 1, 8, 2), essay(0),
    ),
    # Two questions to each of two people, beside the right answer to the first, and in a table.
    Stranger(
        "kinds.jsonl",
        lines(
            [
                {"id": n, "text": essay(n), "gold": ("safe", "unsafe")[n % 2]}
                | {
                    "annotations": [
                        {"annotator": who, "label": ("safe", "unsafe")[(n + at) % 3 > 1]}
                        | {"category": ("tone", "fact", None)[(n + at) % 3], "notes": WHY}
                        for at, who in enumerate(("ann", "bo"))
                    ]
                }
                for n in range(9)
            ]
        ),
        "long", (30, 2, 9, 2), essay(0),
    ),
    Stranger(
        "truth.csv",
        table(
            [
                {"id": n, "text": essay(n), "gold": ("safe", "unsafe")[n % 2], "rater": who}
                | {"score": ("safe", "unsafe")[(n + at) % 3 > 1]}
                for n in range(9)
                for at, who in enumerate(("ann", "bo"))
            ]
        ),
        "long", (18, 2, 9, 1), essay(0),
    ),
    # Checks passed, of a judge who is named; scores by usual names of criteria, of none.
    Stranger(
        "checks.jsonl",
        lines(
            [
                {"id": n, "response": essay(n)}
                | {
                    "checks": [
                        {"criterion": c, "passed": n % 2 == at, "judge": "gpt-4o", "reason": WHY}
                        for at, c in enumerate(CRITERIA)
                    ]
                }
                for n in range(8)
            ]
        ),
        "long", (16, 1, 8, 2), essay(0),
    ),
    Stranger(
        "metrics.jsonl",
        lines(
            [
                {"id": n, "output": essay(n)}
                | {"evaluations": [{"name": c, **reasoned(n, "judge-a", c)} for c in CRITERIA]}
                for n in range(8)
            ]
        ),
        "long", (16, 1, 8, 2), essay(0),
    ),
    # Columns of people and models with the same scores each.
    Stranger(
        "side by side.jsonl",
        lines(
            [
                {"id": n, "response": essay(n), "human": scores(n, "judge-a")}
                | {"gpt4": scores(n, "judge-b")}
                for n in range(8)
            ]
        ),
        "long", (32, 2, 8, 2), essay(0),
    ),
    # No id: the rows are numbered, though their texts are the same.
    Stranger(
        "no id.jsonl",
        lines([{"response": essay(0), "scores": by_criterion(n)} for n in range(8)]),
        "long", (32, 2, 8, 2), essay(0),
    ),
    # The mean of a verdict's scores is no criterion.
    Stranger(
        "verdicts.jsonl",
        lines(
            [
                {"id": n, "response": essay(n), "judge": {"model": "judge-a"}}
                | {
                    "verdict": {
                        "scores": {c: {"score": m, "reason": "So."} for c, m in marked.items()},
                        "overall": round(sum(marked.values()) / 3, 2),
                    }
                }
                for n in range(12)
                for marked in [{"clarity": n % 5 + 1, "depth": n % 4 + 1, "tone": n % 3 + 1}]
            ]
        ),
        "long", (36, 1, 12, 3), essay(0),
    ),
    # Names of which nobody can tell whose they are, and rubrics of an item, are no judgements.
    Stranger(
        "unclear.jsonl",
        lines(
            [
                {"id": n, "response": essay(n), "grid": {a: {"x": n, "y": 1} for a in ("p", "q")}}
                for n in range(8)
            ]
        ),
        "dataset", 8, essay(0),
    ),
)  # fmt: skip
