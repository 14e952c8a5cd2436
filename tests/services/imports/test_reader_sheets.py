"""Workbooks with a sheet for each reader, and one for the right answers."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from core.errors import InputError
from core.services.imports import import_files
from core.store.store import Store
from tests.formats.office.workbooks import xlsx
from tests.services.imports.test_strangers import first

FINDINGS = ("clear", "shadow", "opaque")
HEAD = ["Film", "Finding", "Certainty (1-5)", "Minutes"]


def reader(k: int) -> list[list[str]]:
    """Eight films, in an order of its own."""
    films = sorted(range(8), key=lambda n: (n * (2 * k + 1)) % 8)
    return [
        HEAD,
        *(
            [f"F{n}", FINDINGS[(n + k) % 3], str(1 + (n * k + n) % 5), str(3 + n % k)]
            for n in films
        ),
    ]


def truth(*heads: str) -> list[list[str]]:
    cells = {"Finding": lambda n: FINDINGS[n % 3], "Tissue": lambda n: ("benign", "not")[n % 2]}
    cells["Histology"] = cells["Finding"]
    return [["Film", *heads], *([f"F{n}", *(cells[h](n) for h in heads)] for n in range(8))]


@pytest.mark.parametrize(
    ("sheet", "heads", "labels", "said"),
    [
        ("Truth", ("Finding",), {"Finding": "clear"}, "gives the right answers: 'Finding'."),
        ("Gold standard", ("Histology",), {"Finding": "clear"}, "'Histology' as 'Finding'."),
        ("Referenz", ("Finding", "Tissue"), {"Finding": "clear"}, "'Finding'. Left out: 'Tissue'."),
        # Neither a criterion nor its words; no name of the truth.
        ("Truth", ("Tissue",), {}, "other columns are left out: 'Truth'"),
        ("Summary", ("Histology",), {}, "other columns are left out: 'Summary'"),
    ],
)
def test_sheets_of_readers_are_one_table_and_the_truth_labels(
    store: Store,
    tmp_path: Path,
    sheet: str,
    heads: tuple[str, ...],
    labels: dict[str, str],
    said: str,
) -> None:
    file = tmp_path / "films.xlsx"
    below = [[], ["Read by two pathologists who did not see the films."]]
    right = [*truth(*heads), *below]
    file.write_bytes(xlsx({"Reader 1": reader(1), "Reader 2": reader(2), sheet: right}))
    report = import_files.import_path(store, file)
    notices = " ".join(notice["message"] for notice in report["notices"])
    assert (report["votes"], len(report["raters"]), report["items"]) == (32, 2, 8), notices
    items = store.datasets.load(report["dataset_version"]).items
    film = next(item for item in items if item.id == "F0")
    assert {name: label.label for name, label in film.labels.items()} == labels
    assert said in notices
    assert first(store, report).id in {f"F{n}" for n in range(8)}


def test_sheets_of_people_are_asked_about_with_the_whole_command(
    store: Store, tmp_path: Path
) -> None:
    file = tmp_path / "films.xlsx"
    file.write_bytes(xlsx({"Kim": reader(1), "Lee": reader(2), "Gold": truth("Finding")}))
    with pytest.raises(InputError, match=r"rows on 3 sheets.*the same: --sheet") as refused:
        import_files.import_path(store, file)
    words = shlex.split(str(refused.value).rpartition("If it is that: ")[2])
    changes = [word for at, word in enumerate(words) if words[at - 1] == "--map"]
    assert words[-2:] == ["--sheet", "*"]
    report = import_files.import_path(store, file, changes=changes, sheet="*")
    assert (report["votes"], len(report["raters"]), report["items"]) == (32, 2, 8)


@pytest.mark.parametrize("legend", [True, False])
def test_codes_of_prompts_are_read_by_another_sheet_or_are_none(
    store: Store, tmp_path: Path, *, legend: bool
) -> None:
    asked = {"T1": "Tell us of a bridge that you know well.", "T2": "Why do the rivers carry sand?"}
    rows = [
        ["Essay ID", "Prompt", "Reader Kim", "Reader Lee"],
        *([f"E{n}", f"T{1 + n % 2}", str(1 + n % 4), str(1 + n * n % 4)] for n in range(8)),
    ]
    sheets = {"Marks": rows}
    sheets |= {"Tasks": [["Code", "Wording"], *map(list, asked.items())]} if legend else {}
    file = tmp_path / "essays.xlsx"
    file.write_bytes(xlsx(sheets))
    report = import_files.import_path(store, file)
    assert (report["votes"], report["items"]) == (16, 8)
    assert first(store, report).prompt == (asked["T1"] if legend else "")


#: What an unseen skill is called, beside the marks 1 to 4.
UNSEEN = {"de": ("Prüfer", "7 = keine Angabe"), "en": ("Examiner", "7: not observed")}


@pytest.mark.parametrize("language", UNSEEN)
@pytest.mark.parametrize("sheet", [None, "Daten"])
def test_a_sheet_beside_the_marks_says_what_headings_and_codes_mean(
    store: Store, tmp_path: Path, language: str, sheet: str | None
) -> None:
    head, unseen = UNSEEN[language]
    skills = {f"v{at}": f"Skill {name}" for at, name in enumerate(("of ear", "of hand", "of eye"))}
    marks = [
        [str(n // 2 + 1), str(n % 2 + 1)]
        + ["7" if (n, at) == (5, 1) else str(1 + (n * (at + 1) + n // 4) % 4) for at in range(3)]
        for n in range(16)
    ]
    legend = f"1 = weak; 2 = fair; 3 = good; 4 = strong; {unseen}"
    meanings = [["w", head, ""], *([code, name, legend] for code, name in skills.items())]
    file = tmp_path / "station.xlsx"
    rows = [["case_id", "w", *skills], *marks]
    file.write_bytes(xlsx({"Daten": rows, "Codes": [["Name", "Text", "Werte"], *meanings]}))
    report = import_files.import_path(store, file, sheet=sheet)
    # Sixteen rows of three marks, of which one is missing.
    figure = (report["votes"], len(report["raters"]), report["items"], report["criteria"])
    assert figure == (47, 2, 8, 3), report["notices"]
    roles = {role["column"]: role["role"] for role in report["roles"]}
    assert (roles[head], roles["Skill of ear"]) == ("rater", "label:Skill of ear")
    said = {notice["message"] for notice in report["notices"]}
    assert "These codes are declared as missing and taken as no answer: '7' 1." in said
    assert any("is the one that the file tells: 'Skill of ear: 1 = weak" in of for of in said)


#: Heads of a sheet of texts, of marks and of a legend; three ordered words and two others.
LEGENDS = {
    "es": ("código sistema pregunta carta", "código juez", "criterio escala nota"),
    "it": ("codice modello domanda risposta", "codice valutatore", "criterio scala spiegazione"),
    "de": ("Nr Modell Frage Antwort", "Nr Prüfer", "Kriterium Skala Erklärung"),
    "en": ("ID model question answer", "ID rater", "criterion values meaning"),
}
DEGREES = {
    "es": ("baja", "media", "alta"),
    "it": ("bassa", "media", "alta"),
    "de": ("niedrig", "mittel", "hoch"),
    "en": ("low", "medium", "high"),
}


@pytest.mark.parametrize("language", LEGENDS)
@pytest.mark.parametrize("span", ["0-6", "0 … 6"])
def test_a_legend_tells_scales_and_names_no_criterion(
    store: Store, tmp_path: Path, language: str, span: str
) -> None:
    texts, marks, legend = (heads.split() for heads in LEGENDS[language])
    words, forms = DEGREES[language], ("sober", "chatty")
    written = [
        [
            f"K{n}",
            ("lark", "wren")[n % 2],
            f"How deep is the well of village {n // 2}, please?",
            f"The well of this village is {n} metres deep, and dry in summer since {1900 + n}.",
        ]
        for n in range(8)
    ]
    rated = [
        [f"K{n}", who, str(1 + (n + k) % 4), words[(n * n + k) % 3], forms[(n // 3 + k) % 2]]
        for n in range(8)
        for k, who in enumerate(("Ada", "Bo"))
    ]
    meanings = [["depth", span, "0 = none at all, 6 = all there is"]]
    meanings += [["use", " / ".join(words), ""], ["form", " / ".join(forms), "of the answer"]]
    sheets = {"A": [texts, *written], "B": [[*marks, "depth", "use", "form"], *rated]}
    file = tmp_path / "wells.xlsx"
    file.write_bytes(xlsx(sheets | {"C": [legend, *meanings]}))
    report = import_files.import_path(store, file, sheet="B")
    assert (report["votes"], len(report["raters"]), report["items"]) == (48, 2, 8)
    roles = {role["column"]: role["role"] for role in report["roles"]}
    assert [roles[head] for head in texts] == ["item", "system", "prompt", "text"]
    rubric = store.rubrics.version(report["rubric_version"]).rubric
    options = {c.name: (c.scale, [o.label for o in c.options]) for c in rubric.criteria}
    assert options["depth"] == ("ordinal", [str(n) for n in range(7)])
    assert options["use"] == ("ordinal", [*words])
    assert options["form"][0] == "nominal"
