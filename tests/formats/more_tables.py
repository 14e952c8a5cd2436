"""Tables of crowds, spans, translations, marks, surveys and contests, as their tools write them.

The shapes are the tools' own; the words are made up here.
"""

from __future__ import annotations

import json

from tests.formats.strangers import Stranger, essay, lines, short, table

WHO = ("Ada", "Ben", "Cyd")
TEAM = ("Priya N.", "Tom B.", "Ines G.", "Kofi A.")
CROSSED = [(item, who, 3 * item + who) for item in range(5) for who in range(3)]
FELT = ("Glad", "Sad", "Calm")
SPANS = [("a.txt", 10, 14), ("a.txt", 30, 38), ("b.txt", 10, 14), ("b.txt", 51, 60)]
KINDS = ("Place", "Person")

MORE_TABLES: tuple[Stranger, ...] = (
    # A crowd's full report: an id for each judgment, confidences, what is the same everywhere.
    Stranger(
        "full_report.csv",
        table(
            [
                {"_unit_id": 7000 + item, "_id": 910 + at, "_golden": "false", "_missed": ""}
                | {"_trust": f"0.{81 + who}", "_worker_id": 300 + who, "_country": "ABC"[who]}
                | {"_started_at": f"3/{1 + at}/2024 10:0{who}:11"}
                | {"on_topic": ("yes", "no")[at % 2], "on_topic:confidence": 1 - at % 2 / 4}
                | {"feeling": FELT[at % 3 if item else 0], "feeling:confidence": 1}
                | {"on_topic_gold": "", "post": essay(item)}
                for item, who, at in CROSSED
            ]
        ),
        "at once",
        (30, 3, 5, 2),
        maps=("item=_unit_id submission=post rater=_worker_id criteria=on_topic criteria=feeling",),
    ),
    # Sureness beside an answer, in the table's own language.
    Stranger(
        "sicher.csv",
        table(
            [
                {"Beitrag Nr": item, "Kodierer": WHO[who]}
                | {"Ton": 1 + at % 4, "Ton (Sicherheit)": 1 + at % 3}
                | {"Sinn": 1 + (at * item) % 4, "Sinn (Sicherheit)": 1 + (at + 1) % 3}
                for item, who, at in CROSSED
            ]
        ),
        "at once",
        (30, 3, 5, 2),
        maps=("item=Beitrag Nr rater=Kodierer criteria=Ton criteria=Sinn",),
    ),
    # A span is a document and where it begins and ends; what was settled is no second answer.
    Stranger(
        "spans.tsv",
        table(
            [
                {"doc": doc, "start": start, "end": end, "annotator": who}
                | {"layer": "custom.Span", "label": KINDS[(at + (who == "Ben")) % 2]}
                | {"curated": KINDS[at % 2]}
                for at, (doc, start, end) in enumerate(SPANS)
                for who in WHO
            ]
        ).replace(",", "\t"),
        "at once",
        (12, 3, 4, 1),
        maps=("item=doc item=start item=end rater=annotator label=label",),
    ),
    # The source is the prompt, the translation the text.
    *(
        Stranger(
            f"{name}.csv",
            table(
                [
                    {"Nr": item, source: f"{essay(item)} {short(item)}", target: essay(40 + item)}
                    | {rater: WHO[who], "A": 1 + at % 4, "B": 1 + (at * item) % 4}
                    for item, who, at in CROSSED
                ]
            ),
            "at once",
            (30, 3, 5, 2),
            maps=(
                f"item=Nr submission={target} prompt={source} rater={rater} criteria=A criteria=B",
            ),
        )
        for name, source, target, rater in (
            ("uebersetzung", "Ausgangstext", "Übersetzung", "Gutachter"),
            ("traduction", "Texte original", "Traduction", "Évaluateur"),
            ("perevod", "Исходный текст", "Перевод", "Эксперт"),
            ("yiwen", "原文", "译文", "评审"),
            ("tarjama", "النص الأصلي", "الترجمة", "المقيّم"),
        )
    ),
    # Two texts of which nobody can tell which was judged.
    Stranger(
        "both.csv",
        table(
            [
                {"lot": item, "left side": essay(item), "right side": essay(40 + item)}
                | {"rater": WHO[who], "A": 1 + at % 4, "B": 1 + (at * item) % 4}
                for item, who, at in CROSSED
            ]
        ),
        "refused",
        (30, 3, 5, 2),
        maps=(
            "item=lot submission=left side rater=rater criteria=A criteria=B",
            "item=lot submission=right side rater=rater criteria=A criteria=B",
        ),
        words_in_refusal=("'right side' is a second text and left out",),
    ),
    # A stimulus a person: who answered stands in one row each.
    Stranger(
        "one_each.csv",
        table(
            [
                {"ResponseId": f"R_{at}x", "Progress": 100, "Q1_1": 1 + at % 5}
                | {"Q1_2": 1 + (at + item) % 5, "Q7": 20 + at}
                | {"stim_no": f"s{item}", "stim_words": essay(item)}
                for item, _, at in CROSSED
            ]
        ),
        "refused",
        (30, 15, 5, 2),
        maps=("item=stim_no submission=stim_words rater=ResponseId criteria=Q1_1 criteria=Q1_2",),
    ),
    # Two columns of marks that end alike, beside a text: raters, or labels.
    Stranger(
        "forum.csv",
        table(
            [
                {"Post ID": 400 + n, "Student": f"s{n % 4}", "Post": essay(n)}
                | {"Tutor score": 3 + n % 4, "Chair score": 3 + n * n % 5, "Word count": 15 + n}
                for n in range(7)
            ]
        ),
        "refused",
        (14, 2, 7, 1),
        maps=(
            "item=Post ID submission=Post raters=Tutor score raters=Chair score",
            "submission=Post labels=Tutor score labels=Chair score",
        ),
    ),
    # Marks with decimal commas: who was away has none, and what was settled is no rater.
    Stranger(
        "copies.csv",
        table(
            [
                {"N° copie": f"{100 + n}", "Correcteur 1": f"{8 + n},5", "Correcteur 2": 9 + n}
                | {"Écart": "0,5", "Note définitive": f"{8 + n},75"}
                for n in range(8)
            ]
            + [
                {"N° copie": "108", "Correcteur 1": "ABS", "Correcteur 2": "abs."}
                | {"Écart": "", "Note définitive": "ABS"}
            ]
        ),
        "at once",
        (16, 2, 9, 1),
        maps=("item=N° copie raters=Correcteur 1 raters=Correcteur 2",),
    ),
    *(
        Stranger(
            f"away {nr}.csv",
            table(
                [
                    {"id": f"e{n}", "text": essay(n), "rater": who}
                    | {"A": away if at == 4 else 1 + at % 4, "B": 1 + (at * n) % 5}
                    for n, who, at in CROSSED
                ]
            ),
            "criteria",
            (29, 3, 5, 2),
            essay(0),
        )
        for nr, away in enumerate(("k.A.", "entsch.", "absent", "缺考", "н/я"))
    ),
    # Beside words, such a word is an answer like any other.
    Stranger(
        "present.csv",
        table(
            [
                {"id": f"e{n}", "text": essay(n), "rater": who}
                | {"label": ("absent", "present", "unclear")[at % 3 if n else 0]}
                for n, who, at in CROSSED
            ]
        ),
        "long",
        (15, 3, 5, 1),
        essay(0),
    ),
    # Contests of named systems without their texts.
    Stranger(
        "two voices.csv",
        table(
            [
                {"listener": WHO[who], "clip": f"c{n}"}
                | dict(
                    zip(("voice_a", "voice_b"), ("alto", "bass")[:: 1 - 2 * (n % 2)], strict=True)
                )
                | {"better": ("A", "B", "no preference")[(n + who) % 3], "plays_a": 1, "plays_b": 2}
                for n, who, _ in CROSSED
            ]
        ),
        "at once",
        (15, 3, 5, 1),
        maps=(
            "item=clip first_system=voice_a second_system=voice_b rater=listener preference=better",
        ),
    ),
    # Lists of votes by criterion, and lists of objects.
    Stranger(
        "by_criterion.json",
        json.dumps(
            [
                {"id": f"d{n}", "prompt": short(n), "response": essay(n)}
                | {"annotations": {"Witty": [n % 3, 1, 2], "Apt": [2, n % 2, 1]}}
                for n in range(4)
            ]
        ),
        "refused",
        (24, 3, 4, 2),
        maps=(
            "item=id submission=response prompt=prompt criteria=annotations.Witty"
            " criteria=annotations.Apt",
        ),
    ),
    # A field that is null once is an empty answer.
    Stranger(
        "null once.json",
        json.dumps(
            [
                {"id": f"d{n}", "summary": essay(n)}
                | {
                    "notes": [
                        {"annotator": who, "wit": (n + k) % 3, "flow": None if n + k == 0 else k}
                        for k, who in enumerate(("kim", "lee", "mo"))
                    ]
                }
                for n in range(4)
            ]
        ),
        "criteria",
        (23, 3, 4, 2),
        essay(0),
        words=("rater=notes[].annotator", "criteria=notes[].wit,notes[].flow"),
    ),
    # Each rater gave 1 to n once: ranks, of which the first is the best.
    Stranger(
        "juried.csv",
        table(
            [
                {"Sample": "ABCDEFG"[n], "Bianchi": 1 + n, "Esposito": 1 + (n + 2) % 7}
                | {"Romano": 1 + (n + 5) % 7}
                for n in range(7)
            ]
        ),
        "refused",
        (21, 3, 7, 1),
        maps=("item=Sample raters=Bianchi raters=Esposito raters=Romano only=rank",),
    ),
    # Judges beside a column of criteria: a country is no rater.
    Stranger(
        "components.csv",
        table(
            [
                {
                    "Start No.": n + 1,
                    "Skater": f"SKATER {n}",
                    "NOC": ("JPN", "CAN", "ITA", "FIN")[n],
                }
                | {"Component": part, "Factor": 1.33}
                | {f"J{k}": 7 + ((n + 2 * at + 3 * k) % 7) / 4 for k in range(1, 5)}
                for n in range(4)
                for at, part in enumerate(("Composition", "Skills"))
            ]
        ),
        "refused",
        (32, 4, 4, 2),
        maps=("item=Skater criterion=Component raters=J1 raters=J2 raters=J3 raters=J4",),
    ),
    # "Language" is a criterion where it holds marks.
    Stranger(
        "r1 and r2.csv",
        table(
            [
                {"Pupil": f"U{n}", "R1 Content": n % 5, "R1 Language": (n + 1) % 5}
                | {"R2 Content": (n + 2) % 5, "R2 Language": n % 3}
                for n in range(8)
            ]
        ),
        "refused",
        (32, 2, 8, 2),
        maps=("item=Pupil raters=R1 raters=R2 criteria=Content criteria=Language",),
    ),
    # A judge beside the model whose answer it judged.
    Stranger(
        "judged.csv",
        table(
            [
                {"question": short(n), "model": f"m{m}", "model_answer": essay(10 * n + m)}
                | {"judge_model": who, "score": 1 + (n + m * len(who)) % 5}
                for n in range(4)
                for m in range(2)
                for who in ("big-judge", "little-judge")
            ]
        ),
        "long",
        (16, 2, 8, 1),
        essay(0),
    ),
    # A person a row, and questions that differ in a number.
    Stranger(
        "jokes.csv",
        table(
            [
                {"Submission ID": f"s{n}"}
                | {f"How funny is joke {j}?": 1 + (n * n + j * j * n) % 5 for j in (1, 2, 3)}
                | {"Your age": 20 + n}
                for n in range(7)
            ]
        ),
        "refused",
        (21, 7, 3, 1),
        maps=(
            "rater=Submission ID items=How funny is joke 1? items=How funny is joke 2?"
            " items=How funny is joke 3?",
        ),
    ),
    # Two named systems a row, and the winner's name.
    Stranger(
        "winners.csv",
        table(
            [
                {"prompt_id": n, "left_model": a, "right_model": b}
                | {"winner": (a, b, "tie")[(n + len(who)) % 3], "judge": who}
                for n in range(4)
                for a, b in (("oak", "elm"), ("elm", "ash"))
                for who in ("kim", "lou")
            ]
        ),
        "at once",
        (16, 2, 8, 1),
        maps=(
            "item=prompt_id first_system=left_model second_system=right_model rater=judge"
            " preference=winner",
        ),
    ),
    # Segments of systems' documents.
    Stranger(
        "segments.tsv",
        table(
            [
                {"system": s, "doc": f"d{d}", "seg_id": k, "rater": who}
                | {"source": short(d * 7 + k), "target": f"{s} {essay(d * 7 + k)}"}
                | {"severity": ("Major", "Minor", "None at all")[(d + k + len(who)) % 3]}
                for s in ("ref-a", "mt-b")
                for d in (1, 2)
                for k in (1, 2)
                for who in ("una", "victor")
            ]
        )
        .replace(",", "\t")
        .replace("\t and what", " and what"),
        "at once",
        (16, 2, 8, 1),
        maps=(
            "item=doc item=seg_id item=system system=system submission=target prompt=source"
            " rater=rater label=severity",
        ),
    ),
    # A crowd's pictures, by their addresses.
    Stranger(
        "pictures.tsv",
        table(
            [
                {"INPUT:image": f"https://x.org/{n}.png", "OUTPUT:result": ("да", "нет")[at % 2]}
                | {"GOLDEN:result": "", "ASSIGNMENT:link": f"https://t.org/{at}"}
                | {"ASSIGNMENT:worker_id": f"w{who}", "ASSIGNMENT:status": "APPROVED"}
                for n, who, at in CROSSED
            ]
        ).replace(",", "\t"),
        "at once",
        (15, 3, 5, 1),
        maps=("item=INPUT:image rater=ASSIGNMENT:worker_id label=OUTPUT:result",),
    ),
    # Patients who come again.
    Stranger(
        "wards.csv",
        table(
            [
                {"patient": f"PT{p}", "visit": v, "rater_initials": who}
                | {"CGI": 1 + (p + v + len(who)) % 7, "date": f"2024-0{v}-1{p}"}
                for p in range(4)
                for v in (1, 2)
                for who in ("AB", "CDE")
            ]
        ),
        "at once",
        (16, 2, 8, 1),
        maps=("item=patient item=visit rater=rater_initials label=CGI",),
    ),
    # Initials in brackets are coders.
    Stranger(
        "quotes.csv",
        table(
            [
                {"Quote": essay(n), "Code (SK)": f"C{n % 3}", "Code (MV)": f"C{n % 2}"}
                | {"Final code": f"C{n % 3}"}
                for n in range(7)
            ]
        ),
        "refused",
        (14, 2, 7, 1),
        maps=("submission=Quote raters=Code (SK) raters=Code (MV)",),
    ),
    # How many chose each answer.
    Stranger(
        "tallies.csv",
        table([{"case": n, "yes": n % 4, "no": 3 - n % 4, "unsure": 0} for n in range(8)]),
        "refused",
        words_in_refusal=("count votes",),
    ),
    # What stands beside each rater's answer is no rater, and neither is the most that can be had.
    Stranger(
        "beside.csv",
        table(
            [
                {"id": n, "text": essay(n), "rater_1": 1 + n % 5, "rater_1_conf": 1 + n % 3}
                | {"rater_2": 1 + (n + 1) % 5, "rater_2_conf": 2, "max_points": 5}
                for n in range(6)
            ]
        ),
        "wide",
        (12, 2, 6, 1),
        essay(0),
    ),
    Stranger(
        "beiseite.csv",
        table(
            [
                {"Los": f"L{n}", "Huber": 1 + n % 5, "Huber Dauer": 2 + n % 3}
                | {"Lang": 1 + (n + 1) % 5, "Lang Dauer": 2, "Punkte maximal": 5}
                for n in range(6)
            ]
        ),
        "refused",
        (12, 2, 6, 1),
        maps=("item=Los raters=Huber raters=Lang",),
    ),
    # How long an answer took, and how many liked it, are no answers.
    Stranger(
        "spent.csv",
        table(
            [
                {"claim_id": n, "claim": essay(n), "annotator": WHO[who]}
                | {"verdict": ("Refuted", "Supported")[at % 2], "seconds_spent": 20 + at % 9}
                | {"likes": at % 4}
                for n, who, at in CROSSED
            ]
        ),
        "long",
        (15, 3, 5, 1),
    ),
    Stranger(
        "zeit.csv",
        table(
            [
                {"Fall": n, "Kodierer": WHO[who], "Note": 1 + at % 5}
                | {"Bearbeitungszeit (Sekunden)": 3 + at % 8, "Anzahl Klicks": 1 + at % 3}
                for n, who, at in CROSSED
            ]
        ),
        "at once",
        (15, 3, 5, 1),
        maps=("item=Fall rater=Kodierer label=Note",),
    ),
    Stranger(
        "inns.csv",
        table(
            [
                {"review_id": f"R{n}", "inn": f"Inn {n % 3}", "stars": 1 + n % 5}
                | {"review_text": short(n), "helpful_votes": (n * 3) % 7}
                for n in range(8)
            ]
        ),
        "refused",
        None,
        maps=("submission=review_text labels=stars",),
    ),
    # The number of a trial is not what was heard in it.
    Stranger(
        "sounds.csv",
        table(
            [
                {"Event Index": 1 + 4 * who + at, "participant_id": 9120 + who}
                | {
                    "Trial Number": 1 + at,
                    "audio": f"spk{(at * (1 + 2 * (who % 2)) + who) % 4}.mp3",
                }
                | {"Response": (20 * at + 30 * who) % 101}
                for who in range(4)
                for at in range(4)
            ]
        ),
        "refused",
        (16, 4, 4, 1),
        maps=("item=audio rater=participant_id label=Response",),
    ),
    Stranger(
        "orders.csv",
        table(
            [
                {"Order": 1 + (n + who) % 5, "stimulus": f"clip-{'abcde'[n]}", "Listener": WHO[who]}
                | {"Liking": 1 + (n * n + who) % 5}
                for n in range(5)
                for who in range(3)
            ]
        ),
        "refused",
        (15, 3, 5, 1),
        maps=("item=stimulus rater=Listener label=Liking",),
    ),
    # Members of a team rate each other: the name given first is not the one rated.
    Stranger(
        "teams.csv",
        table(
            [
                {"Timestamp": f"2026/05/1{n % 3} 10:{10 + 4 * a + n}:03 am GMT+1", "Your name": who}
                | {"Team member you are reviewing": whom, "Effort": 1 + (a + n) % 5}
                | {"Punctuality": 1 + (2 * a + n) % 5, "Anything to add?": ""}
                for a, who in enumerate(TEAM)
                for n, whom in enumerate(TEAM)
                if who != whom
            ]
        ),
        "at once",
        (24, 4, 4, 2),
        maps=(
            "item=Team member you are reviewing rater=Your name criteria=Effort"
            " criteria=Punctuality",
        ),
    ),
    Stranger(
        "gruppe.csv",
        table(
            [
                {"Zeitstempel": f"1{a}.05.2026 10:1{n}:03", "Dein Name": who}
                | {"Wen bewertest du?": whom, "Mitarbeit": 1 + (a + n) % 5}
                for a, who in enumerate(TEAM)
                for n, whom in enumerate(TEAM)
                if who != whom
            ]
        ),
        "at once",
        (12, 4, 4, 1),
        maps=("item=Wen bewertest du? rater=Dein Name label=Mitarbeit",),
    ),
    # Marks of examiners below titles, in a workbook: points in headings make no rubric.
    Stranger(
        "station.xlsx",
        "Skills day: station 2\nMorning\n\n"
        + table(
            [
                {"Candidate No": f"00{40 + n}", "Assessor": WHO[who], "Suture (0-5)": at * at % 6}
                | {"Hygiene (0-5)": (at + n) % 6, "Overall": ("Pass", "Fail")[at % 2]}
                for n, who, at in CROSSED
            ]
        ),
        "at once",
        (45, 3, 5, 3),
        maps=(
            "item=Candidate No rater=Assessor criteria=Suture (0-5) criteria=Hygiene (0-5)"
            " criteria=Overall",
        ),
    ),
    # Grades with signs are on the scale of those without.
    Stranger(
        "noten.xlsx",
        "Referate 8b\n\n"
        + table(
            [
                {"Name": f"{['Lena', 'Mehmet', 'Jonas', 'Sofia', 'Ali', 'Nele'][n]} K."}
                | {"Thema": f"{short(n)}", "Fr. Brand": ["2+", "3", "2-", "1", "4+", "3-"][n]}
                | {"Hr. Winter": ["2", "3-", "3+", "1-", "4", "3"][n]}
                | {"Endnote": ["2+", "3", "2-", "1", "4", "3"][n]}
                for n in range(6)
            ]
        ),
        "at once",
        (12, 2, 6, 1),
        maps=("item=Name submission=Thema raters=Fr. Brand raters=Hr. Winter",),
    ),
    # How often two coders gave each pair of codes.
    Stranger(
        "crossed.csv",
        ",B: happy,B: sad,B: neither,Total\n"
        "A: happy,31,2,4,37\nA: sad,3,18,5,26\nA: neither,0,4,22,26\nTotal,34,24,31,89\n",
        "refused",
        words_in_refusal=("count how often",),
    ),
    # Few round levels are a scale, however large they are: a criterion a column, or a rater.
    Stranger(
        "banca.csv",
        table(
            [
                {"Candidatura": f"K-{70 + item}", "Membro": WHO[who]}
                | {f"D{d}": 50 * (2 + (at + d * item) % 9) for d in (1, 2, 3)}
                for item, who, at in CROSSED
            ]
        ),
        "refused",
        (45, 3, 5, 3),
        maps=("item=Candidatura rater=Membro criteria=D1 criteria=D2 criteria=D3",),
    ),
    Stranger(
        "robots.csv",
        table(
            [
                {"Robot": f"bot {n}", "Mr Hale": 100 * (n % 6), "Ms Ito": 100 * ((n + n // 2) % 7)}
                | {"Weight": 812 + 37 * n, "Lengths": 1200 - 90 * n}
                for n in range(6)
            ]
        ),
        "at once",
        (12, 2, 6, 1),
        maps=("item=Robot raters=Mr Hale raters=Ms Ito",),
    ),
    # Students rate their courses, whichever column comes first.
    *(
        Stranger(
            f"{name}.csv",
            table(
                [
                    {head: {who: f"al-{10 + a}", what: f"{what[:3]}-{c}"}[head] for head in heads}
                    | {"Ritmo": 1 + (a + c) % 5, "Utilidad": 1 + (2 * a + c * c) % 5}
                    for c in range(3)
                    for a in range(4)
                ]
            ),
            "refused",
            (24, 4, 3, 2),
            maps=(f"item={what} rater={who} criteria=Ritmo criteria=Utilidad",),
        )
        for name, who, what, heads in (
            ("clases", "Alumno", "Asignatura", ("Alumno", "Asignatura")),
            ("kurse", "Student", "Kurs", ("Kurs", "Student")),
        )
    ),
    # Remarks of a program, which people rate: what has their id is their text; false is no blank.
    *(
        Stranger(
            f"remarks{shift}.jsonl",
            lines(
                [
                    {"remark_id": f"r{80 + item}", "module": "ab"[item % 2]}
                    | {"at": 7 + item // shift, "remark": f"{short(item)} This loop ends early."}
                    | {"checked_by": WHO[who], "helpful": at % 3 > 0, "right": f"{at % 2}"}
                    for item, who, at in CROSSED
                ]
            ),
            "at once",
            (30, 3, 5, 2),
            maps=(
                "item=remark_id submission=remark rater=checked_by criteria=helpful criteria=right",
            ),
        )
        for shift in (1, 2)
    ),
    # A column for each option of one question, with its name in the chosen one, as potato exports.
    Stranger(
        "annotated.tsv",
        "\n".join(
            [
                "user\tinstance_id\tdisplayed_text\tmood:::glad\tmood:::so so\tmood:::sad\ttime",
                *(
                    f"{WHO[who]}@lab.example\tp{item}\t{short(item)}\t"
                    + "\t".join(w * (n == at % 2) for n, w in enumerate(("glad", "so so", "")))
                    + f"\tTime spent: 0m {3 + at}s"
                    for item, who, at in CROSSED
                ),
            ]
        ),
        "refused",
        (15, 3, 5, 1),
        maps=("item=instance_id submission=displayed_text rater=user label=mood",),
    ),
    # A row is a judge, told by what is said of judges; the columns are what they judged.
    Stranger(
        "faces.csv",
        table(
            [
                {"judge_gender": "fm"[n % 2], "judge_years": 20 + 7 * n}
                | {f"F{100 + f}": 1 + (n * n + f + n) % 7 for f in range(4)}
                for n in range(6)
            ]
        ),
        "refused",
        (24, 6, 4, 1),
        maps=("items=F100 items=F101 items=F102 items=F103",),
    ),
    # Where it stood on the table, and the mean of a row in half points, are no criteria.
    Stranger(
        "tasting.csv",
        table(
            [
                {"Jam": f"jam {item}", "Taster": WHO[who], "Rank": 1 + (2 * item + who) % 5}
                | {"Smell": 1 + 7 * at % 9, "Taste": 9 - (at * at + who) % 8}
                | {"Overall": int(1 + 7 * at % 9 + 9 - (at * at + who) % 8 + 0.5) / 2}
                for item, who, at in CROSSED
            ]
        ),
        "refused",
        (30, 3, 5, 2),
        maps=("item=Jam rater=Taster criteria=Smell criteria=Taste",),
    ),
    # How far apart two readings were is no third one.
    Stranger(
        "readings.csv",
        table(
            [
                {"case_id": f"c{item}", "reader": WHO[who], "score_1": at % 4}
                | {"score_2": (at * at) % 4, "weeks_between": 3 + at % 5}
                for item, who, at in CROSSED
            ]
        ),
        "at once",
        (30, 3, 5, 2),
        maps=("item=case_id rater=reader criteria=score_1 criteria=score_2",),
    ),
    # A target in numbers, where nothing was asked, is what a model should give: a label.
    Stranger(
        "ease.csv",
        table([{"id": f"e{n}", "excerpt": essay(n), "target": 0.25 - 0.31 * n} for n in range(8)]),
        "dataset",
        8,
        text=essay(0),
        labels={"target": "0.25"},
    ),
    # Questions in words, asked of every draft, are criteria, and no halves of an item.
    Stranger(
        "borradores.csv",
        table(
            [
                {"Trabajo": f"T{item}", "Revisor": WHO[who]}
                | {"Pregunta": ("¿Se entiende lo que busca?", "¿Hay fuentes fiables?")[n]}
                | {"Puntos": 1 + (at + n * item) % 5}
                for item, who, at in CROSSED
                for n in range(2)
            ]
        ),
        "at once",
        (30, 3, 5, 2),
        maps=("item=Trabajo rater=Revisor criterion=Pregunta label=Puntos",),
    ),
)
