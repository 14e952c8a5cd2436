"""Gradebooks and mark sheets of people with two names, readings on several days, two sides.

The shapes are those of learning platforms and clinics; names and marks are made up here.
"""

from __future__ import annotations

from tests.formats.strangers import Stranger, table

NAMES = [(last, first) for last in ("Moss", "Lake", "Orr") for first in ("Ann", "Bo", "Cy")]
#: Marks out of 20 by two teachers; the fourth column is half of their sum.
MARKS = [(8 + n % 5, 9 + n // 2) for n in range(9)]

SAID = ("Gut gelungen.", "Die Maße fehlen.", "")
BEWERTUNGEN = [
    {"Vorname": first, "Nachname": last, "ID-Nummer": 4100 + n, "Institution": ""}
    | {"Aufgabe: Skizze (Punkte)": f"{7 + n},50", "Aufgabe: Skizze (Feedback)": SAID[n % 3]}
    | {"Aufgabe: Modell (Punkte)": f"{19 - n},25" if n else "-"}
    | {"Aufgabe: Modell (Feedback)": SAID[n % 2], "Test: Holz (Punkte)": f"{n * 3},00"}
    | {"Kurs gesamt (Punkte)": f"{30 + n},75", "Kurs gesamt (Prozentsatz)": f"{50 + n},10 %"}
    for n, (last, first) in enumerate(NAMES)
]

GRADEBOOK_TABLES: tuple[Stranger, ...] = (
    # Nine pupils, two platform columns, six marks of the second: 9 + 6 votes by one rater.
    Stranger(
        "platform.csv",
        table(
            [
                {"Last Name": last, "First Name": first, "Username": f"u{n}"}
                | {"Essay Draft [Total Pts: 40 Score] |301": 20 + n}
                | {"Essay Final [Total Pts: 60 Score] |302": 30 + n if n % 3 else "Needs Grading"}
                | {"Weighted Total [Total Pts: up to 100 Percentage] |300": ""}
                for n, (last, first) in enumerate(NAMES)
            ]
        ),
        "criteria",
        (15, 1, 9, 2),
    ),
    # Two teachers in brackets, 9 marks each; a pupil is both names together.
    Stranger(
        "notes.csv",
        table(
            [
                {"Nom": last, "Prénom": first, "Note /20 (M. Durand)": a}
                | {"Note /20 (Mme Petit)": b, "Écart": abs(a - b), "Note finale": (a + b) / 2}
                for (last, first), (a, b) in zip(NAMES, MARKS, strict=True)
            ]
        ),
        "at once",
        (18, 2, 9, 1),
        maps=("item=Nom item=Prénom raters=M. Durand raters=Mme Petit criteria=Note /20",),
    ),
    # Three studies, two readers, two sessions, two criteria: 24 answers; a session is a repetition.
    Stranger(
        "readings.csv",
        table(
            [
                {"StudyUID": f"1.2.{study}", "Reader": reader, "Session": session}
                | {"BIRADS": ("2", "3", "4A")[(study + session + at) % 3]}
                | {"Density": "abc"[(study + at) % 3]}
                for study in range(3)
                for at, reader in enumerate(("R1", "R2"))
                for session in (1, 2)
            ]
        ),
        "at once",
        (24, 4, 3, 2),
        maps=("item=StudyUID rater=Reader replicate=Session criteria=BIRADS criteria=Density",),
    ),
    # Eight comparisons by three judges: L and R are the sides that the headings name.
    Stranger(
        "sides.csv",
        table(
            [
                {"left_script": f"S{n % 4}", "right_script": f"S{4 + n // 2}"}
                | {f"judge {j}": "LR="[(n + j) % 3] for j in (1, 2, 3)}
                for n in range(8)
            ]
        ),
        "pairs",
        (24, 3, 8, 1),
    ),
    # Moodle: numbers beside feedback; seven of nine marks, a dash for none.
    Stranger(
        "moodle.csv",
        table(
            [
                {"First name": first, "Surname": last, "ID number": 1000 + n}
                | {"Assignment: Essay (Real)": f"{40 + n}.00" if n % 4 else "-"}
                | {"Assignment: Essay (Feedback)": "See me.", "Quiz: Week 3 (Real)": f"{n}.00"}
                | {"Course total (Real)": f"{50 + n}.00"}
                for n, (last, first) in enumerate(NAMES)
            ]
        ),
        "criteria",
        (15, 1, 9, 2),
    ),
    # The same in German: points and remarks of two tasks are no raters; 9 + 8 + 9 marks.
    Stranger(
        "bewertungen.csv",
        table(BEWERTUNGEN),
        "at once",
        (26, 1, 9, 3),
        maps=(
            "item=ID-Nummer criteria=Aufgabe: Skizze (Punkte) criteria=Aufgabe: Modell (Punkte)"
            " criteria=Test: Holz (Punkte)",
        ),
    ),
    # Rows above the pupils say when work was due and how many points it has; 9 + 8 + 9 marks.
    Stranger(
        "classroom.csv",
        table(
            [
                {"Last Name": "", "First Name": head, "Draft": draft, "Essay final": final}
                | {"Talk": talk}
                for head, draft, final, talk in (
                    ("Date", "2026-01-10", "2026-02-10", "2026-02-20"),
                    ("Points", 20, 40, 10),
                )
            ]
            + [
                {"Last Name": last, "First Name": first, "Draft": 11 + n}
                | {"Essay final": 30 + n if n else "", "Talk": 1 + n}
                for n, (last, first) in enumerate(NAMES)
            ]
        ),
        "at once",
        (26, 1, 9, 3),
        maps=("item=Last Name item=First Name criteria=Draft criteria=Essay final criteria=Talk",),
    ),
    # pandas writes whole numbers with gaps as 3.0: three people on one scale, 20 answers.
    Stranger(
        "gaps.csv",
        table(
            [
                {"doc_id": f"d{n}", "ann_1": 1 + n % 4, "ann_2": 1 + n * n % 5}
                | {"ann_3": f"{1 + n % 3}.0" if n % 4 else ""}
                for n in range(8)
            ],
            "pandas",
        ),
        "wide",
        (22, 3, 8, 1),
    ),
    # Ten people on six groups: who answers names their own group, and the one they rate.
    Stranger(
        "pares.csv",
        table(
            [
                {"Tu nombre": f"Persona {who}", "¿A qué grupo evalúas?": f"Grupo {group}"}
                | {"Claridad [1-5]": 1 + (who + group) % 5, "Contenido [1-5]": 1 + who % 5}
                | {"Comentarios": f"Bien, {who}."}
                for group in range(6)
                for who in range(group % 2, 10, 2)
            ]
        ),
        "criteria",
        (60, 10, 6, 2),
    ),
    # The mean of the class is no pupil; a pupil is both names: 9 pupils, two exercises.
    Stranger(
        "devoir.csv",
        table(
            [
                {"Nom": last, "Prénom": first, "Ex. 1 (/4)": n % 5, "Ex. 2 (/6)": 1 + n % 6}
                for n, (last, first) in enumerate(NAMES)
            ]
            + [
                {"Nom": "Moyenne de la classe", "Prénom": "", "Ex. 1 (/4)": "1,67"}
                | {"Ex. 2 (/6)": "3,22"}
            ]
        ),
        "refused",
        (18, 1, 9, 2),
        maps=("item=Nom item=Prénom criteria=Ex. 1 (/4) criteria=Ex. 2 (/6)",),
    ),
    # Three reviewers of four applications; a row after each block is their mean, and no reviewer.
    Stranger(
        "panel.csv",
        table(
            [
                {"App. no.": f"A{n}", "Reviewer": who}
                | {"Approach": 1 + (n + at) % 4, "Team": 2 + (n * at) % 3}
                if who != "Panel mean"
                else {"App. no.": f"A{n}", "Reviewer": who}
                | {"Approach": f"{sum(1 + (n + at) % 4 for at in range(3)) / 3:.2f}"}
                | {"Team": f"{sum(2 + (n * at) % 3 for at in range(3)) / 3:.2f}"}
                for n in range(4)
                for at, who in enumerate(("Suzuki", "Varga", "Hartley", "Panel mean"))
            ]
        ),
        "criteria",
        (24, 3, 4, 2),
    ),
    # One pupil presented nothing: NP in every column is no level, 7 pupils on three criteria.
    Stranger(
        "exposicion.csv",
        table(
            [
                {"Alumno/a": f"Persona {n}"}
                | {
                    name: "NP" if n == 4 else ("Insuficiente", "Bueno", "Excelente")[(n + at) % 3]
                    for at, name in enumerate(("Contenido", "Organización", "Uso del tiempo"))
                }
                for n in range(8)
            ]
        ),
        "refused",
        (21, 1, 8, 3),
        maps=("item=Alumno/a criteria=Contenido criteria=Organización criteria=Uso del tiempo",),
    ),
)
