"""Tables of a fourteenth stranger's kinds: a jury's minutes, two markers' grids, MQM, claims.

The shapes were met in the wild; the texts are made up here.
"""

from __future__ import annotations

from tests.formats.strangers import Stranger, essay, table

PLANTS = ("Oak", "Elm", "Red fern", "Moss", "Reed", "Sedge", "Ivy", "Alder")


def _jury(n: int, plant: str) -> str:
    """What three people gave a poem; the last one left out the second."""
    marks = (1 + n % 7, 2 + n % 5, "-" if n == 1 else 1 + n * 3 % 8)
    return f"{n + 1}.,{plant},{','.join(map(str, marks))},{marks[0] + marks[1]},"


#: Lone cells are paragraphs of a document, other rows its table.
MINUTES = [
    *("Minutes of the jury", "The jury met in June and read eight poems."),
    "No.,Motto,B. Okoro,T. Lind,M. de Wit,Sum,Remarks",
    *(_jury(n, plant) for n, plant in enumerate(PLANTS)),
    "The jury gave two prizes and thanked everybody.",
]

#: Two markers' initials before the objectives, each with its points; the second marked a sample.
OBJECTIVES = {"AO1": 6, "AO2": 9}


def _marked_twice(most: str) -> Stranger:
    """Marks of two people, with the points possible after each heading."""
    rows = [
        {"Cand No": 700 + n}
        | {
            f"{who} {what}{most.format(points)}": 1 + n * k % points if who == "LB" or n % 3 else ""
            for who in ("LB", "KS")
            for k, (what, points) in enumerate(OBJECTIVES.items(), start=2)
        }
        for n in range(12)
    ]
    heads = [f"{what}{most.format(points)}" for what, points in OBJECTIVES.items()]
    told = " ".join(f"criteria={head}" for head in heads)
    told = f"item=Cand No raters=LB raters=KS {told}"
    name = "".join(filter(str.isalnum, most))
    return Stranger(f"marked twice{name}.csv", table(rows), "refused", (40, 2, 12, 2), maps=(told,))


#: What journeys cost, beside who made them: nobody judged anything.
TRIPS = [
    {"Trip no.": f"T-{n:02}", "Panel member": ("L. Aho", "M. Bell", "K. Cruz")[n * 2 % 7 % 3]}
    | {"Start": ("Bern", "Linz", "Graz")[n % 3], "Goal": ("Rome", "Nice")[n * 5 % 7 % 2]}
    | {"By": ("bus", "train", "car", "plane")[n * 3 % 4], "Stretch": 90 + 17 * (n % 18)}
    | {"Paid (EUR)": f"{20 + 3.7 * n:.2f}", "Receipt": ("yes", "no")[n % 5 == 2]}
    for n in range(20)
]

HEADLINES = ("Flood reaches the old harbour", "Council votes on two new trams", "Bees are back")
#: Headlines that several items share are still the only texts there are.
CODED = [
    {"id": f"n{n // 2:02}", "Titular": HEADLINES[n // 2 % 3], "codificador": ("Ana", "Luz")[n % 2]}
    | {"tono (0-2)": n * 3 % 7 % 3, "marco (0/1)": n % 5 % 2, "observaciones": ""}
    for n in range(24)
]
#: A choice of two words beside two ratings of the same tool; what came before a reply is asked.
CHATS = [
    {"HITId": f"H{n // 3:02}", "WorkerId": f"W{n % 3}"}
    | {"Input.context": f"{'Where' if n // 3 % 2 else 'When'} do rivers end, do you think?"}
    | {"Input.response": f"{HEADLINES[n // 3 % 3]}, they say."}
    | {"Answer.tone": n * 2 % 5 + 1, "Answer.wit": n * 3 % 5 + 1}
    | {"Answer.author": ("person", "machine")[n * 5 % 7 % 2]}
    for n in range(24)
]

#: What the platform writes, and whether the requester approves, is no answer.
APPROVED = [
    {"HITId": f"H{n // 3:02}", "Title": "Rate recaps", "AssignmentId": f"A{n:02}"}
    | {"WorkerId": f"W{n * 5 % 7}", "AssignmentStatus": ("Approved", "Rejected")[n == 4]}
    | {"AcceptTime": f"Mon Jan 20 10:{n:02}:01 PST 2025"}
    | {"SubmitTime": f"Mon Jan 20 11:{n:02}:09 PST 2025"}
    | {"Input.doc_id": f"d{n // 3:02}", "Input.article": essay(n // 3) * 2}
    | {"Input.summary": essay(n // 3), "Answer.fluency": n * 2 % 5 + 1}
    | {
        "Answer.faithfulness": ("yes", "no")[n * 5 % 7 % 2],
        "Answer.comments": "" if n % 3 else "n/a",
    }
    | {"Approve": "" if n == 4 else "x", "Reject": "too fast" if n == 4 else ""}
    for n in range(36)
]

#: Each of eight people tasted four teas; a heading in Japanese says who they are.
TASTED = [
    {"パネルNo.": f"P{n // 4:02}", "性別": "女男"[n // 4 % 2], "試料": "ABCD"[n % 4]}
    | {"甘味": 1 + n * 3 % 5, "香り": 1 + n * 7 % 5}
    for n in range(32)
]

#: One teacher's marks of essays on the topic above them, with a remark on some.
TOPIC = "Thema: Warum wandern Flüsse?\n" + table(
    [
        {"Name": f"{'ABCDEFGH'[n]}. K.", "Inhalt (max. 9)": 2 + n * 3 % 7}
        | {"Stil (max. 6)": 1 + n * 5 % 6, "Bemerkung": "" if n % 3 else "zu kurz"}
        for n in range(8)
    ]
)

#: The headings say which is better; how much is the reason.
STRONG = [
    {"id": n, "prompt": f"Why is it {n}?", "chosen": essay(n), "rejected": essay(n + 9)}
    | {"strength": ("a bit", "clearly")[n % 2], "annotator": "xy"[n % 2]}
    for n in range(9)
]

#: A system for conferences writes all scores of a review into one cell; one has a column as well.
REVIEWED = [
    {"#": 3 * n + k + 1, "submission #": n + 1, "member name": f"{'PQRST'[(n + k) % 5]}. Oz"}
    | {"text": f"{HEADLINES[k]}, say {n} authors. I would change the title."}
    | {
        "scores": f"Overall evaluation: {(n * k + n) % 5 - 2}\nRigour: {1 + (n + 2 * k) % 5}\n"
        f"Reviewer's confidence: {1 + (n + k) % 3}"
    }
    | {"total score": (n * k + n) % 5 - 2, "reviewer's confidence": 1 + (n + k) % 3}
    for n in range(9)
    for k in range(3)
]
#: Packed otherwise, with words for some numbers.
PACKED = [
    {"Nr": n // 3, "Gutachter": f"{'PQRST'[(n // 3 + n) % 5]}. Oz"}
    | {"Urteil": f"Aufbau: {n % 4},5 (gut), Stil: {n * 5 % 7 % 4}" if n % 5 else ""}
    for n in range(27)
]

#: Each row names its own two markers; where they differ, a third decides.
MARKERS = ("LAB", "MOC", "TEV", "RUD")


def _named_in_rows(heads: str, third: str = "") -> str:
    """Two markers' names beside their marks, under the given headings."""
    rows = list[dict[str, object]]()
    for n in range(16):
        names, marks = (
            (MARKERS[n % 4], MARKERS[(n + 1 + n // 4 % 3) % 4]),
            (40 + n, 38 + n * 3 % 17),
        )
        cells = (600 + n, names[0], marks[0], names[1] if n % 5 else "", marks[1] if n % 5 else "")
        last = {third: "XIL" if n % 6 == 1 else "", "Adj. mark": 44 + n if n % 6 == 1 else ""}
        row = dict(zip(heads.split(";"), cells, strict=True)) | (last if third else {})
        rows.append(row | {"Difference": abs(marks[0] - marks[1]), "Agreed": marks[0] - 1})
    return table(rows)


#: The same with a score of each answer, which are the reason together.
SCORED = [
    {name: cell for name, cell in row.items() if name not in ("strength", "annotator")}
    | {"score_chosen": 7.5 + n % 2, "score_rejected": 6 + n % 3}
    for n, row in enumerate(STRONG)
]

MARKED_TABLES: tuple[Stranger, ...] = (
    Stranger(
        "minutes.docx",
        "\n".join(MINUTES),
        "at once",
        (23, 3, 8, 1),
        maps=("item=Motto raters=B. Okoro raters=T. Lind raters=M. de Wit",),
    ),
    Stranger("trips.csv", table(TRIPS), "refused", words_in_refusal=("Say which column is what",)),
    Stranger(
        "headlines.csv",
        table(CODED),
        "at once",
        (48, 2, 12, 2),
        maps=(
            "item=id submission=Titular rater=codificador criteria=tono (0-2) criteria=marco (0/1)",
        ),
    ),
    Stranger(
        "chats.csv",
        table(CHATS),
        "at once",
        (72, 3, 8, 3),
        maps=(
            "item=HITId submission=Input.response prompt=Input.context rater=WorkerId"
            " criteria=Answer.tone criteria=Answer.wit criteria=Answer.author",
        ),
    ),
    Stranger(
        "approved.csv",
        table(APPROVED),
        "at once",
        (72, 7, 12, 2),
        maps=(
            "item=Input.doc_id submission=Input.summary prompt=Input.article rater=WorkerId"
            " criteria=Answer.fluency criteria=Answer.faithfulness",
        ),
    ),
    Stranger(
        "tasted.csv",
        table(TASTED),
        "at once",
        (64, 8, 4, 2),
        maps=("item=試料 rater=パネルNo. criteria=甘味 criteria=香り",),
    ),
    Stranger(
        "topic.csv",
        TOPIC,
        "refused",
        (16, 1, 8, 2),
        maps=("item=Name criteria=Inhalt (max. 9) criteria=Stil (max. 6) reason=Bemerkung",),
    ),
    Stranger(
        "strong.csv",
        table(STRONG),
        "at once",
        (9, 2, 9, 1),
        maps=(
            "first=chosen second=rejected prompt=prompt item=id rater=annotator reason=strength",
        ),
    ),
    Stranger(
        "scored.csv",
        table(SCORED),
        "at once",
        (9, 1, 9, 1),
        maps=(
            "first=chosen second=rejected prompt=prompt item=id"
            " reason=score_chosen + score_rejected",
        ),
    ),
    Stranger(
        "reviewed.csv",
        table(REVIEWED),
        "refused",
        (54, 5, 9, 2),
        maps=(
            "item=submission # rater=member name criteria=Overall evaluation criteria=Rigour"
            " reason=text",
        ),
    ),
    Stranger(
        "packed.csv",
        table(PACKED),
        "at once",
        (42, 5, 9, 2),
        maps=("item=Nr rater=Gutachter criteria=Aufbau criteria=Stil",),
    ),
    Stranger(
        "adjudicated.csv",
        _named_in_rows("Candidate;Marker 1;Mark 1;Marker 2;Mark 2", "Adjudicator"),
        "at once",
        (31, 5, 16, 1),
        maps=("item=Candidate rater=Marker label=Mark",),
    ),
    Stranger(
        "named in rows.csv",
        _named_in_rows("Nr.;Erstkorrektor;Note 1;Zweitkorrektor;Note 2"),
        "at once",
        (28, 4, 16, 1),
        maps=("item=Nr. rater=Korrektor label=Note",),
    ),
    *map(_marked_twice, ("", " /{}", " (max. {})", " ({})")),
)
