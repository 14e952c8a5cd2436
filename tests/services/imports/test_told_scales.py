"""Scales told beside a table, in words or in a row of their own, are those of its criteria."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from core.services.imports import import_files
from core.store.store import Store
from tests.formats.office.workbooks import xlsx

HEAD = ["Essay", "Rater", "Depth", "Tone"]
MARKS = [
    [f"E{n}", who, str(2 + (n + len(who)) % 3), "3"] for n in range(4) for who in ("Jo", "Lee")
]
TABLE = [HEAD, *MARKS]
WORDS = [HEAD, *([*row[:3], ("no", "rather no", "yes")[n % 3]] for n, row in enumerate(MARKS))]
LEVELS = ("poor", "weak", "fair", "good", "splendid")
ONE_TO_FIVE = ["1", "2", "3", "4", "5"]


def scales(
    store: Store, file: Path, sheets: dict[str, list[list[str]]]
) -> tuple[dict[str, list[str]], str]:
    """The options of each criterion as imported, and all notices."""
    if file.suffix == ".xlsx":
        file.write_bytes(xlsx(sheets))
    else:
        out = io.StringIO()
        csv.writer(out).writerows(*sheets.values())
        file.write_text(out.getvalue())
    report: dict[str, Any] = import_files.import_path(store, file)
    rubric = store.rubrics.version(report["rubric_version"]).rubric
    options = {c.name: [o.label for o in c.options] for c in rubric.criteria}
    return options, " ".join(f"{n['message']} {n['mend']}" for n in report["notices"])


@pytest.mark.parametrize(
    ("line", "depth", "tone"),
    [
        ("Depth out of 6, Tone out of 4", "0123456", "01234"),
        ("All criteria 1-5 (1 = poor, 5 = excellent)", "12345", "12345"),
        ("Skala: 0 bis 5", "012345", "012345"),
        ("Depth and Tone: 1 (thin) to 7 (rich).", "1234567", "1234567"),
        ("1-6 for Depth, 1-4 for Tone", "123456", "1234"),
        ("1 = schlecht … 5 = sehr gut", "12345", "12345"),
        ("Note sur 5 pour chaque critère", "012345", "012345"),
        ("Notas 0-5; Tone: 1 a 3", "012345", "123"),
        # Not all marks lie inside.
        ("Scale 1-3", "234", "123"),
        # No scale: a sum, years, weeks, pages, a code without order, two that differ.
        ("Total out of 20", "234", "34"),
        ("Year 9, weeks 1-12 of 2023-24", "234", "34"),
        ("Depth: chapters 1-9", "234", "34"),
        ("Each rater read 1-20 pages", "234", "34"),
        ("1 = female, 5 = male", "234", "34"),
        ("Depth 1-5, Depth 1-7", "234", "34"),
    ],
)
@pytest.mark.parametrize("place", ["above", "below"])
def test_a_line_beside_the_table_tells_the_scale(
    store: Store, tmp_path: Path, line: str, depth: str, tone: str, place: str
) -> None:
    rows = [[line], [], *TABLE] if place == "above" else [*TABLE, [], [line]]
    options, said = scales(store, tmp_path / "marks.xlsx", {"Marks": rows})
    assert options == {"Depth": [*depth], "Tone": [*tone]}
    used = [name for name in options if options[name] != {"Depth": [*"234"], "Tone": [*"34"]}[name]]
    assert (f"The scale of {', '.join(map(repr, used))} is" in said) == bool(used)
    assert ("not one that all labels of 'Depth' fit" in said) == (
        line in ("Scale 1-3", "Depth 1-5, Depth 1-7")
    )
    assert line in said


def test_another_sheet_tells_the_scale_and_what_its_ends_mean(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "marks.xlsx"
    guide = [["Guidelines"], ["Rate both from 1 to 5."], ["1", "very poor"], ["5", "excellent"]]
    options, said = scales(store, file, {"Marks": TABLE, "Guide": guide})
    assert options == {"Depth": ONE_TO_FIVE, "Tone": ONE_TO_FIVE}
    assert "'Rate both from 1 to 5: 1 = very poor, 5 = excellent'" in said


def test_a_row_under_the_headings_tells_the_scales(store: Store, tmp_path: Path) -> None:
    for first in ("", "Skala"):
        row = [first, "", "1-5", "no / rather no / rather yes / yes"]
        rows = [HEAD, row, *WORDS[1:]]
        options, said = scales(store, tmp_path / "hired.csv", {"": rows})
        # Nobody said "rather yes": it is an option all the same.
        assert options == {"Depth": ONE_TO_FIVE, "Tone": ["no", "rather no", "rather yes", "yes"]}
        assert "'scales: Depth 1-5, Tone no / rather no / rather yes / yes' (line 2)" in said


def test_the_heading_goes_before_a_line_about_all(store: Store, tmp_path: Path) -> None:
    rows = [["Scale: 0-5"], [*HEAD[:2], "Depth (1-4)", "Tone"], *MARKS]
    options, said = scales(store, tmp_path / "marks.xlsx", {"Marks": rows})
    assert [*options.values()] == [[*"1234"], [*"012345"]]
    assert "The scale of 'Tone' is the one that the file tells: 'Scale: 0-5'." in said


def test_words_told_in_an_order_of_their_own_are_a_scale(store: Store, tmp_path: Path) -> None:
    rows = [[*row[:3], ("wait", "see", "act")[n % 3]] for n, row in enumerate(MARKS)]
    for line, order in (
        ("Tone: wait < see < talk < act", ["wait", "see", "talk", "act"]),
        ("Tone: act > see > wait", ["wait", "see", "act"]),
        # A list alone says no order.
        ("Tone: wait / see / act", ["act", "see", "wait"]),
    ):
        sheets = {"Marks": [[line], HEAD, *rows]}
        options, said = scales(store, tmp_path / f"{len(line)}.xlsx", sheets)
        assert options["Tone"] == order
        assert ("ordinal with wait" in said) == ("/" not in line)


def test_points_without_a_maximum_are_said_to_be_so(store: Store, tmp_path: Path) -> None:
    for heading, untold in (("Depth (Punkte)", True), ("Depth (Punkte, max. 9)", False)):
        rows = [[*HEAD[:2], heading, "Tone"], *MARKS]
        _, said = scales(store, tmp_path / f"{len(heading)}.csv", {"": rows})
        message = "The maximum is not told: the ends are those of the marks seen."
        assert (message in said) == untold


def test_a_legend_of_several_lines_tells_the_scale(store: Store, tmp_path: Path) -> None:
    legend = [["Score", "Meaning"], *([f"{n}", word] for n, word in enumerate(LEVELS, 1))]
    options, said = scales(store, tmp_path / "m.xlsx", {"Marks": TABLE, "Scale": legend})
    assert options == {"Depth": ONE_TO_FIVE, "Tone": ONE_TO_FIVE}
    assert "'Score: 1 = poor, 2 = weak, 3 = fair, 4 = good, 5 = splendid'" in said


def test_a_legend_that_begins_with_scale_is_told_and_none_may_be_an_end(
    store: Store, tmp_path: Path
) -> None:
    lines = [["Scale: 1 = poor, 2 = weak, 3 = fair, 4 = good"], ["Tone: 5 = none, 1 = much"]]
    options, _ = scales(store, tmp_path / "m.xlsx", {"Marks": [*TABLE, [], *lines]})
    assert options == {"Depth": ["1", "2", "3", "4"], "Tone": ONE_TO_FIVE}


def test_criteria_that_use_some_words_of_another_have_all_of_them(
    store: Store, tmp_path: Path
) -> None:
    words = ("poor", "fair", "good", "very good")
    rows = [[*row[:2], words[n % 4], words[1 + n % 3]] for n, row in enumerate(MARKS)]
    options, said = scales(store, tmp_path / "m.csv", {"": [HEAD, *rows]})
    assert options == {"Depth": [*words], "Tone": [*words]}
    assert "The words of 'Tone' are taken as those of 'Depth'." in said


@pytest.mark.parametrize(
    ("lowest", "wit"), [(2, ONE_TO_FIVE), (3, ["3", "4", "5"]), (1, ONE_TO_FIVE)]
)
def test_one_end_that_nobody_gave_is_that_of_most_criteria(
    store: Store, tmp_path: Path, lowest: int, wit: list[str]
) -> None:
    head = ["essay", "rater", "form", "tone", "wit"]
    marks = [
        [
            f"e{n}",
            who,
            *(str(max(low, 1 + (n + at + k) % 5)) for at, low in enumerate((1, 1, lowest))),
        ]
        for n in range(9)
        for k, who in enumerate(("Ada", "Bo"))
    ]
    options, said = scales(store, tmp_path / "marks.csv", {"": [head, *marks]})
    assert (options["form"], options["wit"]) == (ONE_TO_FIVE, wit)
    assert ("The ends of 'wit' are taken as those" in said) == (lowest == 2)


@pytest.mark.parametrize(
    "words",
    [
        "Strongly disagree, Somewhat disagree, Neither agree nor disagree, Somewhat agree,"
        " Strongly agree",
        "poor, fair, good, very good, excellent",
        "nicht klar, eher nicht klar, eher klar, klar, sehr klar",
    ],
)
@pytest.mark.parametrize(
    ("first", "second"), [((0, 4), (1, 5)), ((0, 5), (1, 5)), ((1, 4), (0, 5))]
)
def test_criteria_that_share_words_share_even_values(
    store: Store, tmp_path: Path, words: str, first: tuple[int, int], second: tuple[int, int]
) -> None:
    steps = words.split(", ")
    given = [steps[slice(*first)], steps[slice(*second)]]
    rows = [[*row[:2], *(of[n % len(of)] for of in given)] for n, row in enumerate(MARKS)]
    file = tmp_path / "m.csv"
    options, _ = scales(store, file, {"": [HEAD, *rows]})
    assert options == {"Depth": steps, "Tone": steps}
    version = store.rubrics.version(import_files.import_path(store, file)["rubric_version"])
    values = [[o.value for o in c.options] for c in version.rubric.criteria]
    assert values == [[0.0, 0.25, 0.5, 0.75, 1.0]] * 2


@pytest.mark.parametrize(
    "words",
    [
        *("Nada convincente, Poco convincente, Bastante convincente, Muy convincente",),
        *("Per niente chiaro, Poco chiaro, Abbastanza chiaro, Molto chiaro",),
        *("Nada de acordo, Pouco de acordo, Bastante de acordo, Muito de acordo",),
        *("Pas du tout clair, Peu clair, Assez clair, Très clair",),
        *("gar nicht gut, wenig gut, ziemlich gut, sehr gut", "nada, poco, bastante, mucho"),
        *("niente, poco, abbastanza, molto", "pas du tout, un peu, assez, beaucoup"),
        *("nichts, wenig, ziemlich, viel", "helemaal niet, weinig, tamelijk, veel"),
    ],
)
def test_degrees_of_one_word_or_of_none_are_in_order(
    store: Store, tmp_path: Path, words: str
) -> None:
    steps = words.split(", ")
    rows = [[*row[:3], steps[::-1][n % 4]] for n, row in enumerate(MARKS)]
    assert scales(store, tmp_path / "m.csv", {"": [HEAD, *rows]})[0]["Tone"] == steps


@pytest.mark.parametrize(
    ("head", "levels"),
    [
        *(("Mark out of 6", "0123456"), ("Nota (de 0 a 6)", "0123456"), ("Voto su 6", "0123456")),
        *(("Punkte (von 6)", "0123456"), ("Note sur 6", "0123456"), ("Form (scale 1-6)", "123456")),
        *(
            ("Skala von 1 bis 6", "123456"),
            ("Nota sobre 6", "0123456"),
            ("Note de 1 à 6", "123456"),
        ),
        # A place among others, and pages, are no ends.
        *(("Part 1 von 6", "34"), ("Form (pages 1-6)", "34")),
    ],
)
def test_a_range_in_a_heading_is_the_scale(
    store: Store, tmp_path: Path, head: str, levels: str
) -> None:
    rows = [[*row[:3], str(3 + n % 2)] for n, row in enumerate(MARKS)]
    heads = [*HEAD[:3], f"Tone, {head}"]
    options, _ = scales(store, tmp_path / "m.csv", {"": [heads, *rows]})
    assert list(options.values())[1] == [*levels]


@pytest.mark.parametrize(
    ("seen", "other", "levels"),
    [
        ("12345", "2345", "12345"),
        ("1234567", "123456", "1234567"),
        # Points may end elsewhere, 0 and 1 may be chosen with intent, 1 to 3 is a scale.
        *(("0123", "012", "012"), ("012345", "12345", "12345"), ("12345", "123", "123")),
    ],
)
def test_marks_beside_others_have_their_ends(
    store: Store, tmp_path: Path, seen: str, other: str, levels: str
) -> None:
    rows = [[*row[:2], seen[n % len(seen)], other[n % len(other)]] for n, row in enumerate(MARKS)]
    options, said = scales(store, tmp_path / "m.csv", {"": [HEAD, *rows]})
    assert options == {"Depth": [*seen], "Tone": [*levels]}
    assert ("The ends of 'Tone' are taken as those" in said) is (other != levels)


@pytest.mark.parametrize(
    ("lowest", "others", "low"),
    # Points from 0 may be chosen with intent.
    [("1.5", ("1", "2.5", "4", "5"), "1"), ("0.5", ("0", "2.5", "4", "5"), "0.5")],
)
def test_marks_in_halves_share_the_ends_of_a_grid(
    store: Store, tmp_path: Path, lowest: str, others: tuple[str, ...], low: str
) -> None:
    head = [
        "essay",
        *(f"{who} / {what}" for who in ("Ms. Ito", "Mr. Lee") for what in ("Form", "Wit")),
    ]
    steps = {"Form": others, "Wit": (lowest, "3", "4.5", "5")}
    rows = [
        [
            f"E{n}",
            *(steps[c.partition(" / ")[2]][(n + at // 3) % 4] for at, c in enumerate(head[1:])),
        ]
        for n in range(8)
    ]
    options, said = scales(store, tmp_path / "m.csv", {"": [head, *rows]})
    assert (options["Wit"][0], options["Form"][0]) == (low, others[0])
    assert ("The ends of 'Wit' are taken as those" in said) is (low != lowest)


@pytest.mark.parametrize("cells", ["{who} / {what}", "{what} ({who})"])
def test_a_legend_of_three_columns_tells_the_scales_of_a_grid(
    store: Store, tmp_path: Path, cells: str
) -> None:
    """What one of its lines says of a total's direction is not said of the criteria."""
    whats = ("Inhalt", "Aufbau", "Sprache")
    whos = ("Frau Keil", "Herr Brandt")
    heads = [cells.format(who=who, what=what) for who in whos for what in whats]
    rows = [
        [f"Kind {n}", *(f"{(3 + (n * at + n) % 7) / 2:g}" for at in range(1, len(heads) + 1)), "2"]
        for n in range(8)
    ]
    rows += [["Kind 8", *("krank" for _ in heads), ""]]
    legend = [["Kriterium", "Was zählt", "Punkte"]]
    legend += [[what, f"{what} und alles, was dazu gehört; siehe Blatt {n}.", "0–6"]
               for n, what in enumerate(whats)]  # fmt: skip
    legend += [["Note", "1 = sehr gut … 6 = ungenügend", ""]]
    sheets = {"9b": [["Kind", *heads, "Note"], *rows], "Legende": legend}
    options, said = scales(store, tmp_path / "m.xlsx", sheets)
    assert {*options} >= {*whats}, said
    assert {(options[what][0], options[what][-1]) for what in whats} == {("0", "6")}
    assert "the one that the file tells: 'Inhalt: 0–6'" in said
    assert "'Inhalt' is taken as ordinal with 0, " in said


@pytest.mark.parametrize(
    "line", ["注：甲＞乙＞丙＞丁；满分50分", "Key: 丁 < 丙 < 乙 < 甲", "甲>乙>丙>丁"]
)
def test_an_order_that_names_no_criterion_is_that_of_all_who_use_its_words(
    store: Store, tmp_path: Path, line: str
) -> None:
    """A row of one word for an absence is no answer, beside an id and a total of numbers, too."""
    head = [
        "编号",
        *(f"{what}（{who}）" for who in ("林老师", "吴老师") for what in ("文采", "结构")),
    ]
    rows = [
        [f"2026{n:02}", *("甲乙丙丁"[(n * (at + 1) + n // 4) % 4] for at in range(4)), f"{30 + n}"]
        for n in range(12)
    ]
    rows += [["202612", *["缺考"] * 5]]
    file = tmp_path / "marks.xlsx"
    file.write_bytes(xlsx({"S": [[*head, "总分"], *rows, [], [line]]}))
    changes = ["item=编号", "raters=林老师", "raters=吴老师", "criteria=文采", "criteria=结构"]
    report = import_files.import_path(store, file, changes=changes)
    rubric = store.rubrics.version(report["rubric_version"]).rubric
    assert [[o.label for o in c.options] for c in rubric.criteria] == [[*"丁丙乙甲"]] * 2
    assert report["votes"] == 48, report["notices"]
    assert {r["column"]: r["why"] for r in report["roles"]}["总分"] == "headed as a sum or a mean"
