"""Exports whose texts are one of several fields or inside objects, and marks of many numbers.

The shapes are those of annotation tools, trace viewers, judges' logs, sliders and metrics; names
and texts are made up.
"""

from __future__ import annotations

import json
import random
from typing import Any

from tests.formats.strangers import Stranger, essay, table

PEOPLE = ("ann", "bo", "cy")


def tasks(head: str, asked: str, replied: str, kind: str) -> str:
    """Tasks of Label Studio: a code, what was asked, one of a few replies, and two annotators."""
    data = [
        {head: f"c-{n:02}", asked: f"Where is ferry {n} today?", replied: reply(n), kind: "app"}
        for n in range(9)
    ]
    return json.dumps(
        [
            {"id": 70 + n, "data": of, "annotations": [of_person(n, who) for who in (3, 8)]}
            for n, of in enumerate(data)
        ]
    )


def reply(n: int) -> str:
    return f"The ferry leaves from pier {n % 3}, thank you for asking us."


def of_person(n: int, who: int) -> dict[str, Any]:
    stars = {"from_name": "warmth", "type": "rating", "value": {"rating": 1 + (n + who) % 5}}
    return {"completed_by": {"id": who, "email": f"{who}@x.example"}, "result": [stars]}


def traces(asked: Any, answered: Any, size: int = 40) -> str:
    """Traces with two evaluators' scores and a person's; `asked` and `answered` hold the texts."""
    return json.dumps(
        {
            "data": [
                {
                    "id": f"t{n:02}",
                    "name": "helper",
                    "input": asked(f"How long is bridge {n}?"),
                    "output": answered(f"Bridge {n} is about {n} hundred metres long."),
                    "scores": [
                        score("grounded", 0.31 + n / 100, "EVAL"),
                        score("useful", 0.9 - n / 70, "EVAL"),
                        score("fit", n % 2, "ANNOTATION", authorUserId=PEOPLE[n % 2]),
                    ],
                }
                for n in range(size)
            ],
            "meta": {"page": 1},
        }
    )


def score(name: str, value: float, source: str, **more: Any) -> dict[str, Any]:
    return {"id": f"s-{name}", "name": name, "value": round(value, 4), "source": source, **more}


def categories() -> str:
    """Traces with an evaluator's number, and of every other one a person's category in words."""
    given = json.loads(traces(system_and_user, message))
    for n, trace in enumerate(given["data"]):
        number, _, person = trace["scores"]
        word = {"value": (0, None)[n % 4 // 2], "stringValue": ("warm", "cold", "odd")[n % 3]}
        of = [person | word | {"dataType": "CATEGORICAL", "authorUserId": PEOPLE[n // 2 % 2]}]
        trace["scores"] = [number, *(of if n % 2 else [])]
    return json.dumps(given)


def system_and_user(text: str) -> dict[str, Any]:
    system = {"role": "system", "content": "You know all bridges."}
    return {"messages": [system, {"role": "user", "content": text}]}


def in_parts(text: str) -> list[dict[str, Any]]:
    said = system_and_user(text)["messages"]
    return [{"role": of["role"], "parts": [{"text": of["content"]}]} for of in said]


def message(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def choices(text: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message(text)}]}


def judged(asked: Any) -> str:
    rows = [
        {"sample_id": f"q{n}", "judge": {"name": judge}, "input": asked(f"Who drew map {n}?")}
        | {"output": essay(n)}
        | {"scores": {k: {"score": 1 + (n + len(k)) % 9, "reason": "As asked."} for k in PARTS}}
        for n in range(12)
        for judge in ("judge-mini", "judge-large")
    ]
    return "\n".join(map(json.dumps, rows))


PARTS = ("correctness", "brevity")


def sliders(heads: tuple[str, ...], ends: str = "") -> str:
    """Marks from 0 to 100, of which the columns have fewer and more than fifty different ones."""
    chance = random.Random(7)
    return table(
        [
            {"worker": f"w{n % 5}", "pair_id": f"p{n // 5}", "rewritten": essay(n // 5)}
            | {f"{h}{ends}": chance.randint(0, (100, 100, 40)[at]) for at, h in enumerate(heads)}
            | {"seconds": 20 + (n * 13) % 211}
            for n in range(90)
        ]
    )


METRICS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall")


def checks(names: tuple[str, ...], metrics: tuple[str, ...] = METRICS) -> str:
    return table(
        [
            dict(
                zip(
                    names,
                    (f"r{n}", f"How is lake {n} fed?", f"['Lake {n} has springs.']", essay(n), ""),
                    strict=True,
                )
            )
            | {names[-1]: f"Springs feed lake {n}, and rain."}
            | {m: round((n * (7 + at) % 29) / 29, 4) for at, m in enumerate(metrics)}
            for n in range(24)
        ]
    )


def summaries(source: str, text: str) -> str:
    return table(
        [
            {"item_id": f"n{n}", source: f"{essay(n // 2)} {essay(n // 2)}", text: essay(n)[:60]}
            | {f"{c}_ann{k}": 1 + (n * k + len(c)) % 5 for c in ("coherence", "focus") for k in WHO}
            for n in range(12)
        ]
    )


WHO = (1, 2, 3)
KNOWS = "system: You know all bridges.\n\nuser: "
BOTH = f"{KNOWS}How long is bridge 0?"

TRACE_TABLES: tuple[Stranger, ...] = (
    *(
        Stranger(
            f"tasks {replied}.json", tasks(head, asked, replied, "channel"), "label_studio",
            (18, 2, 9, 1), text=reply(0), prompt="Where is ferry 0 today?",
        )
        for head, asked, replied in (
            ("conversation", "user_message", "bot_reply"),
            ("text", "customer_question", "agent_response"),
            ("dialogue", "Kundenfrage", "Antwort des Bots"),
            ("content", "mensaje_del_cliente", "respuesta"),
        )
    ),
    *(
        Stranger(
            f"traces {at}.json", traces(asked, answered), "long", (120, 3, 40, 3),
            text="Bridge 0 is about 0 hundred metres long.",
            prompt=BOTH if asked is system_and_user else "How long is bridge 0?",
        )
        for at, (asked, answered) in enumerate((
            (system_and_user, message),
            (lambda text: [{"role": "user", "content": text}], choices),
            (lambda text: {"question": text}, lambda text: {"answer": text}),
            (lambda text: {"role": "user", "content": [{"type": "text", "text": text}]}, message),
        ))
    ),
    # Twenty of forty have a person's word besides the evaluator's number.
    Stranger(
        "categories.json", categories(), "long", (60, 3, 40, 2),
        text="Bridge 0 is about 0 hundred metres long.", prompt=BOTH,
    ),
    # Sixty different fractions are five steps.
    Stranger(
        "many traces.json", traces(system_and_user, message, 60), "long", (180, 3, 60, 3),
        text="Bridge 0 is about 0 hundred metres long.", prompt=BOTH,
    ),
    *(
        Stranger(
            f"judged {at}.jsonl", judged(asked), "long", (48, 2, 12, 2),
            text=essay(0), prompt=prompt,
        )
        for at, (asked, prompt) in enumerate((
            (lambda text: [{"role": "user", "content": text}], "Who drew map 0?"),
            (lambda text: system_and_user(text)["messages"], f"{KNOWS}Who drew map 0?"),
            (lambda text: {"contents": in_parts(text)}, f"{KNOWS}Who drew map 0?"),
        ))
    ),
    *(
        Stranger(f"sliders {at}.csv", data, "criteria", (270, 5, 18, 3), text=essay(0))
        for at, data in enumerate((
            sliders(("meaning", "fluency", "simplicity")),
            sliders(("adequacy", "fluency", "style")),
            sliders(("accuracy", "tone", "clarity"), " (0-100)"),
            sliders(("Sinn", "Sprache", "Einfachheit")),
        ))
    ),
    *(
        Stranger(
            f"checks {names[3]}.csv", checks(names, metrics), "dataset", 24, text=essay(0),
            prompt="How is lake 0 fed?", reference="Springs feed lake 0, and rain.",
            labels={m: str(round((7 + at) * 0 / 29, 4)) for at, m in enumerate(metrics)},
        )
        for names, metrics in (
            (("id", "question", "contexts", "answer", "ground_truth"), METRICS),
            (("id", "query", "context", "response", "reference"),
             ("groundedness", "semantic_similarity", "rouge_l")),
        )
    ),
    # The same answer to another question is another item.
    Stranger(
        "repeated answers.csv",
        table(
            [
                {"question": f"How is lake {n} fed?", "contexts": f"['Page {n}.', 'Foot.']"}
                | {"answer": essay(n % 4), "ground_truth": f"Springs feed lake {n}."}
                | {m: round((7 * n + at) % 29 / 29, 4) for at, m in enumerate(METRICS)}
                for n in range(24)
            ]
        ),
        "dataset", 24, text=essay(0), prompt="How is lake 0 fed?",
        labels={m: str(round(at / 29, 4)) for at, m in enumerate(METRICS)},
    ),
    *(
        Stranger(
            f"summaries {source}.csv", summaries(source, text), "wide", (72, 3, 12, 2),
            text=essay(0)[:60], prompt=f"{essay(0)} {essay(0)}",
        )
        for source, text in (
            ("article", "summary"), ("document", "headline"), ("source_text", "simplification"),
            ("Artikel", "Zusammenfassung"), ("transcript", "recap"),
        )
    ),
)  # fmt: skip
