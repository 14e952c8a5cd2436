"""Small tables in the shapes of tools and published data sets, and what a person reads in them.

The shapes are the writers' own (pandas' `to_json`, R's `write.csv`, Mechanical Turk, doccano, the
columns of data sets on the hub); the texts are made up here.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

Rows = list[dict[str, Any]]


class Stranger(NamedTuple):
    """A file and what it is: items (the first text, its labels), votes (counts), or refused.

    ``figure`` is of items their number, of votes (votes, raters, items, criteria). ``maps`` are
    the words that the refusal proposes, each of which must pass; the first gives the figure. A
    file of the kind "at once" is read as its only map says, without a question.
    """

    name: str
    data: str
    kind: str
    figure: Any = None
    text: str = ""
    labels: Mapping[str, str] = MappingProxyType({})
    maps: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    words_in_refusal: tuple[str, ...] = ()
    reference: str = ""
    prompt: str = ""


def table(rows: Rows, index: str | None = None, head: str = "") -> str:
    """A CSV, with an index as pandas (from 0) or R (from 1, quoted) writes it."""
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if index == "r" else csv.QUOTE_MINIMAL
    writer = csv.writer(out, quoting=quoting, lineterminator="\n")
    heads = list(rows[0])
    writer.writerow([head, *heads] if index else heads)
    for at, row in enumerate(rows):
        cells = [row[name] for name in heads]
        writer.writerow([at + (index == "r"), *cells] if index else cells)
    return out.getvalue()


def lines(rows: Rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def essay(n: int) -> str:
    return f"Essay {n}: rivers carry sand to the sea, and what they leave behind becomes a plain."


def source(n: int) -> str:
    return f"Article {n}. " + "The council met on Monday and spoke at length about the bridge. " * 6


def short(n: int) -> str:
    return f"The council of town {n} spoke about its bridge."


ESSAYS: Rows = [{"essay_id": f"e{n}", "essay": essay(n)} for n in range(4)]
TRAITS = ("cohesion", "syntax", "vocabulary", "phraseology", "grammar", "conventions")
STORIES: Rows = [
    {
        "Story ID": story,
        "Prompt": f"A tale of lamp {story}.",
        "Human": essay(90 + story),
        "Story": essay(story),
        "Model": ("GPT", "Human")[story % 2],
        "Relevance": 1 + (story + who) % 5,
        "Coherence": 1 + (story + 2 * who) % 5,
        "Empathy": 2,
        "Surprise": 1 + who % 3,
        "Engagement": 3 + who % 2,
        "Complexity": 4,
        "Worker ID": f"W{who}",
        "Assignment ID": f"A{story}{who}",
        "Work time in seconds": 100 + 7 * story + who,
    }
    for story in range(4)
    for who in range(3)
]
SCORES = ("helpfulness", "correctness", "coherence", "complexity", "verbosity")
STEERED: Rows = [
    {"prompt": f"How do I mend lamp {n}?", "response": essay(n)}
    | {name: (n + at) % 5 for at, name in enumerate(SCORES)}
    for n in range(5)
]
ASAP: Rows = [
    {
        "essay_id": n,
        "essay_set": 1,
        "essay": essay(n),
        "rater1_domain1": 2 + n % 3,
        "rater2_domain1": 2 + n % 2,
        "domain1_score": 4 + n % 2,
    }
    for n in range(6)
]
MTURK: Rows = [
    {
        "HITId": f"H{n // 2}",
        "HITTypeId": "T1",
        "Title": "Rate a reply",
        "AssignmentId": f"A{n}",
        "WorkerId": f"W{n % 2}",
        "AssignmentStatus": "Approved",
        "WorkTimeInSeconds": 31 + n,
        "Input.reply": essay(n // 2),
        "Answer.fluency": 1 + n % 4,
        "Answer.quality": 2 + n % 3,
    }
    for n in range(8)
]
MODELS = ("alpha", "beta")
PAIRED: Rows = [
    {
        "instruction": f"Mend lamp {n}.",
        "output_1": essay(n),
        "output_2": essay(n + 10),
        "preference": 1 + n % 2,
    }
    for n in range(4)
]
JUDGED: Rows = [
    {
        "question_id": 81 + n,
        "model_a": "alpha",
        "model_b": "beta",
        "winner": ("model_a", "tie (inconsistent)", "model_b")[n % 3],
        "judge": f"expert_{n % 2}",
        "conversation_a": [
            {"role": "user", "content": "Hi?"},
            {"role": "assistant", "content": "A."},
        ],
        "conversation_b": [
            {"role": "user", "content": "Hi?"},
            {"role": "assistant", "content": "B."},
        ],
        "turn": 1,
    }
    for n in range(6)
]
BOTH: Rows = [
    {"id": n, "prompt": f"Mend lamp {n}.", "response_A": essay(n), "response_B": essay(n + 10)}
    for n in range(4)
]


def split(rows: Rows, **more: Any) -> dict[str, Any]:
    return {"columns": list(rows[0]), "data": [list(row.values()) for row in rows], **more}


def by_column(rows: Rows) -> dict[str, dict[str, Any]]:
    return {name: {str(at): row[name] for at, row in enumerate(rows)} for name in rows[0]}


ORIENTED: dict[str, Any] = {
    "records": ESSAYS,
    "split": split(ESSAYS, index=list(range(4))),
    "tight": split(ESSAYS, index=list(range(4)), index_names=[None], column_names=[None]),
    "columns": by_column(ESSAYS),
    "index": {str(at): row for at, row in enumerate(ESSAYS)},
    "table": {
        "schema": {"fields": [{"name": "index", "type": "integer"}], "primaryKey": ["index"]},
        "data": [{"index": at, **row} for at, row in enumerate(ESSAYS)],
    },
    "values": [list(row.values()) for row in ESSAYS],
}

STRANGERS: tuple[Stranger, ...] = (
    # pandas and R: four essays, whatever the layout.
    *(
        Stranger(f"pandas {name}.json", json.dumps(value), "dataset", 4, essay(0))
        for name, value in ORIENTED.items()
    ),
    Stranger("to_csv.csv", table(ESSAYS, "pandas"), "dataset", 4, essay(0)),
    Stranger("to_csv twice.csv", table(ESSAYS, "pandas", "Unnamed: 0"), "dataset", 4, essay(0)),
    Stranger("write.csv.csv", table(ESSAYS, "r"), "dataset", 4, essay(0)),
    Stranger(
        "wandb.table.json", json.dumps(split(ESSAYS, ncols=2, nrows=4)), "dataset", 4, essay(0)
    ),
    Stranger(
        "mlflow.json",
        json.dumps(split(STEERED)),
        "dataset",
        5,
        essay(0),
        {name: str(at) for at, name in enumerate(SCORES)},
    ),
    Stranger(
        "by id.json",
        json.dumps({f"k{n}": {"response": essay(n), "prompt": "Why?"} for n in range(3)}),
        "dataset",
        3,
        essay(0),
    ),
    Stranger(
        "examples.json", json.dumps({"version": "1", "examples": ESSAYS}), "dataset", 4, essay(0)
    ),
    Stranger(
        "datasets server.json",
        json.dumps(
            {
                "features": [],
                "rows": [
                    {"row_idx": n, "row": row, "truncated_cells": []}
                    for n, row in enumerate(ESSAYS)
                ],
            }
        ),
        "dataset",
        4,
        essay(0),
    ),
    # Labels that came along.
    Stranger(
        "helpsteer.jsonl",
        lines(STEERED),
        "dataset",
        5,
        essay(0),
        {name: str(at) for at, name in enumerate(SCORES)},
    ),
    Stranger(
        "ellipse.csv",
        table(
            [
                {"text_id": f"x{n}", "full_text": essay(n)}
                | {t: 1 + (n + at) % 9 / 2 for at, t in enumerate(TRAITS)}
                for n in range(6)
            ]
        ),
        "dataset",
        6,
        essay(0),
        {t: f"{1 + at % 9 / 2}" for at, t in enumerate(TRAITS)},
    ),
    Stranger(
        "doccano.jsonl",
        lines([{"id": n, "text": essay(n), "label": [("good", "poor")[n % 2]]} for n in range(4)]),
        "dataset",
        4,
        essay(0),
        {"label": "good"},
    ),
    Stranger(
        "scores.jsonl",
        lines(
            [
                {"id": n, "response": essay(n), "scores": {"depth": n % 3, "tone": 1}}
                for n in range(4)
            ]
        ),
        "dataset",
        4,
        essay(0),
        {"depth": "0", "tone": "1"},
    ),
    Stranger(
        "scores flat.csv",
        table(
            [
                {"response": essay(n), "scores.depth": n % 3, "scores.wit": 1 + n % 2}
                for n in range(4)
            ]
        ),
        "dataset",
        4,
        essay(0),
        {"depth": "0", "wit": "1"},
    ),
    # The text, and not what stands beside it.
    Stranger(
        "decision.csv",
        table(
            [{"id": n, "answer": ("accept", "reject")[n % 2], "text": essay(n)} for n in range(6)]
        ),
        "dataset",
        6,
        essay(0),
    ),
    Stranger(
        "summeval.jsonl",
        lines([{"id": n, "text": source(n), "summary": short(n)} for n in range(4)]),
        "dataset",
        4,
        short(0),
    ),
    Stranger(
        "cnn.csv",
        table([{"article": source(n), "summary": short(n)} for n in range(4)]),
        "dataset",
        4,
        short(0),
    ),
    Stranger(
        "unknown names.csv",
        table([{"nr": n, "artikel": source(n), "kurz": short(n) + " Viel."} for n in range(4)]),
        "refused",
        maps=("submission=artikel", "submission=kurz"),
    ),
    Stranger(
        "two answers.csv",
        table([{"id": n, "response": essay(n), "output": short(n)} for n in range(4)]),
        "refused",
        maps=("submission=response", "submission=output"),
    ),
    # Votes: a criterion a column.
    Stranger("hanna.csv", table(STORIES), "criteria", (72, 3, 4, 6), essay(0)),
    Stranger("mturk.csv", table(MTURK), "criteria", (16, 2, 4, 2), essay(0)),
    Stranger(
        "criteria by map.csv",
        table([{"doc": n // 2, "by": f"p{n % 2}", "q one": n % 3, "q two": 1} for n in range(6)]),
        "criteria",
        (12, 2, 3, 2),
        words=("item=doc", "rater=by", "criteria=q one,q two"),
    ),
    Stranger(
        "criteria repeated.csv",
        table([{"doc": n // 2, "by": f"p{n % 2}", "a": n % 3, "b": 1} for n in range(6)]),
        "criteria",
        (12, 2, 3, 2),
        words=("item=doc", "rater=by", "criteria=a", "criteria=b"),
    ),
    # Votes: a rater a column; a resolved score is no rater, and a score beside raters neither.
    Stranger("asap.csv", table(ASAP), "wide", (12, 2, 6, 1), essay(0)),
    Stranger(
        "resolved.csv",
        table(
            [
                {
                    "id": n,
                    "rater1": 1 + n % 3,
                    "rater2": 1 + n % 2,
                    "resolved": 1 + n % 3,
                    "mean_score": 2,
                }
                for n in range(6)
            ]
        ),
        "wide",
        (12, 2, 6, 1),
    ),
    Stranger(
        "to_csv votes.csv",
        table(
            [{"item": f"i{n // 2}", "rater": f"r{n % 2}", "label": n % 3} for n in range(6)],
            "pandas",
        ),
        "long",
        (6, 2, 3, 1),
    ),
    Stranger(
        "raters by essays.csv",
        table([{"id": n, "essay": essay(n), "Ann": n % 3, "Bob": n % 2} for n in range(6)]),
        "refused",
        maps=(
            "item=id submission=essay raters=Ann raters=Bob",
            "submission=essay labels=Ann labels=Bob",
        ),
    ),
    # Pairs become contests.
    Stranger("alpaca_eval.json", json.dumps(PAIRED), "pairs", (4, 1, 4, 1)),
    Stranger(
        "chosen.jsonl",
        lines(
            [{"prompt": f"Lamp {n}?", "chosen": essay(n), "rejected": short(n)} for n in range(3)]
        ),
        "pairs",
        (3, 1, 3, 1),
    ),
    Stranger(
        "chosen chats.jsonl",
        lines(
            [
                {
                    side: [
                        {"role": "user", "content": "Hi?"},
                        {"role": "assistant", "content": text},
                    ]
                    for side, text in (("chosen", essay(n)), ("rejected", short(n)))
                }
                for n in range(3)
            ]
        ),
        "pairs",
        (3, 1, 3, 1),
    ),
    Stranger(
        "a over b.csv",
        table(
            [
                row | {"judgment": ("A>B", "A=B", "B>>A", "[[A>>B]]")[n]}
                for n, row in enumerate(BOTH)
            ]
        ),
        "pairs",
        (4, 1, 4, 1),
    ),
    Stranger(
        "judges.csv",
        table(
            [
                row | {"judge_1": "AB"[n % 2], "judge_2": ("A", "tie")[n % 2]}
                for n, row in enumerate(BOTH)
            ]
        ),
        "pairs",
        (8, 2, 4, 1),
    ),
    Stranger("mt_bench_human.jsonl", lines(JUDGED), "arena", (6, 2, 6, 1)),
    Stranger(
        "pairs by map.csv",
        table(
            [
                {
                    "q": f"Lamp {n}?",
                    "links": essay(n),
                    "rechts": short(n),
                    "besser": ("links", "rechts", "gleich")[n % 3],
                }
                for n in range(6)
            ]
        ),
        "pairs",
        (6, 1, 6, 1),
        words=("prompt=q", "first=links", "second=rechts", "preference=besser", "word:gleich=Tie"),
    ),
    # As people write them: other names, other shapes, no id.
    Stranger(
        "klasse.csv",
        table([{"Name": f"S{n}", "Aufsatz": essay(n), "Note": 1 + n % 5} for n in range(8)]),
        "dataset",
        8,
        essay(0),
    ),
    Stranger(
        "interview.csv",
        table(
            [
                {"who": f"P{n}", "How was it?": essay(n), "And then?": essay(n + 20)}
                for n in range(5)
            ]
        ),
        "refused",
        maps=("submission=How was it?", "submission=And then?"),
    ),
    Stranger(
        "yes and why.csv",
        table(
            [{"id": n, "response": ("Yes", "No")[n % 2], "explanation": essay(n)} for n in range(8)]
        ),
        "refused",
        maps=("submission=response", "submission=explanation"),
    ),
    Stranger(
        "support.csv",
        table(
            [
                {"ticket": f"T{n}", "customer_message": essay(n), "agent_reply": essay(n + 20)}
                for n in range(5)
            ]
        ),
        "dataset",
        5,
        text=essay(20),
        prompt=essay(0),
    ),
    Stranger(
        "nested answers.json",
        json.dumps(
            [
                {"qid": n, "question": f"Why lamp {n}?", "answer": {"text": essay(n)}}
                for n in range(3)
            ]
        ),
        "refused",
        maps=("submission=answer.text",),
    ),
    Stranger(
        "lists.json",
        json.dumps({"text": [essay(n) for n in range(3)], "label": [0, 1, 0]}),
        "dataset",
        3,
        essay(0),
        {"label": "0"},
    ),
    Stranger("strings.json", json.dumps([essay(0), essay(1)]), "dataset", 2, essay(0)),
    Stranger(
        "nli.jsonl",
        lines(
            [
                {
                    "premise": source(n),
                    "hypothesis": short(n),
                    "label": ("neutral", "entailment")[n % 2],
                }
                for n in range(6)
            ]
        ),
        "dataset",
        6,
        short(0),
        {"label": "neutral"},
    ),
    Stranger(
        "rag.json",
        json.dumps(
            [
                {
                    "user_input": f"Lamp {n}?",
                    "retrieved_contexts": [source(n)],
                    "response": short(n),
                    "reference": short(n + 9),
                }
                for n in range(4)
            ]
        ),
        "dataset",
        4,
        short(0),
    ),
    Stranger(
        "yes and no labels.jsonl",
        lines([{"text": essay(n), "label": n % 2 == 0} for n in range(4)]),
        "dataset",
        4,
        essay(0),
        {"label": "yes"},
    ),
    # Votes of people and models, with and without an id.
    Stranger(
        "models and people.csv",
        table(
            [
                {
                    "sample_id": n,
                    "question": f"Lamp {n}?",
                    "answer": essay(n),
                    "gpt-4o": 1 + n % 5,
                    "claude-3": 1 + n % 4,
                    "human": 2 + n % 3,
                }
                for n in range(8)
            ]
        ),
        "wide",
        (24, 3, 8, 1),
        essay(0),
    ),
    Stranger(
        "coders.csv",
        table([{"unit": n, "coder_A": n % 2, "coder_B": (n + 1) % 2} for n in range(8)]),
        "wide",
        (16, 2, 8, 1),
    ),
    Stranger(
        "coders by quote.csv",
        table(
            [
                {"Zitat": essay(n), "Kodierer 1": "AB"[n % 2], "Kodierer 2": "AB"[n % 3 % 2]}
                for n in range(8)
            ]
        ),
        "wide",
        (16, 2, 8, 1),
        essay(0),
    ),
    Stranger(
        "gold and model.csv",
        table(
            [
                {
                    "sentence": short(n),
                    "gold": ("pos", "neg")[n % 2],
                    "bert": ("pos", "neg")[n % 3 % 2],
                }
                for n in range(9)
            ]
        ),
        "wide",
        (9, 1, 9, 1),
        short(0),
        {"rating": "pos"},
    ),
    Stranger(
        "grid of raters.csv",
        table(
            [
                {
                    "id": n,
                    "r1_clarity": 1 + n % 5,
                    "r1_depth": 1 + n % 3,
                    "r2_clarity": 1 + n % 4,
                    "r2_depth": 2,
                }
                for n in range(8)
            ]
        ),
        "wide",
        (32, 2, 8, 2),
    ),
    Stranger(
        "majority.csv",
        table(
            [
                {
                    "id": n,
                    "annotator_1": "xy"[n % 2],
                    "annotator_2": "xy"[n % 3 % 2],
                    "majority": "x",
                }
                for n in range(8)
            ]
        ),
        "wide",
        (16, 2, 8, 1),
    ),
    Stranger(
        "sure raters.csv",
        table(
            [
                {
                    "item_id": n // 2,
                    "annotator": f"a{n % 2}",
                    "rating": 1 + n % 5,
                    "confidence": 1 + n % 5,
                }
                for n in range(8)
            ]
        ),
        "long",
        (8, 2, 4, 1),
    ),
    Stranger(
        "text and annotator.csv",
        table(
            [
                {"text": essay(n // 2), "annotator": f"a{n % 2}", "label": ("good", "poor")[n % 2]}
                for n in range(8)
            ]
        ),
        "long",
        (8, 2, 4, 1),
        essay(0),
    ),
    Stranger(
        "criteria of a text.csv",
        table(
            [
                {
                    "text": essay(n // 2),
                    "annotator": f"a{n % 2}",
                    "fluency": 1 + n % 5,
                    "adequacy": 1 + (n + 1) % 5,
                }
                for n in range(8)
            ]
        ),
        "criteria",
        (16, 2, 4, 2),
        essay(0),
    ),
    Stranger(
        "reviews of papers.csv",
        table(
            [
                {
                    "paper_id": n // 3,
                    "reviewer": f"rev{n % 3}",
                    "soundness": 1 + n % 4,
                    "novelty": 1 + (n + 1) % 4,
                    "confidence": 1 + n % 5,
                }
                for n in range(12)
            ]
        ),
        "criteria",
        (24, 3, 4, 2),
    ),
    Stranger(
        "urteile.csv",
        table(
            [
                {"Beitrag": f"b{n // 2}", "Person": f"p{n % 2}", "Urteil": ("ja", "nein")[n % 2]}
                for n in range(8)
            ]
        ),
        "long",
        (8, 2, 4, 1),
        words=("item=Beitrag", "rater=Person", "label=Urteil"),
    ),
    Stranger(
        "kriterien eines raters.csv",
        table(
            [
                {"ID": n, "Text": essay(n), "Wortwahl": 1 + n % 5, "Satzbau": 1 + (n + 1) % 5}
                for n in range(8)
            ]
        ),
        "refused",
        maps=(
            "item=ID submission=Text raters=Wortwahl raters=Satzbau",
            "submission=Text labels=Wortwahl labels=Satzbau",
        ),
    ),
    # Preferences that say nothing by themselves are refused: 0 and 1, and a scale.
    Stranger(
        "shp.jsonl",
        lines(
            [
                {"post_id": n, "human_ref_A": essay(n), "human_ref_B": short(n), "labels": n % 2}
                for n in range(6)
            ]
        ),
        "refused",
    ),
    Stranger(
        "how much better.csv",
        table(
            [
                {
                    "prompt": f"Lamp {n}?",
                    "answer_1": essay(n),
                    "answer_2": short(n),
                    "preference": 1 + n % 5,
                }
                for n in range(6)
            ]
        ),
        "refused",
    ),
    Stranger(
        "helpsteer3.jsonl",
        lines(
            [
                {
                    "context": [{"role": "user", "content": "Hi?"}],
                    "response1": essay(n),
                    "response2": short(n),
                    "overall_preference": (-2, 1, 0, 3)[n % 4],
                }
                for n in range(8)
            ]
        ),
        "pairs",
        (8, 1, 8, 1),
    ),
    Stranger(
        "named models.csv",
        table(
            [
                {
                    "model_a": "x",
                    "model_b": "y",
                    "answer_a": essay(n),
                    "answer_b": short(n),
                    "winner": ("x", "y", "tie")[n % 3],
                }
                for n in range(6)
            ]
        ),
        "pairs",
        (6, 1, 6, 1),
    ),
    # Repeated and doubled words of a person.
    Stranger(
        "twice.csv", table(ESSAYS), "refused", words=("submission=essay", "submission=essay_id")
    ),
    Stranger(
        "konsens.csv",
        table(
            [
                {
                    "Fall": f"F{n}",
                    "Rater 1": "ab"[n % 2],
                    "Rater 2": "ab"[n % 3 % 2],
                    "Konsens": "a",
                }
                for n in range(8)
            ]
        ),
        "wide",
        (16, 2, 8, 1),
    ),
    Stranger(
        "traits of raters.csv",
        table(
            [
                {
                    "essay_id": n,
                    "essay_set": 1 + n % 2,
                    "essay": essay(n),
                    "rater1_trait1": n % 3,
                    "rater1_trait2": n % 3,
                    "rater2_trait1": (n + 1) % 3,
                    "rater2_trait2": n % 2,
                }
                for n in range(8)
            ]
        ),
        "wide",
        (32, 2, 8, 2),
        essay(0),
    ),
    Stranger(
        "evaluators.jsonl",
        lines(
            [
                {
                    "conv_id": n // 2,
                    "transcript": essay(n // 2),
                    "evaluator": f"e{n % 2}",
                    "overall": 1 + n % 5,
                }
                for n in range(8)
            ]
        ),
        "criteria",
        (8, 2, 4, 1),
    ),
    Stranger(
        "coders as rows.csv",
        table(
            [
                {"coder": who, **{f"u{n}": (n + at) % 3 for n in range(8)}}
                for at, who in enumerate(("ann", "bob", "cem"))
            ]
        ),
        "refused",
    ),
    Stranger(
        "rows of systems.csv",
        table(
            [
                {
                    "id": f"d{n // 3}",
                    "system": f"m{n % 3}",
                    "summary": short(n),
                    "expert_a": 1 + n % 5,
                    "expert_b": 1 + n % 4,
                }
                for n in range(9)
            ]
        ),
        "refused",
    ),
    Stranger(
        "grader and gold.csv",
        table(
            [
                {
                    "Question": "Why does a lamp burn, in short?",
                    "Answer": short(n),
                    "Grader1": n % 3,
                    "Grader2": (n + 1) % 3,
                    "Gold": n % 3,
                }
                for n in range(9)
            ]
        ),
        "wide",
        (18, 2, 9, 1),
        short(0),
        {"rating": "0"},
    ),
    Stranger(
        "left and right.csv",
        table(
            [
                {
                    "pair": n // 2,
                    "annotator": f"p{n % 2}",
                    "left_text": essay(n // 2),
                    "right_text": essay(n // 2 + 20),
                    "choice": ("left", "right")[n % 2],
                }
                for n in range(8)
            ]
        ),
        "pairs",
        (8, 2, 4, 1),
    ),
    # An answer and a model's answer: either may be what is judged.
    Stranger(
        "model answers.csv",
        table(
            [
                {
                    "question": f"Why lamp {n}?",
                    "model_answer": essay(n),
                    "answer": essay(n + 9),
                    "marks": n % 4,
                }
                for n in range(8)
            ]
        ),
        "refused",
        maps=("submission=model_answer", "submission=answer"),
    ),
    Stranger(
        "statements.csv",
        table(
            [
                {
                    "id": n,
                    "statement": essay(n),
                    "rater_1": ("yes", "no")[n % 2],
                    "rater_2": ("yes", "no")[n % 3 % 2],
                }
                for n in range(8)
            ]
        ),
        "wide",
        (16, 2, 8, 1),
        essay(0),
    ),
)
