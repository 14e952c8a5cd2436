"""Tables of qualitative coding, gradebooks, forms, translation and reviews, as tools write them.

The shapes are the tools' own; the words are made up here. What is right was written down first.
"""

from __future__ import annotations

from tests.formats.strangers import Stranger, essay, lines, short, table

CODES = ("Barriers / Cost", "Barriers / Voice", "Support / Family")
BOTH = [(n, k, who) for n in range(6) for k, who in enumerate(("Hanna", "Jonas"))]
CHOICES = ("A is much better", "A is slightly better", "About the same", "B is much better")


def coded(n: int, k: int) -> str:
    """The code of a segment by one of two coders, who agree on two of three."""
    return CODES[(n + (k and n % 3 == 0)) % 3]


FIELD_TABLES: tuple[Stranger, ...] = (
    # MAXQDA: a segment is a document and where it begins and ends, and each coder gives it a code.
    Stranger(
        "segments by coders.xlsx",
        table(
            [
                {"Color": "●", "Comment": "", "Document group": "Talks"}
                | {"Document name": f"Talk {n // 2}", "Code": coded(n, k), "Begin": n, "End": n}
                | {"Weight score": 0, "Segment": essay(n), "Created by": who}
                | {"Created": f"3/1{n}/2024 10:0{k}", "Area": 80 + n, "Coverage %": 7.5 + n}
                for n, k, who in BOTH
            ]
        ),
        "at once",
        (12, 2, 6, 1),
        maps=(
            "item=Document name item=Begin item=End submission=Segment rater=Created by label=Code"
            " reason=Comment",
        ),
    ),
    # A weight is that of a segment, and neither a rater's nor an id.
    Stranger(
        "weights.csv",
        table(
            [
                {"Document": f"Talk {n // 2}", "Code": coded(n, k), "Segment": essay(n)}
                | {"Weight": 50 * (n % 3), "Coder": who}
                for n, k, who in BOTH
            ]
        ),
        "at once",
        (12, 2, 6, 1),
        maps=("item=Segment rater=Coder label=Code",),
    ),
    # One coder's segments are texts with a label, and no rubric of codes and weights.
    Stranger(
        "segments.xlsx",
        table(
            [
                {"Document name": f"Talk {n // 2}", "Code": coded(n, 0), "Begin": n, "End": n}
                | {"Weight score": 0, "Segment": essay(n), "Area": 80 + n}
                for n in range(6)
            ]
        ),
        "dataset",
        6,
        essay(0),
        labels={"Code": CODES[0]},
    ),
    # ATLAS.ti: quotations and their codes.
    Stranger(
        "quotations.xlsx",
        table(
            [
                {"Number": n, "ID": f"{n // 2}:{n % 2}", "Document": f"Talk {n // 2}"}
                | {"Quotation Content": short(n), "Codes": CODES[n % 3], "Created by": "Hanna"}
                for n in range(6)
            ]
        ),
        "dataset",
        6,
        short(0),
        labels={"Codes": CODES[0]},
    ),
    # A gradebook: what a mark is out of is part of its heading; the weighted total is no mark.
    Stranger(
        "gc_course.csv",
        table(
            [
                {"Last Name": f"Abara{n}", "Username": f"ab{n}", "Student ID": f"90{n}12"}
                | {"Last Access": f"2024-05-0{n + 1} 10:11:12"}
                | {"Weighted Total [Total Pts: 100 Percentage] |55441": 60.5 + n}
                | {f"Essay {e} [Total Pts: 20 Score] |5544{e}": 12 + (n * e) % 7 for e in (1, 2)}
                for n in range(5)
            ]
        ),
        "at once",
        (10, 1, 5, 2),
        maps=(
            "item=Student ID criteria=Essay 1 [Total Pts: 20 Score] |55441"
            " criteria=Essay 2 [Total Pts: 20 Score] |55442",
        ),
    ),
    # A survey with two rows of headings: a question over its parts.
    Stranger(
        "two rows.csv",
        "Respondent ID,Start Date,How well does each summary say it?,,,Anything else?\n"
        ",,Summary A,Summary B,Summary C,Open-Ended Response\n"
        + "".join(
            f"{1180 + n},03/0{n + 1}/2024 09:00:00,"
            + ",".join(("Well", "Badly", "So so")[n * k % 3] for k in range(3))
            + f",{'No' * (n % 2)}\n"
            for n in range(5)
        ),
        "refused",
        (15, 5, 3, 1),
        maps=(
            "rater=Respondent ID items=How well does each summary say it? [Summary A]"
            " items=How well does each summary say it? [Summary B]"
            " items=How well does each summary say it? [Summary C]",
        ),
    ),
    # A form: who is asked, and which essay is graded.
    Stranger(
        "form.csv",
        table(
            [
                {
                    "Timestamp": f"3/{n + 1}/2024 14:0{k}:10",
                    "Email Address": f"{who}@school.example",
                }
                | {"Which essay are you grading?": f"Essay {n}"}
                | {"Clarity [1-5]": 1 + (n + k) % 5, "Use of evidence [1-5]": 1 + (2 * n + k) % 5}
                | {"Comments for the writer": "Say why." * (k == 1)}
                for n in range(4)
                for k, who in enumerate(("mila", "tom", "ivy"))
            ]
        ),
        "at once",
        (24, 3, 4, 2),
        maps=(
            "item=Which essay are you grading? rater=Email Address criteria=Clarity [1-5]"
            " criteria=Use of evidence [1-5] reason=Comments for the writer",
        ),
    ),
    # Moodle's sheet for marking offline: dates in words are no texts.
    Stranger(
        "offline.csv",
        table(
            [
                {"Identifier": f"Participant 30{n}", "Full name": f"Pupil {n}"}
                | {"Status": "Submitted for grading", "Grade": f"{60 + 5 * (n % 4)}.00"}
                | {"Last modified (submission)": f"Monday, {n + 1} April 2024, 10:0{n} AM"}
                | {"Online text": essay(n), "Feedback comments": ("Good.", "Too short.")[n % 2]}
                for n in range(6)
            ]
        ),
        "dataset",
        6,
        essay(0),
        labels={"Grade": "60.00"},
    ),
    # Direct assessment of translations: times are no ends of a span.
    Stranger(
        "direct.csv",
        table(
            [
                {"annotator": f"engdeu0a0{k}", "system": system, "segmentId": 100 + n}
                | {"itemType": "TGT", "score": 20 + (17 * n + 31 * k) % 80, "docId": f"n{n // 2}"}
                | {"startTime": 1700000000.5 + 60 * n + k, "endTime": 1700000030.5 + 60 * n + k}
                for n in range(4)
                for system in ("ONLINE-A", "ONLINE-B")
                for k in range(2)
            ]
        ),
        "at once",
        (16, 2, 8, 1),
        maps=("item=segmentId item=system system=system rater=annotator label=score",),
    ),
    # How much better an answer is, in words; each system writes one side.
    Stranger(
        "side by side.csv",
        table(
            [
                {"prompt_id": f"p{n}", "prompt": f"Why is lamp {n} dark?", "model_a": "nova"}
                | {"model_b": "quill", "response_a": essay(n), "response_b": essay(n + 9)}
                | {"annotator_id": f"ann{k}", "choice": CHOICES[(n + k) % 4]}
                for n in range(4)
                for k in range(2)
            ]
        ),
        "pairs",
        (8, 2, 4, 1),
    ),
    # Notes above the heading of a sheet.
    Stranger(
        "panel.xlsx",
        "Peer review of proposals,,,,,\nExported: 12.3.2024,,,,,\n"
        + table(
            [
                {"Proposal No.": f"P-{n}", "Reviewer": who, "Originality (1-5)": 1 + (n + k) % 5}
                | {"Feasibility (1-5)": 1 + (3 * n + k) % 5}
                | {"Total": 2 + (n + k) % 5 + (3 * n + k) % 5, "Remarks": "Too tight." * (k == 0)}
                for n in range(4)
                for k, who in enumerate(("R. Okafor", "S. Lind", "T. Haas"))
            ]
        ),
        "at once",
        (24, 3, 4, 2),
        maps=(
            "item=Proposal No. rater=Reviewer criteria=Originality (1-5)"
            " criteria=Feasibility (1-5) reason=Remarks",
        ),
    ),
    # R's write.csv of a crossed design, with a missing answer.
    Stranger(
        "crossed rows.csv",
        table(
            [
                {"Subj": f"S{k}", "Stim": f"stim_{n}", "Judge": f"J{k}"}
                | {"resp": ("accept", "reject", "NA")[2 if (n, k) == (2, 1) else (n + k) % 2]}
                | {"rt": 400 + 31 * n + k}
                for n in range(4)
                for k in range(3)
            ],
            "r",
        ),
        "at once",
        (11, 3, 4, 1),
        maps=("item=Stim rater=Judge label=resp",),
    ),
    # A data frame whose columns have two levels: a criterion over its raters.
    *(
        Stranger(
            f"levels.{ending}",
            ",clarity,clarity,accuracy,accuracy\n,ann,bob,ann,bob\nitem,,,,\n"
            + "".join(
                f"i{n},{1 + n % 4},{1 + (n + 1) % 4},{1 + n % 3},{1 + 2 * n % 3}\n"
                for n in range(5)
            ),
            "wide",
            (20, 2, 5, 2),
        )
        for ending in ("csv", "xlsx")
    ),
    # What is asked of a review is a criterion.
    Stranger(
        "aspects.csv",
        table(
            [
                {"review_id": f"r{n}", "review": essay(n), "aspect": asked, "annotator": who}
                | {"sentiment": ("good", "bad", "mixed")[(n + k + len(asked)) % 3]}
                for n in range(3)
                for asked in ("food", "staff")
                for k, who in enumerate(("ana", "ben"))
            ]
        ),
        "at once",
        (12, 2, 3, 2),
        maps=("item=review_id submission=review rater=annotator criterion=aspect label=sentiment",),
    ),
    # Reviews of papers: their words are reasons, and no texts of one item each.
    Stranger(
        "reviews of papers.csv",
        table(
            [
                {"#": 3 * n + k, "Submission #": 30 + n, "Title": short(n), "PC member": who}
                | {"Overall evaluation": (-2, -1, 0, 1, 2)[(n + 2 * k) % 5]}
                | {"Reviewer's confidence": 1 + (n + k) % 5, "Review text": essay(3 * n + k)}
                for n in range(4)
                for k, who in enumerate(("Ines Galo", "Kofi Abe", "Lea Ott"))
            ]
        ),
        "at once",
        (12, 3, 4, 1),
        maps=(
            "item=Submission # submission=Title rater=PC member label=Overall evaluation"
            " reason=Review text",
        ),
    ),
    # An answer is an id and a model; the judge's explanation is no text of it.
    Stranger(
        "answers of models.csv",
        table(
            [
                {"question_id": f"q{n}", "model": model, "judge_model": judge}
                | {"score": 1 + (n + len(model) + len(judge)) % 5, "explanation": short(n)}
                for n in range(3)
                for model in ("nova", "quill")
                for judge in ("gpt-4o", "claude-3")
            ]
        ),
        "long",
        (12, 2, 6, 1),
    ),
    # Two ids name an item; what both readers agreed on is no third.
    Stranger(
        "lesions.csv",
        table(
            [
                {"patient_id": f"P{n // 2}", "lesion": n % 2 + 1, "reader1_grade": 1 + n % 4}
                | {"reader2_grade": 1 + (n + n % 3) % 4, "consensus": 1 + n % 4}
                for n in range(8)
            ]
        ),
        "at once",
        (16, 2, 8, 1),
        maps=("item=patient_id item=lesion raters=reader1_grade raters=reader2_grade",),
    ),
    # Brightspace: points in angle brackets.
    Stranger(
        "grades.csv",
        table(
            [
                {"OrgDefinedId": f"#90{n}", "Username": f"ab{n}"}
                | {
                    f"Essay {e} Points Grade <Numeric MaxPoints:20>": 12 + (e + 1) * n % 7
                    for e in range(2)
                }
                | {"Calculated Final Grade Numerator": 24 + n, "End-of-Line Indicator": "#"}
                for n in range(5)
            ]
        ),
        "at once",
        (10, 1, 5, 2),
        maps=(
            "item=OrgDefinedId criteria=Essay 0 Points Grade <Numeric MaxPoints:20>"
            " criteria=Essay 1 Points Grade <Numeric MaxPoints:20>",
        ),
    ),
    # Numbered parts beside their sum are criteria.
    Stranger(
        "klasse.xlsx",
        table(
            [
                {"Schüler": f"S{n}", "Aufgabe 1": 2 + n % 4, "Aufgabe 2": 3 + 2 * n % 5}
                | {"Summe": 5 + n % 4 + 2 * n % 5, "Note": 1 + n % 5}
                for n in range(6)
            ]
        ),
        "at once",
        (12, 1, 6, 2),
        maps=("item=Schüler criteria=Aufgabe 1 criteria=Aufgabe 2",),
    ),
    # People of a crowd who met the stimuli in another order each.
    Stranger(
        "crowd.csv",
        table(
            [
                {"PROLIFIC_PID": f"5f{k}ab", "trial_index": at, "stimulus_id": f"s{n}"}
                | {
                    "stimulus_text": essay(n),
                    "naturalness": 1 + (n + k) % 7,
                    "rt": 800 + 13 * n + k,
                }
                for k, order in enumerate(((0, 1, 2, 3), (2, 0, 3, 1), (3, 2, 1, 0)))
                for at, n in enumerate(order)
            ]
        ),
        "at once",
        (12, 3, 4, 1),
        maps=("item=stimulus_id submission=stimulus_text rater=PROLIFIC_PID label=naturalness",),
    ),
    # A criterion to which each peer always gave the same is still one.
    Stranger(
        "peers.csv",
        table(
            [
                {"Submission Author": f"Student {n}", "Peer Reviewer": f"Student {(n + k) % 4}"}
                | {"Thesis": 1 + (n + k) % 4, "Evidence": 1 + (2 * n + k) % 4}
                for n in range(4)
                for k in (1, 2)
            ]
        ),
        "criteria",
        (16, 4, 4, 2),
    ),
    # A song in three conditions, heard by everybody: both name the item, and neither a criterion.
    Stranger(
        "conditions.csv",
        table(
            [
                {"listener": f"L{k}", "song": song, "condition": heard}
                | {"rating_score": 20 + (17 * k + len(song + heard) * 9) % 80, "rating_time": 3 + k}
                for k in range(3)
                for song in ("waltz", "blues")
                for heard in ("ref", "low", "mid")
            ]
        ),
        "refused",
        (18, 3, 6, 1),
        maps=("item=song item=condition system=condition rater=listener label=rating_score",),
    ),
    # Scores in an object, by a judge a row.
    Stranger(
        "nested.jsonl",
        lines(
            [
                {"sample_id": f"s{n}", "output": essay(n), "judge": judge}
                | {"scores": {"tone": 1 + n % 3, "depth": 1 + (n + len(judge)) % 3}}
                for n in range(4)
                for judge in ("gpt-4o", "mistral")
            ]
        ),
        "at once",
        (16, 2, 4, 2),
        maps=(
            "item=sample_id submission=output rater=judge criteria=scores.tone"
            " criteria=scores.depth",
        ),
    ),
    # Models that judge, a metric a row.
    Stranger(
        "llm judge.jsonl",
        lines(
            [
                {"sample_id": f"s{n}", "question": f"Why {n}?", "response": essay(n)}
                | {"grader_model": judge, "metric": metric, "value": 1 + (n + len(metric)) % 5}
                for n in range(4)
                for judge in ("gpt-4o", "mistral")
                for metric in ("faithful", "concise")
            ]
        ),
        "long",
        (16, 2, 4, 2),
        essay(0),
    ),
    # Two answers a row in German, and the better one by its side.
    Stranger(
        "duelle.csv",
        table(
            [
                {"Vergleich": n, "Text links": essay(n), "Text rechts": short(n)}
                | {"Bewerter": f"B{n % 3}", "Besser (L/R/=)": "LR="[n % 3]}
                for n in range(6)
            ]
        ),
        "pairs",
        (6, 3, 6, 1),
        words=("first=Text links", "second=Text rechts", "label=Besser (L/R/=)"),
    ),
    # A grader's long comment next to short answers, which are what was graded; q is no rater.
    Stranger(
        "short answers.csv",
        table(
            [
                {"student": f"st{n}", "q": f"Q{k}", "answer": ("Paris", "42", "cells")[(n + k) % 3]}
                | {"score": (n + k) % 3, "grader_comment": essay(10 * n + k)}
                for n in range(4)
                for k in range(3)
            ]
        ),
        "refused",
        maps=("submission=answer labels=score",),
    ),
    # Which of two answers is better is never read from headings that do not say so.
    Stranger(
        "duels.csv",
        table([{"one": essay(n), "two": short(n), "won": "LR"[n % 2]} for n in range(6)]),
        "refused",
        words=("first=one", "second=two"),
        words_in_refusal=("has no column that says which answer is better",),
    ),
)
