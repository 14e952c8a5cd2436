"""Files that people handed in: documents to text, archives and folders to items."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from core.errors import InputError
from core.formats.datasets.dataset_file import has_text, parse_dataset
from core.formats.office import documents
from core.formats.office.documents import DocumentText
from core.formats.office.documents import document_text as text_in
from core.formats.source import archives
from core.formats.source.opened import Opened
from core.formats.tables import submissions
from tests.formats.office.documents import docx, grid, locked_pdf, paragraph, pdf
from tests.formats.office.workbooks import zipped

CODE = "def f():\n\treturn 1  # <b>not bold</b>\n"


def test_an_archive_is_opened_once_for_all_of_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    # To open one lists all of its files: done for each of 19,000 files it took twenty minutes.
    opened = list[object]()
    real = zipfile.ZipFile.__init__

    def counted(self: zipfile.ZipFile, *args: object, **more: object) -> None:
        opened.append(self)
        real(self, *args, **more)  # type: ignore[arg-type]

    data = zipped({f"{n}.txt": f"Answer {n}." for n in range(40)})
    monkeypatch.setattr(zipfile.ZipFile, "__init__", counted)
    assert len(parse_dataset(data, "essays.zip").value.items) == 40
    assert len(opened) == 1


def document_text(data: bytes, name: str) -> DocumentText | None:
    return text_in(Opened(data, name))


def text_of(data: bytes, name: str = "x") -> str:
    found = document_text(data, name)
    assert found is not None
    return found.text


def test_a_document_of_word_is_its_paragraphs_and_tables_in_order() -> None:
    deleted = "<w:p><w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>"
    note = "<w:p><w:r><w:t>Noted</w:t><w:footnoteReference/><w:tab/><w:t>here.</w:t></w:r></w:p>"
    item = "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>a point</w:t></w:r></w:p>"
    found = document_text(
        docx("First & “only”.", deleted, grid([["a", "b"], ["1", "2"]]), item, note), "e.docx"
    )
    assert found is not None
    assert found.text == "First & “only”.\n\na | b\n1 | 2\n\n- a point\n\nNoted\there."
    assert found.remark == "1 note is left out."


@pytest.mark.parametrize("width", ["²", "9" * 5000, "x"])
def test_a_cell_of_word_that_claims_an_odd_width_is_read(width: str) -> None:
    wide = f'<w:tc><w:tcPr><w:gridSpan w:val="{width}"/></w:tcPr>{paragraph("a")}</w:tc>'
    assert text_of(docx(f"<w:tbl><w:tr>{wide}</w:tr></w:tbl>")).startswith("a")


def test_a_pdf_is_its_pages_and_one_without_text_says_so() -> None:
    assert text_of(pdf("Page one.", "Page two.")) == "Page one.\n\nPage two."
    none, some = document_text(pdf(""), "scan.pdf"), document_text(pdf("One.", ""), "x.pdf")
    assert none is not None
    assert (none.text, none.remark) == ("", "This PDF holds no text: its pages are pictures.")
    assert some is not None
    assert some.remark == "1 of 2 pages hold no text."


def test_a_page_of_html_is_what_it_says() -> None:
    page = "<!DOCTYPE html><head><title>T</title><style>p{}</style></head><body><p>One &amp; two"
    whole = f"{page}</p><script>x()</script><ul><li>three</ul>"
    assert text_of(whole.encode()) == "One & two\n- three"
    # A program that speaks of tags is none.
    assert text_of(CODE.encode(), "f.py") == CODE


def test_a_table_of_numbers_in_running_text_is_said() -> None:
    report = " ".join(f"The water rose by {n} cm in hour {n}." for n in range(30))
    table = grid([["hour", "level", "flow"], *([str(n), str(3 * n % 5), "2"] for n in range(9))])
    read = parse_dataset(docx(report, table), "report.docx")
    assert read.value.items[0].text.startswith("The water rose")
    assert "Its table of 9 rows is read as part of the text." in [n.message for n in read.notices]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (locked_pdf("secret text"), "protected by a password"),
        (b"%PDF-1.4\nnothing more", "This PDF cannot be read"),
        (docx("x")[:200], "cannot be opened"),
        (zipped({"word/document.xml": "<w:p>"}), "is damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"), "old .doc"),
    ],
)
def test_a_lone_document_that_cannot_be_read_is_refused_with_one_sentence(
    data: bytes, says: str
) -> None:
    with pytest.raises(InputError) as error:
        parse_dataset(data, "essay.docx")
    assert says in error.value.message
    assert not error.value.problems


FILES = {
    "class/ann.docx": docx("Ann’s essay."),
    "class/code/bob.py": CODE,
    "class/cy.pdf": pdf("Cy’s".replace("’", " ")),
    "class/scan.pdf": pdf(""),
    "class/locked.pdf": locked_pdf("x"),
    "class/photo.png": b"\x89PNG\r\n\x1a\n\x00\x00",
    "class/more.zip": zipped({"inner.txt": "never unpacked"}),
    "class/.DS_Store": b"x",
    "__MACOSX/class/._ann.docx": b"x",
    "../../climbs.txt": "It stays a text.",
}


def test_an_archive_is_an_item_a_file_and_what_holds_no_text_is_said() -> None:
    read = parse_dataset(zipped(FILES), "class.zip")
    items = {item.id: item for item in read.value.items}
    # Ten files: two of programs, a picture and an archive are left out.
    assert list(items) == [
        "../../climbs.txt", "class/ann.docx", "class/code/bob.py", "class/cy.pdf",
        "class/locked.pdf", "class/scan.pdf",
    ]  # fmt: skip
    assert items["class/ann.docx"].text == "Ann’s essay."
    assert items["class/code/bob.py"].text == CODE
    textless = [id for id, item in items.items() if not has_text(item)]
    assert textless == ["class/locked.pdf", "class/scan.pdf"]
    said = " ".join(str(notice) for notice in read.notices)
    for words in (
        "6 submissions in 6 files",
        "scan.pdf: This PDF holds no text",
        "2 items come without their text",
        "'class/more.zip', 'class/photo.png'",
        "locked.pdf: It is protected",
    ):
        assert words in said, words


def test_files_of_a_person_that_are_too_long_together_are_cut_with_a_notice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(submissions, "MAX_TEXT", 20)
    files = {f"Ann Bell_7_assignsubmission_file_/{name}.txt": "x" * 15 for name in "ab"}
    read = parse_dataset(zipped(files), "class.zip")
    assert len(read.value.items[0].text) == 20
    assert "7: its files have more than 20 characters together" in " ".join(map(str, read.notices))


def test_a_folder_is_read_like_an_archive_of_it_and_its_links_are_not_followed(
    tmp_path: Path,
) -> None:
    from core.formats.votes.tools.known_tools import read_items_file

    folder = tmp_path / "essays"
    (folder / "late").mkdir(parents=True)
    (folder / "a.txt").write_text("One.")
    (folder / "late" / "b.md").write_text("# Two")
    (tmp_path / "secret.txt").write_text("not handed in")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / ".hidden").write_text("x")
    read = read_items_file(folder)
    assert [(i.id, i.text) for i in read.value.items] == [("a.txt", "One."), ("late/b.md", "# Two")]
    assert read.value.name == "essays"


MOODLE = {
    "Ann Bell_12345_assignsubmission_file_/essay.docx": docx("Ann’s essay."),
    "Ann Bell_12345_assignsubmission_file_/sources.txt": "A source.",
    "Bob_X Day_12346_assignsubmission_onlinetext_/onlinetext.html": "<p>Bob’s <b>text</b></p>",
    "Cy_12347_assignsubmission_file_notes.md": "Cy’s notes.",
}
CANVAS = {
    "bellann_12345_678_essay_final.docx": docx("Ann’s essay."),
    "bellann_12345_679_sources.txt": "A source.",
    "daybob_LATE_12346_text.html": "<html><body>Bob’s text</body></html>",
    "anon_aB3dE_680_essay.txt": "Nobody’s essay.",
}


def test_an_archive_of_moodle_is_an_item_a_participant() -> None:
    read = parse_dataset(zipped(MOODLE), "essays.zip")
    # The number is what the grading worksheet calls "Participant 12345".
    assert [(i.id, i.meta["participant"]) for i in read.value.items] == [
        ("12345", "Ann Bell"),
        ("12346", "Bob_X Day"),
        ("12347", "Cy"),
    ]
    assert [i.text for i in read.value.items] == [
        "## essay.docx\n\nAnn’s essay.\n\n## sources.txt\n\nA source.",
        "Bob’s text",
        "Cy’s notes.",
    ]


def test_a_path_longer_than_any_program_writes_is_not_taken_for_one_of_moodle() -> None:
    # Over 60,000 characters made for it the pattern took 17 seconds a file.
    endless = "Ann_1_assignsubmission_file_" + "a" * 2000 + ".txt"
    with pytest.raises(InputError, match="500 is the limit"):
        parse_dataset(zipped({endless: "x", "b.txt": "b"}), "essays.zip")


def test_an_archive_of_canvas_is_an_item_a_user() -> None:
    read = parse_dataset(zipped(CANVAS), "submissions.zip")
    items = {item.id: item for item in read.value.items}
    assert list(items) == ["anon_aB3dE", "12345", "12346"]
    assert (
        items["12345"].text == "## essay_final.docx\n\nAnn’s essay.\n\n## sources.txt\n\nA source."
    )
    assert items["12346"].meta == {"late": True, "participant": "daybob"}
    assert items["anon_aB3dE"].meta == {}


def test_an_archive_without_any_text_or_that_unpacks_to_too_much_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InputError, match="nothing to judge"):
        parse_dataset(zipped({"a.png": b"\x89PNG\x00", "b.png": b"\x89PNG\x00"}), "x.zip")
    monkeypatch.setattr(archives, "MOST_UNPACKED", 50_000)
    with pytest.raises(InputError, match="unpacks to more than"):
        parse_dataset(zipped({"a.txt": "x" * 60_000}), "x.zip")


def test_an_archive_with_a_password_is_refused_as_such() -> None:
    locked = bytearray(zipped({"a.txt": "x"}))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + flags] |= 1  # the bit that says so, of a member and its entry
    with pytest.raises(InputError, match=r"has a password\. Create it again"):
        parse_dataset(bytes(locked), "essays.zip")


def test_paragraphs_without_end_are_refused() -> None:
    with pytest.raises(InputError, match="more than 2,000,000 characters"):
        parse_dataset(docx(*[paragraph("x" * 10_000)] * 201), "long.docx")


def test_documents_that_would_take_minutes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_HTML_TAGS", 100)
    with pytest.raises(InputError, match="more than 100 tags"):
        text_of(b"<html>" + b"<b>" * 101)
    monkeypatch.setattr(documents, "MOST_OPERATIONS", 5)
    assert text_of(pdf("One line.")) == "One line."
    with pytest.raises(InputError, match="too many drawings"):
        text_of(pdf("One line.", "And another."))
    monkeypatch.setattr(documents, "MOST_DRAWN", 30)
    with pytest.raises(InputError, match="too many drawings"):
        text_of(pdf("One line."))


def test_an_archive_of_absurdly_many_files_or_with_a_link_is_refused_before_it_is_read() -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        link = zipfile.ZipInfo("essay.txt")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    # What it holds is the name of a file, which nobody wrote as an answer.
    with pytest.raises(InputError, match=r"essay\.txt is a link to another file"):
        parse_dataset(held.getvalue(), "links.zip")
    # An archive says at its end how many it holds; listing 100,000 took 6 seconds.
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 60_000, 60_000, 0, 0, 0)
    with pytest.raises(InputError, match="holds 60,000 files; 50,000 is the limit"):
        parse_dataset(b"PK\x03\x04" + end, "many.zip")


def test_files_of_one_path_are_refused_as_one_of_them_would_be_lost() -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as file:
        file.writestr("ann/essay.txt", "first")
        with pytest.warns(UserWarning, match="Duplicate name"):
            file.writestr("ann/essay.txt", "second")
    with pytest.raises(InputError, match=r"class.zip: This archive holds ann/essay.txt more than"):
        parse_dataset(held.getvalue(), "class.zip")


def test_paths_that_begin_at_the_root_stand_beside_those_that_do_not() -> None:
    read = parse_dataset(zipped({"/class/a.txt": "A", "class/b.txt": "B"}), "class.zip")
    assert [(one.id, one.submission) for one in read.value.items] == [
        ("a.txt", "A"),
        ("b.txt", "B"),
    ]
