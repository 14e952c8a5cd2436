"""Studies and quizzes: sources beside translations, conditions, reviews, vignettes, questions.

The shapes were met in files of strangers; the texts are made up here.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from tests.formats.strangers import Stranger, essay, short, source, table

STATEMENTS = ("Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree")
HOW = "How far do you agree?"


def vignette(n: int) -> str:
    return f"The guide tells visitor {n}: 'We will look for lamp {n} before the bridge closes.'"


def _survey(numbers: Sequence[int], asks: Callable[[int, int], str]) -> str:
    """Four people on questions of two parts, with the three headings of Qualtrics."""
    columns = [f"Q{n}_{part}" for n in numbers for part in (1, 2)]
    asked = [asks(int(c[1]), int(c[-1])) for c in columns]
    rows = [
        [f"R_{who}", *(STATEMENTS[(who + at) % 4] for at in range(len(columns)))]
        for who in range(4)
    ]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["ResponseId", *columns])
    writer.writerow(["Response ID", *asked])
    writer.writerow([f'{{"ImportId":"{c}"}}' for c in ("_recordId", *columns)])
    writer.writerows(rows)
    return out.getvalue()


STUDY_TABLES: tuple[Stranger, ...] = (
    # Four sentences by two systems, two people, two criteria: the source is what was asked.
    Stranger(
        "sources.csv",
        table(
            [
                {"sent_id": f"s{n}", "system": system, "source": source(n)}
                | {"output": essay(2 * n + at), "annotator": who, "dimension": criterion}
                | {"score": 1 + (n + at + len(who)) % 5}
                for n in range(4)
                for at, system in enumerate(("one", "two"))
                for who in ("kim", "leah")
                for criterion in ("fluency", "adequacy")
            ]
        ),
        "long",
        (32, 2, 8, 2),
        essay(0),
        prompt=source(0).strip(),
    ),
    # A column names the criteria, so nothing can be the only one.
    Stranger(
        "only.csv",
        table(
            [
                {"item": n, "rater": who, "criterion": criterion, "score": 1 + (n + len(who)) % 3}
                for n in range(4)
                for who in ("kim", "leah")
                for criterion in ("tone", "depth")
            ]
        ),
        "refused",
        words=("only=tone",),
        words_in_refusal=("names the only criterion, but 'criterion' names the criteria",),
    ),
    # Ids repeat in four conditions: an item is both, and each of five people has a column.
    Stranger(
        "conditions.csv",
        table(
            [
                {"item": n, "cond": cond, "sentence": essay(2 * n + at)}
                | {f"P0{who}": 1 + (n * who + at) % 7 for who in range(1, 6)}
                for n in range(1, 5)
                for at, cond in enumerate(("plain", "island"))
            ]
        ),
        "refused",
        (40, 5, 8, 1),
        maps=(
            "item=item item=cond system=cond submission=sentence raters=P01 raters=P02 raters=P03"
            " raters=P04 raters=P05",
        ),
    ),
    # Three reviewers each of five papers: what they write of a paper is not what is judged.
    Stranger(
        "reviews.csv",
        table(
            [
                {"Submission Number": n, "Reviewer": f"Reviewer_{n}{who}"}
                | {"Rating": f"{3 + (n + who) % 4}: fair", "Soundness": 1 + (n + who) % 4}
                | {"Summary": essay(3 * n + who)}
                for n in range(5)
                for who in range(3)
            ]
        ),
        "at once",
        (30, 15, 5, 2),
        maps=(
            "item=Submission Number rater=Reviewer criteria=Rating criteria=Soundness"
            " reason=Summary",
        ),
    ),
    # Four people, three vignettes, two statements: 24 answers, and the vignettes are the texts.
    Stranger(
        "vignettes.csv",
        _survey(
            (3, 4, 5),
            lambda n, part: f"{vignette(n)} - {HOW} - The answer is {('warm', 'clear')[part - 1]}.",
        ),
        "at once",
        (24, 4, 3, 2),
        maps=(
            "rater=ResponseId items=Q3 items=Q4 items=Q5 criteria=The answer is warm"
            " criteria=The answer is clear",
        ),
    ),
    # An instruction is no text: its questions differ only in the name of what they are about.
    Stranger(
        "posters.csv",
        _survey(
            (2, 3, 4),
            lambda n, part: (
                f"Please look at poster {'KLM'[n - 2]} and tell us how far you agree. - "
                f"It is {('loud', 'crowded')[part - 1]}"
            ),
        ),
        "at once",
        (24, 4, 3, 2),
        maps=(
            "rater=ResponseId items=poster K items=poster L items=poster M criteria=It is loud"
            " criteria=It is crowded",
        ),
    ),
    # The other way round: two statements about each of two replies, which stand behind them.
    Stranger(
        "replies.csv",
        _survey(
            (3, 4),
            lambda n, part: (
                f"This reply is {('polite', 'helpful')[n - 3]}. - {short(part)} It opens in May."
            ),
        ),
        "criteria",
        (16, 4, 2, 2),
        f"{short(1)} It opens in May.",
    ),
    # Written answers to three questions: which of them is judged is asked.
    Stranger(
        "quiz.csv",
        table(
            [
                {"Nr.": n, "Q1 What is sand?": essay(n % 5), "Q2 Why does it move?": essay(n % 4)}
                | {"Q3 Where does it stay?": essay(n % 3)}
                for n in range(10)
            ]
        ),
        "refused",
        maps=(
            "submission=Q1 What is sand?",
            "submission=Q2 Why does it move?",
            "submission=Q3 Where does it stay?",
        ),
    ),
)
