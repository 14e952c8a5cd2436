"""Tables of a seventh stranger's kinds: a person's marks beside texts, scorecards, crossings.

The shapes were met in the wild; the texts are made up here.
"""

from __future__ import annotations

from tests.formats.strangers import Stranger, essay, table

TONES = ("Poor", "Fair", "Good", "Excellent")
WHO = ("Ruth", "Ian")


def _crossed(form: str, n: int) -> dict[str, object]:
    """Marks of two raters on three criteria, one of several words, and a mean of each."""
    criteria = ("Reach", "Sound plan", "Value for money")
    marks = {
        form.format(criterion, rater): 1 + (n * (at + 2) + k) % 7
        for at, criterion in enumerate(criteria)
        for k, rater in enumerate(("R1", "R2"))
    }
    return {**marks, **{f"{criterion} mean": 3.5 for criterion in criteria}}


CROSSED = table(
    [
        {"Ref": f"B24-0{n}", "Applicant": f"Group {n}", "Budget (EUR)": 9000 + 500 * n}
        | {"Summary": essay(n), **_crossed("{} ({})", n)}
        for n in range(8)
    ]
)

SCORECARD_TABLES: tuple[Stranger, ...] = (
    # A criterion of several words and a rater in brackets; the reference, not the name, is the id.
    Stranger(
        "panel.xlsx",
        CROSSED,
        "refused",
        (48, 2, 8, 3),
        maps=(
            "item=Ref submission=Summary raters=R1 raters=R2 criteria=Reach criteria=Sound plan"
            " criteria=Value for money",
        ),
    ),
    # One side of the crossing is enough.
    Stranger(
        "criteria alone.csv",
        CROSSED,
        "wide",
        (48, 2, 8, 3),
        essay(0),
        words=("criteria=Reach,Sound plan,Value for money",),
    ),
    Stranger("raters alone.csv", CROSSED, "wide", (48, 2, 8, 3), essay(0), words=("raters=R1,R2",)),
    # The rater stands in brackets of another script; names keep their own brackets.
    Stranger(
        "hyoka.csv",
        table(
            [
                {"番号": n, "回答": essay(n)}
                | {
                    f"{c}（{r}）": 1 + (n * (k + 2) + m) % 5
                    for k, c in enumerate(("正確さ", "自然さ"))
                    for m, r in enumerate(("田中", "森"))
                }
                for n in range(6)
            ]
        ),
        "refused",
        (24, 2, 6, 2),
        maps=("item=番号 submission=回答 raters=田中 raters=森 criteria=正確さ criteria=自然さ",),
    ),
    Stranger(
        "letters.csv",
        "Name,Letter,HR (Ute),,Boss (Al),\n,,Drive,Style,Drive,Style\n"
        + "".join(
            f'C{n},"{essay(n)}",{1 + n % 5},{1 + n % 4},{1 + n % 3},{2 + n % 4}\n' for n in range(6)
        ),
        "refused",
        (24, 2, 6, 2),
        maps=(
            "item=Name submission=Letter raters=HR (Ute) raters=Boss (Al) criteria=Drive"
            " criteria=Style",
        ),
    ),
    # One person's marks on scales of their own are asked about; the author's stars are none.
    Stranger(
        "triage.csv",
        table(
            [
                {"review_id": f"rv-{n}", "platform": ("iOS", "Android")[n % 2]}
                | {"user_stars": 1 + n % 5, "review": essay(n)}
                | {"severity": ("low", "medium", "high")[n % 3], "actionable": n % 2 == 0}
                | {"note": "triaged by Al"}
                for n in range(9)
            ]
        ),
        "refused",
        maps=("submission=review labels=severity labels=actionable", "submission=review"),
    ),
    # Yes or no alone, or what people are, is left as a note.
    Stranger(
        "background.csv",
        table(
            [
                {"id": n, "text": essay(n), "native": ("yes", "no")[n % 2]}
                | {"age group": ("low", "medium", "high")[n % 3], "page": 1 + n % 4}
                for n in range(9)
            ]
        ),
        "dataset",
        9,
        essay(0),
    ),
    # A percentage computed from the marks is neither a criterion nor an item.
    Stranger(
        "calls.csv",
        table(
            [
                {"Call ref": f"C-{n}", "Agent": "Dee", "Transcript": essay(n)}
                | {"Evaluator": WHO[n % 2], "Greeting": ("Yes", "No")[n % 2]}
                | {"Issue resolved": ("Yes", "No")[n // 2 % 2], "Tone": TONES[n % 4]}
                | {"QA score %": 50 * (1 - n % 2) + 20 * (1 - n // 2 % 2) + 10 * (n % 4)}
                for n in range(12)
            ]
        ),
        "refused",
        (36, 2, 12, 3),
        maps=(
            "item=Call ref submission=Transcript rater=Evaluator criteria=Greeting"
            " criteria=Issue resolved criteria=Tone",
        ),
    ),
    # A reviewer's text is no answer; a worded recommendation beside numbers is.
    Stranger(
        "conference.csv",
        table(
            [
                {"#": 10 + n // 3, "title": f"Lamps {n // 3}", "abstract": essay(n // 3)}
                | {"reviewer": ("A. Bo", "C. Di", "E. Fu")[n % 3], "overall evaluation": n % 5 - 2}
                | {"review text": ("It goes too far.", "I would like to see more of it.")[n % 2]}
                for n in range(12)
            ]
        ),
        "long",
        (12, 3, 4, 1),
        essay(0),
    ),
    Stranger(
        "interviews.csv",
        table(
            [
                {"App ID": f"A{n // 2}", "Interviewer": WHO[n % 2], "Drive (1-5)": 1 + n % 5}
                | {"Style (1-5)": 1 + n % 4}
                | {"Advice": ("Strong no", "No", "Yes", "Strong yes")[n % 4]}
                | {"Scored on": f"2025-04-{10 + n}"}
                for n in range(10)
            ]
        ),
        "criteria",
        (30, 2, 5, 3),
    ),
    # Two texts and one score: nobody can tell which was scored.
    Stranger(
        "drafts.csv",
        table(
            [
                {"writer": f"W{n}", "draft_1": f"The river {n} is long.", "draft_2": essay(n)}
                | {"score": 1 + n * 3 % 8}
                for n in range(8)
            ]
        ),
        "refused",
        maps=("submission=draft_1 labels=score", "submission=draft_2 labels=score"),
    ),
    # Initials, and names with a capital, are the raters of a crossing.
    *(
        Stranger(
            f"{name}.csv",
            table(
                [
                    {"Claim": f"c{n}", "Text": essay(n)}
                    | {
                        form.format(criterion, rater): 1 + (n * (k + 2) + m) % 5
                        for k, criterion in enumerate(criteria)
                        for m, rater in enumerate(raters)
                    }
                    | {"Mean": 2.5}
                    for n in range(8)
                ]
            ),
            "refused",
            (32, 2, 8, 2),
            maps=(
                f"item=Claim submission=Text raters={raters[0]} raters={raters[1]}"
                f" criteria={criteria[0]} criteria={criteria[1]}",
            ),
        )
        for name, form, criteria, raters in (
            ("initials", "{} / {}", ("Truth", "Harm"), ("KB", "LS")),
            ("names", "{}_{}", ("ocena_jezyk", "ocena_styl"), ("Anna", "Piotr")),
        )
    ),
    # Beside a column of raters, C1 to C3 are what they were asked.
    Stranger(
        "redacoes.csv",
        table(
            [
                {"ID": 20250000 + n, "Redação": essay(n), "Corretor": ("Paula", "Rui")[n % 2]}
                | {f"C{k}": 40 * ((n + k) % 6) for k in (1, 2, 3)}
                | {"Nota final": 200}
                for n in range(9)
            ]
        ),
        "refused",
        (27, 2, 9, 3),
        maps=("item=ID submission=Redação rater=Corretor criteria=C1 criteria=C2 criteria=C3",),
    ),
    # A percentage without a total's name; an answer S or N.
    Stranger(
        "chats.csv",
        table(
            [
                {"Chat ID": 3300 + n, "Agent": "Bo", "Chat": essay(n), "QA analyst": WHO[n % 2]}
                | {"Hello (0-2)": n % 3, "Accuracy (0-5)": n % 5, "Upsell (S/N)": "SN"[n // 2 % 2]}
                | {"Percent": 10 * (n % 3 + n % 5)}
                for n in range(12)
            ]
        ),
        "refused",
        (36, 2, 12, 3),
        maps=(
            "item=Chat ID submission=Chat rater=QA analyst criteria=Hello (0-2)"
            " criteria=Accuracy (0-5) criteria=Upsell (S/N)",
        ),
    ),
    # Several words are no rater's name.
    Stranger(
        "pitches.csv",
        table(
            [
                {"Pitch #": n + 1, "Pitch": essay(n), "Market": 1 + n % 5}
                | {"Traction": 1 + n * 3 % 5, "Gut feeling": 1 + n * 2 % 5}
                for n in range(9)
            ]
        ),
        "refused",
        maps=("submission=Pitch labels=Market labels=Traction labels=Gut feeling",),
    ),
    # A text's own number is the item, not the text.
    Stranger(
        "aspects.csv",
        table(
            [
                {"Text no.": 70 + n // 4, "Text": essay(n // 4), "Rater": WHO[n % 2]}
                | {"Aspect": ("Flow", "Ideas")[n // 2 % 2], "Score": 1 + n % 5}
                for n in range(16)
            ]
        ),
        "at once",
        (16, 2, 4, 2),
        maps=("item=Text no. submission=Text rater=Rater criterion=Aspect label=Score",),
    ),
    # Columns of yes and no that do not agree are rather questions than raters.
    Stranger(
        "yes or no.csv",
        table(
            [
                {"nr": n, "klacht": essay(n), "terecht": ("ja", "nee")[n % 2]}
                | {"opgelost": ("ja", "nee")[n // 2 % 2]}
                for n in range(12)
            ]
        ),
        "refused",
        maps=(
            "submission=klacht labels=terecht labels=opgelost",
            "item=nr submission=klacht raters=terecht raters=opgelost",
        ),
    ),
)
