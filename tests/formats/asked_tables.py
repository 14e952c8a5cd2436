"""Tables that say what was asked, judged and why in columns of their own, and a person's reading.

The shapes are those of schools, forms, survey programs and programs that judge; the texts are made
up here.
"""

from __future__ import annotations

from tests.formats.strangers import Rows, Stranger, essay, lines, table

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


ASKED_TABLES: tuple[Stranger, ...] = (
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
)
