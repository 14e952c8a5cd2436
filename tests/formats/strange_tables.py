"""More tables of strangers: workbooks of raters, ids that name no text, grids and counts.

The shapes were met in the wild; the texts are made up here.
"""

from __future__ import annotations

from tests.formats.strangers import Stranger, essay, short, table

#: A text and what three people or models said of it, as people head their columns.
RATED: tuple[tuple[str, ...], ...] = (
    ("Rater 1", "Rater 2", "Rater 3"),
    ("GPT 4", "Claude 3", "Human 1"),
    ("Kodierer 1", "Kodierer 2", "Kodierer 3"),
)
WORDS = ("good", "poor")

GRID = [
    {"item_id": f"i{n}", "question": f"Why lamp {n}?", "answer": essay(n)}
    | {"kim_clarity": 1 + n % 4, "kim_accuracy": 1 + (n + 1) % 4}
    | {"lee_clarity": 1 + n % 3, "lee_accuracy": 1 + (n + 2) % 4}
    for n in range(6)
]

STRANGE_TABLES: tuple[Stranger, ...] = (
    # Headings of a word and a number are raters, where their cells repeat each other.
    *(
        Stranger(
            f"{heads[0]}.xlsx",
            table(
                [
                    {head: f"T{n}", "Text": essay(n)}
                    | {rater: WORDS[n % (at + 2) % 2] for at, rater in enumerate(heads)}
                    for n in range(8)
                ]
            ),
            "wide",
            (24, 3, 8, 1),
            essay(0),
        )
        for head, heads in zip(("id", "Nr", "Name"), RATED, strict=True)
    ),
    Stranger(
        "two answers of a number.xlsx",
        table(
            [
                {
                    "ID": n,
                    "Prompt": f"Lamp {n}?",
                    "Response 1": essay(n),
                    "Response 2": essay(n + 9),
                }
                | {"Preferred": 1 + n % 2}
                for n in range(4)
            ]
        ),
        "pairs",
        (4, 1, 4, 1),
    ),
    Stranger(
        "said to be votes.xlsx",
        table(
            [
                {"Aspect": f"T{n}", "Good (2)": WORDS[n % 2], "Poor (0)": WORDS[n % 3 % 2]}
                for n in range(6)
            ]
        ),
        "wide",
        (12, 2, 6, 1),
        words=("item=Aspect", "raters=Good (2)", "raters=Poor (0)"),
    ),
    # The index of a filtered or shuffled frame is no criterion and no rater.
    *(
        Stranger(
            f"filtered {head or 'no heading'}.csv",
            table(
                [
                    {head: at, "doc_id": f"d{n // 2}", "summary": short(n // 2)}
                    | {"annotator": f"p{n % 2}", "coherence": 1 + n % 5, "fluency": 1 + n % 4}
                    for n, at in enumerate(places)
                ]
            ),
            "criteria",
            (16, 2, 4, 2),
            short(0),
        )
        for head, places in (
            ("", (3, 4, 7, 8, 11, 15, 21, 22)),
            ("Unnamed: 0", (3, 4, 7, 8, 11, 15, 21, 22)),
            ("Unnamed: 0.1", (7, 3, 22, 8, 11, 4, 21, 15)),
        )
    ),
    Stranger(
        "filtered readers.csv",
        table(
            [
                {"Unnamed: 0.1": n, "Unnamed: 0": 3 + 2 * n, "uid": f"u{n}", "summary": essay(n)}
                | {"kim": 1 + n % 3, "lee": 1 + n % 2}
                for n in range(6)
            ]
        ),
        "refused",
        maps=(
            "item=uid submission=summary raters=kim raters=lee",
            "submission=summary labels=kim labels=lee",
        ),
    ),
    Stranger(
        "readers and their number.csv",
        table(
            [
                {"Unnamed: 0": n, "uid": f"u{n}", "summary": essay(n), "r1": 1 + n % 3}
                | {"r2": 1 + n % 2, "mean": 1.5, "n": 2}
                for n in range(6)
            ]
        ),
        "wide",
        (12, 2, 6, 1),
        essay(0),
    ),
    # An id that two systems answer: the item is both. A document of several texts is no item.
    Stranger(
        "id and system.csv",
        table(
            [
                {"doc_id": f"d{n // 4}", "model": ("x", "y")[n // 2 % 2], "summary": short(n // 2)}
                | {"annotator": f"p{n % 2}", "coherence": 1 + n % 5, "fluency": 1 + n % 4}
                for n in range(12)
            ]
        ),
        "criteria",
        (24, 2, 6, 2),
        short(0),
    ),
    Stranger(
        "answers of systems.csv",
        table(
            [
                {"item": f"d{n // 4}", "system": ("x", "y")[n // 2 % 2], "output": short(n // 2)}
                | {"rater": f"p{n % 2}", "score": 1 + n % 5}
                for n in range(12)
            ]
        ),
        "long",
        (12, 2, 6, 1),
        short(0),
    ),
    Stranger(
        "ranks.csv",
        table(
            [
                {"prompt_id": f"p{n // 3}", "system": "xyz"[n % 3], "output": essay(n)}
                | {"rank_kim": 1 + n % 3, "rank_lee": 1 + (n + 1) % 3}
                for n in range(9)
            ]
        ),
        "wide",
        (18, 2, 9, 1),
        essay(0),
        words=("item=prompt_id", "raters=rank_kim,rank_lee"),
    ),
    Stranger(
        "segments.csv",
        table(
            [
                {"system": ("x", "y")[n // 6], "doc": "news", "seg_id": n // 2 % 3}
                | {"source": essay(n // 2 % 3), "target": short(n // 2)}
                | {"rater": f"p{n % 2}", "score": 40 + 7 * n % 50}
                for n in range(12)
            ]
        ),
        "at once",
        (12, 2, 6, 1),
        maps=(
            "item=seg_id item=system system=system submission=target prompt=source rater=rater"
            " label=score",
        ),
    ),
    Stranger(
        "one id, many texts.csv",
        table(
            [
                {"id": f"d{n // 4}", "response": short(n // 2), "rater": f"p{n % 2}"}
                | {"label": WORDS[n % 3 % 2]}
                for n in range(12)
            ]
        ),
        "at once",
        (12, 2, 6, 1),
        maps=("item=response rater=rater label=label",),
    ),
    # Two names by two words: raters by criteria, or four labels of a text. Which, only people know.
    Stranger(
        "kim and lee.csv",
        table(GRID),
        "refused",
        maps=(
            "item=item_id submission=answer raters=kim raters=lee"
            " criteria=clarity criteria=accuracy",
            "submission=answer labels=kim_clarity labels=kim_accuracy labels=lee_clarity"
            " labels=lee_accuracy",
        ),
    ),
    Stranger(
        "kim and lee said.csv",
        table(GRID),
        "wide",
        (24, 2, 6, 2),
        essay(0),
        words=("item=item_id", "raters=kim,lee", "criteria=clarity,accuracy"),
    ),
    Stranger(
        "words by names.csv",
        table(
            [
                {"id": f"i{n}", "q1 kim": 1 + n % 3, "q2 kim": 1 + n % 2, "q1 lee": 2}
                | {"q2 lee": 1 + n % 3}
                for n in range(6)
            ]
        ),
        "refused",
    ),
    Stranger(
        "models of versions.csv",
        table(
            [
                {
                    "id": f"i{n}",
                    "gpt_4": n % 2,
                    "gpt_5": n % 3 % 2,
                    "claude_4": 1,
                    "claude_5": n % 2,
                }
                for n in range(6)
            ]
        ),
        "wide",
        (24, 4, 6, 1),
    ),
    # Counts of votes are no votes, and a text counted three times is no three texts.
    Stranger(
        "counted votes.csv",
        table(
            [
                {"item_id": f"i{n // 3}", "text": essay(n // 3)}
                | {"label": ("good", "fair", "poor")[n % 3], "n_votes": (5, 1, 0)[(n + n // 3) % 3]}
                for n in range(12)
            ]
        ),
        "refused",
        words_in_refusal=("n_votes", "a row for each vote"),
    ),
    # Two systems, each with an answer and a score of its own: no two raters, no two criteria.
    Stranger(
        "two systems.csv",
        table(
            [
                {"question_id": n, "question": f"Why lamp {n}?", "grader": "kim"}
                | {"alpha_answer": essay(n), "beta_answer": short(n)}
                | {"alpha_score": 3 + n % 3, "beta_score": 1 + n % 5}
                for n in range(6)
            ]
        ),
        "long",
        (12, 1, 12, 1),
        essay(0),
    ),
    Stranger(
        "scores of answers.csv",
        table(
            [
                {"id": n, "answer_1": essay(n), "answer_2": short(n)}
                | {"score_1": 3 + n % 3, "score_2": 1 + n % 5}
                for n in range(6)
            ]
        ),
        "dataset",
        12,
        essay(0),
        {"score": "3"},
    ),
    # What people said of a metric's question is no note: ask.
    Stranger(
        "metric and people.csv",
        table(
            [
                {"question": f"Why lamp {n}?", "answer": essay(n), "ground_truth": short(n)}
                | {"faithfulness": n % 5 / 4, "human_faithful": ("yes", "no")[n % 2]}
                for n in range(6)
            ]
        ),
        "refused",
        maps=(
            "submission=answer labels=faithfulness",
            "submission=answer labels=human_faithful",
        ),
    ),
    Stranger(
        "ground truth.csv",
        table(
            [
                {"question": f"Why lamp {n}?", "answer": essay(n), "ground_truth": short(n)}
                for n in range(4)
            ]
        ),
        "dataset",
        4,
        essay(0),
        reference=short(0),
    ),
    # Headings in other languages: not known, but what repeats over what is proposed.
    Stranger(
        "notes.csv",
        table(
            [
                {"identifiant": f"R{n // 4}", "réponse": essay(n // 4)}
                | {"évaluateur": ("ana", "luc")[n // 2 % 2], "critère": ("clarté", "style")[n % 2]}
                | {"note": 1 + n % 5, "horodatage": f"2026-03-01T10:{n:02}:00"}
                for n in range(12)
            ]
        ),
        "at once",
        (12, 2, 3, 2),
        maps=("item=identifiant submission=réponse rater=évaluateur criterion=critère label=note",),
    ),
    Stranger(
        "encuesta.csv",
        table(
            [
                {"Marca temporal": f"12/03/2026 1{n}:05:33"}
                | {
                    "Correo electrónico": f"p{n % 3}@uni.example",
                    "ID de la respuesta": f"r{n // 3}",
                }
                | {"Es clara": ("Sí", "No")[n % 2], "Es correcta": ("Sí", "No")[n % 3 % 2]}
                for n in range(9)
            ]
        ),
        "refused",
        maps=(
            "item=ID de la respuesta rater=Correo electrónico criteria=Es clara"
            " criteria=Es correcta",
        ),
    ),
    Stranger(
        "avaliador.csv",
        table(
            [
                {
                    "id_resposta": f"r{n // 2}",
                    "texto": essay(n // 2),
                    "avaliador": ("A", "B")[n % 2],
                }
                | {"nota_clareza": 1 + n % 4, "nota_estilo": 1 + n % 5, "nota_total": 2 + n % 7}
                for n in range(8)
            ]
        ),
        "at once",
        (16, 2, 4, 2),
        maps=(
            "item=id_resposta submission=texto rater=avaliador criteria=nota_clareza"
            " criteria=nota_estilo",
        ),
    ),
    Stranger(
        "preferenze.csv",
        table(
            [
                {"domanda": f"Lampada {n // 2}?", "risposta_1": essay(n // 2)}
                | {"risposta_2": short(n // 2), "preferita": ("1", "2", "pari")[n % 3]}
                | {"annotatore": ("marta", "luca")[n % 2]}
                for n in range(8)
            ]
        ),
        "pairs",
        (8, 2, 4, 1),
    ),
    Stranger(
        "strength.csv",
        table(
            [
                {"prompt": f"Lamp {n}?", "response_1": essay(n), "response_2": essay(n + 9)}
                | {"preference_strength": n % 5 - 2}
                for n in range(8)
            ]
        ),
        "refused",
        maps=(
            "first=response_1 second=response_2 prompt=prompt preference=preference_strength"
            " word:-1=A is better word:-2=A is better word:0=Tie word:1=B is better"
            " word:2=B is better",
            "first=response_1 second=response_2 prompt=prompt preference=preference_strength"
            " word:-1=B is better word:-2=B is better word:0=Tie word:1=A is better"
            " word:2=A is better",
        ),
    ),
    # -1 is no other way to write 1: without a word for a tie this is a strength too.
    Stranger(
        "strength without a tie.csv",
        table(
            [
                {"prompt": f"Lamp {n}?", "response_1": essay(n), "response_2": essay(n + 9)}
                | {"preference": (-2, -1, 1, 2)[n % 4]}
                for n in range(8)
            ]
        ),
        "refused",
    ),
    Stranger(
        "no item said.csv",
        table([{"unitate": f"u{n}", "kim": 1 + n % 2, "lee": 1 + n % 3} for n in range(6)]),
        "wide",
        (12, 2, 6, 1),
        words=("raters=kim,lee",),
    ),
    Stranger(
        "ranks unsaid.csv",
        table(
            [
                {"prompt_id": f"p{n // 3}", "system": "xyz"[n % 3], "output": essay(n)}
                | {"rank_kim": 1 + n % 3, "rank_lee": 1 + (n + 1) % 3}
                for n in range(9)
            ]
        ),
        "refused",
        maps=(
            "item=prompt_id item=system system=system submission=output raters=rank_kim"
            " raters=rank_lee",
            "submission=output labels=rank_kim labels=rank_lee",
        ),
    ),
    Stranger(
        "confronti.csv",
        table(
            [
                {"risposta_1": essay(n // 2), "risposta_2": short(n // 2)}
                | {"preferita": ("1", "2", "tie")[n % 3], "annotatore": ("marta", "luca")[n % 2]}
                for n in range(8)
            ]
        ),
        "pairs",
        (8, 2, 4, 1),
    ),
    Stranger(
        "hyouka.csv",
        table(
            [
                {"番号": n + 1, "本文": essay(n), "評価者1": 1 + n % 3, "評価者2": 1 + n % 4}
                | {"平均": (2 + n % 3 + n % 4) / 2}
                for n in range(6)
            ]
        ),
        "wide",
        (12, 2, 6, 1),
        essay(0),
    ),
)
