"""Extract text from .docx, .odt, .pdf, HTML and plain text."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from itertools import zip_longest
from typing import Any, NamedTuple

from core.domain.dataset import MAX_TEXT
from core.errors import InputError
from core.formats.office.markup import Attributes, walk
from core.formats.office.sheet import FilledCells, whole_number
from core.formats.office.workbook import refuse_old
from core.formats.source.archives import Unpacked
from core.formats.source.csv_writer import number_of
from core.formats.source.opened import Opened
from core.formats.source.parsed import MEGABYTE
from core.formats.source.text import UTF16

_WORD, _ODT = "word/document.xml", b"application/vnd.oasis.opendocument.text"
MOST_PAGES = 2000
#: The most bytes of a PDF's content streams, and the most operations; more take over five seconds.
MOST_DRAWN, MOST_OPERATIONS = 5 * MEGABYTE, 300_000
#: The most tags of a web page.
MOST_HTML_TAGS = 1_000_000


class DocumentText(NamedTuple):
    """The text of a document, and a notice of what is left out."""

    text: str
    remark: str = ""


def is_word(opened: Opened) -> bool:
    """Return whether a file is a Word document, by its content."""
    return opened.archive is not None and _WORD in opened.archive.members


def is_document(opened: Opened) -> bool:
    """Return whether a file is a .docx, .odt or PDF."""
    return opened.head.startswith(b"%PDF-") or is_word(opened) or _is_odt(opened.archive)


def _is_odt(archive: Unpacked | None) -> bool:
    if archive is None or "mimetype" not in archive.members:
        return False
    return archive.beginning("mimetype", 100).startswith(_ODT)


def document_text(opened: Opened) -> DocumentText | None:
    """Return the text of a file, or ``None`` for pictures, archives and programs.

    Raises:
        InputError: the document is damaged, protected or of an old format.
    """
    refuse_old(opened)
    text: DocumentText | None
    if opened.head.startswith(b"%PDF-"):
        text = _pdf_document(opened.data, opened.name)
    elif is_word(opened):
        text = _word_document(opened)
    elif opened.archive is not None:
        text = _odt_document(opened.archive) if _is_odt(opened.archive) else None
    else:
        text = _plain_document(opened)
    if text is not None and len(text.text) > MAX_TEXT:
        raise InputError(f"Its text has more than {MAX_TEXT:,} characters.", (), opened.name)
    return text


_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def _plain_document(opened: Opened) -> DocumentText | None:
    """Return text unchanged, and HTML without its tags."""
    data = opened.data
    if data.startswith(b"{\\rtf") or (not data.startswith(UTF16) and _CONTROL.search(data)):
        return None
    if not data.strip():
        return DocumentText("")
    try:
        text = opened.text("text", opened.size, table=True)
    except InputError:
        # The encoding is unknown: a picture, or a text in another script.
        return None
    remark = opened.notices[0].message if opened.notices else ""
    if re.match(r"\s*(<!doctype html|<html\b|<head\b|<body\b)", text, re.I) or (
        opened.ending in ("html", "htm") and "<" in text
    ):
        return DocumentText(_html_text(text), remark)
    return DocumentText(text, remark)


#: Paragraphs, and tables as rows of cells.
Block = str | list[list[str]]


def word_blocks(opened: Opened) -> tuple[list[Block], int]:
    """Return a Word document's paragraphs and tables, and its number of notes."""
    assert opened.archive is not None
    reader, chunks = _WordReader(), opened.archive.xml(_WORD)
    walk(chunks, opened.name, start=reader.start, end=reader.end, text=reader.text)
    return reader.blocks, reader.notes


#: The fewest rows of a table of marks with its headings, and the most lines above it.
_LEAST_ROWS, _MOST_ABOVE = 4, 15


def blocks_of(opened: Opened) -> list[Block]:
    """Return the paragraphs and tables of a Word document; none of other files."""
    return opened.once(word_blocks)[0] if is_word(opened) else []


def marks_in(opened: Opened) -> FilledCells | None:
    """Return a Word document as a sheet if it is a table of marks with a few lines around it.

    The table is the only one with marks, and its cells outnumber the words of the lines.
    """
    blocks = blocks_of(opened)
    tables = [at for at, block in enumerate(blocks) if has_marks(block)]
    words = sum(len(_block_text(b).split()) for at, b in enumerate(blocks) if at not in tables)
    if len(tables) != 1 or tables[0] > _MOST_ABOVE:
        return None
    (at,), sheet = tables, FilledCells("document")
    if words > sum(sum(map(bool, row)) for row in blocks[at]):
        return None
    above, below = ([[_block_text(b)] for b in part] for part in (blocks[:at], blocks[at + 1 :]))
    for number, row in enumerate([*above, *blocks[at], [], *below]):
        for column, cell in enumerate(row):
            if cell:
                sheet.put(number, column, cell)
    return sheet


def has_marks(block: Block) -> bool:
    """Return whether a block is a table with two columns of numbers or more, besides a count.

    >>> has_marks([["No", "A", "B"], ["1.", "3", "4"], ["2.", "4", "3"], ["3.", "1", "2"]])
    True
    """
    if isinstance(block, str) or len(block) < _LEAST_ROWS:
        return False
    columns = [[cell for cell in cells if cell] for cells in zip_longest(*block[1:], fillvalue="")]
    numbers = [[n for cell in cells if (n := number_of(cell)) is not None] for cells in columns]
    are_numbers = (
        len(cells) > len(block) / 2 and 5 * len(found) >= 4 * len(cells) and found[:2] != [1, 2]
        for cells, found in zip(columns, numbers, strict=True)
    )
    return sum(are_numbers) > 1


def _word_document(opened: Opened) -> DocumentText:
    blocks, notes = opened.once(word_blocks)
    notice = (
        "1 note is left out." if notes == 1 else f"{notes} notes are left out." if notes else ""
    )
    return DocumentText("\n\n".join(_block_text(block) for block in blocks if block), notice)


def _block_text(block: Block) -> str:
    if isinstance(block, str):
        return block
    return "\n".join(" | ".join(" ".join(cell.split()) for cell in row) for row in block)


class _WordReader:
    """Converts a document's XML events to blocks, without deletions and duplicates."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.notes = 0
        self._text, self._aside, self._tables = list[str](), 0, 0
        self._rows, self._cell = list[list[str]](), list[str]()
        self._in_text, self._wide, self._list = False, 1, False

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag in ("Fallback", "moveFrom"):
            self._aside += 1
        elif tag == "tbl":
            self._tables += 1
            self._rows = [] if self._tables == 1 else self._rows
        elif self._tables == 1 and tag in ("tr", "tc"):
            self._start_cell(tag)
        elif tag == "gridSpan" and self._tables == 1:
            self._wide = min(whole_number(attributes.get("val")) or 1, 100)
        elif tag in ("footnoteReference", "endnoteReference"):
            self.notes += 1
        elif tag in ("tab", "br", "cr", "noBreakHyphen") and self._inside:
            self._text.append({"tab": "\t", "noBreakHyphen": "-"}.get(tag, "\n"))
        else:
            self._in_text = tag == "t"
            self._list = self._list or tag == "numPr"
            self._inside = tag == "r" or (self._inside and tag != "p")

    _inside = False

    def _start_cell(self, tag: str) -> None:
        if tag == "tr":
            self._rows.append([])
        else:
            self._cell, self._wide = [], 1

    def text(self, text: str) -> None:
        if self._in_text and not self._aside:
            self._text.append(text)

    def end(self, tag: str) -> None:
        self._in_text = False
        if tag in ("Fallback", "moveFrom"):
            self._aside -= 1
        elif tag == "p":
            self._end_paragraph()
        elif tag == "tc" and self._tables == 1 and self._rows:
            self._rows[-1] += ["\n".join(self._cell), *[""] * (self._wide - 1)]
        elif tag == "tbl":
            self._tables -= 1
            if not self._tables and any(any(row) for row in self._rows):
                self.blocks.append(self._rows)

    def _end_paragraph(self) -> None:
        text = "".join(self._text).strip()
        text = f"- {text}" if text and self._list else text
        self._text, self._list, self._inside = [], False, False
        if text and self._tables:
            self._cell.append(text)
        elif text:
            self.blocks.append(text)


def _odt_document(archive: Unpacked) -> DocumentText:
    lines, depth = list[list[str]](), 0

    def start(tag: str, _: Attributes) -> None:
        nonlocal depth
        if tag in ("p", "h"):
            lines.append([])
            depth += 1
        elif depth and tag in ("s", "tab", "line-break"):
            lines[-1].append({"s": " ", "tab": "\t"}.get(tag, "\n"))

    def end(tag: str) -> None:
        nonlocal depth
        depth -= tag in ("p", "h")

    def text(part: str) -> None:
        if depth:
            lines[-1].append(part)

    walk(archive.xml("content.xml"), archive.name, start=start, end=end, text=text)
    return DocumentText("\n\n".join(filter(str.strip, map("".join, lines))))


def _pdf_document(data: bytes, name: str) -> DocumentText:
    """Return the text of a PDF by page; if it has only pictures, a notice says so."""
    import logging

    import pypdf

    # pypdf logs every oddity of a file; errors are reported here.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError("It is protected by a password. Save it without one.", (), name)
        pages = len(reader.pages)
        if pages > MOST_PAGES:
            raise InputError(f"It has more than {MOST_PAGES:,} pages.", (), name)
        texts = _page_texts(reader.pages, name)
    except InputError:
        raise
    except pypdf.errors.DependencyError:
        message = "It is protected in a way that is not read here. Save it without protection."
        raise InputError(message, (), name) from None
    except Exception as error:
        # A damaged PDF can raise any exception.
        reason = str(error).split("\n")[0][:200] or type(error).__name__
        raise InputError(f"This PDF cannot be read: {reason}.", (), name) from None
    text = "\n\n".join(part.strip() for part in texts if part.strip())
    text = re.sub("[\x00\ud800-\udfff]", "\ufffd", text)
    if not text:
        return DocumentText("", "This PDF holds no text: its pages are pictures.")
    empty = sum(not part.strip() for part in texts)
    return DocumentText(text, f"{empty} of {pages} pages hold no text." if empty else "")


def _page_texts(pages: Sequence[Any], name: str) -> list[str]:
    """Return the text of every page. Raises ``InputError`` if that would take too long."""
    too_much = InputError("It has too many drawings to be read. Save its text.", (), name)
    forms, operations, size = dict[int, int](), 0, 0

    def count(*_: object) -> None:
        nonlocal operations
        operations += 1
        if operations > MOST_OPERATIONS:
            raise too_much

    for page in pages:
        contents = page.get_contents()
        size += 0 if contents is None else len(contents.get_data())
        _measure_forms(page, forms)
        if size + sum(forms.values()) > MOST_DRAWN:
            raise too_much
    return [page.extract_text(visitor_operand_before=count) for page in pages]


def _measure_forms(holder: Any, forms: dict[int, int]) -> None:
    """Add to ``forms`` the bytes of each drawing that a page or drawing uses, once."""
    resources = holder.get("/Resources")
    drawings = resources.get_object().get("/XObject") if resources else None
    for reference in drawings.get_object().values() if drawings else ():
        form = reference.get_object()
        if form.get("/Subtype") == "/Form" and id(form) not in forms:
            forms[id(form)] = len(form.get_data())
            _measure_forms(form, forms)


_BLOCKS = frozenset(
    {
        *("p", "div", "br", "tr", "li", "ul", "ol", "table", "pre", "blockquote"),
        *("h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "header", "footer"),
    }
)
_UNSEEN = frozenset({"script", "style", "head", "template", "noscript"})


class _PageText(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts = list[str]()
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self._unseen += tag in _UNSEEN
        if tag in _BLOCKS:
            self.parts.append("\n- " if tag == "li" else "\n")
        elif tag in ("td", "th"):
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in _UNSEEN and self._unseen > 0
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(re.sub(r"\s+", " ", data))


def _html_text(text: str) -> str:
    """Return the text of a web page, a paragraph per line. Raises ``InputError``: too many tags."""
    if text.count("<") > MOST_HTML_TAGS:
        raise InputError(f"It has more than {MOST_HTML_TAGS:,} tags. Save its text.")
    reader = _PageText()
    reader.feed(text)
    reader.close()
    lines = [line.strip() for line in "".join(reader.parts).split("\n")]
    return "\n".join(line for line in lines if line)
