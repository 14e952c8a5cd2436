"""Large files, and small ones that make much work: read in five seconds and 300 MB, or refused."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable

from bench.faults.corpus import Hostile

_SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_BOOK = (
    f'<Types xmlns="{_PACKAGE}/content-types"/>',
    f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r" '
    f'Type="{_RELATED}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
)
MB = 1_000_000


def _book(rows: str, sheets: int = 1) -> bytes:
    """A workbook with so many sheets that all have these rows."""
    names = "".join(f'<sheet name="S{n}" sheetId="{n + 1}" r:id="r{n}"/>' for n in range(sheets))
    parts = "".join(
        f'<Relationship Id="r{n}" Type="{_RELATED}/worksheet" Target="worksheets/s{n}.xml"/>'
        for n in range(sheets)
    )
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("[Content_Types].xml", _BOOK[0])
        made.writestr("_rels/.rels", _BOOK[1])
        made.writestr(
            "xl/workbook.xml",
            f'<workbook {_SPACE} xmlns:r="{_RELATED}"><sheets>{names}</sheets></workbook>',
        )
        made.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships">{parts}</Relationships>',
        )
        for n in range(sheets):
            sheet = f"<worksheet {_SPACE}><sheetData>{rows}</sheetData></worksheet>"
            made.writestr(f"xl/worksheets/s{n}.xml", sheet)
    return held.getvalue()


def _table(rows: int) -> bytes:
    """A workbook of three filled cells a row."""
    text = "one of many answers, each with some thirty words " * 4
    lines = (_row(n, A=f"{n}", B=f"{n} {text}", C="yes") for n in range(2, rows + 2))
    return _book(_row(1, A="id", B="submission", C="label") + "".join(lines))


def _row(number: int, **cells: str) -> str:
    inside = "".join(
        f'<c r="{column}{number}" t="inlineStr"><is><t>{text}</t></is></c>'
        for column, text in cells.items()
    )
    return f'<row r="{number}">{inside}</row>'


def _far(rows: int) -> bytes:
    return _book("".join(_row(n, A="x", XFD="y") for n in range(1, rows + 1)))


def _essays(count: int) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        for n in range(count):
            made.writestr(f"{n}.txt", "An answer.")
    return held.getvalue()


def _keys(count: int) -> bytes:
    return json.dumps({f"k{n}": n for n in range(count)}).encode()


def _levels(criteria: int, levels: int) -> bytes:
    head = ",".join(["criterion", *(f"L{n} ({n})" for n in range(levels))])
    row = ",".join(["c", *("d" for _ in range(levels))])
    return "\n".join([head, *[row] * criteria]).encode()


def _lines(line: bytes, count: int) -> Callable[[], bytes]:
    return lambda: b"id,submission\n" + line * count


BULKY = [
    Hostile("60,000 rows with a cell in the last column", "rubric", "r.xlsx", lambda: _far(60_000)),
    Hostile("the same as items", "dataset", "d.xlsx", lambda: _far(60_000)),
    Hostile("600,000 rows", "dataset", "d.xlsx",
            lambda: _book("".join(_row(n, A="x") for n in range(1, 600_001)))),
    Hostile("319,000 filled cells", "dataset", "d.xlsx", lambda: _table(106_300), True),
    Hostile("20 million empty cells", "dataset", "d.xlsx",
            lambda: _book(f'<row r="1">{"<c/>" * (20 * MB)}</row>')),
    Hostile("5 million faulty cells", "dataset", "d.xlsx",
            lambda: _book('<row>' + '<c t="e"><v>#N</v></c>' * (5 * MB) + "</row>")),
    Hostile("50 million characters by number", "dataset", "d.xlsx",
            lambda: _book('<row><c t="str"><v>' + "&#65;" * (50 * MB) + "</v></c></row>")),
    Hostile("16 million tags of a page", "dataset", "d.html",
            lambda: b"<html><body>" + b"<b>" * (16 * MB)),
    Hostile("3,000 sheets", "dataset", "d.xlsx", lambda: _book(_row(1, A="x"), 3_000)),
    Hostile("3,000 sheets", "rubric", "r.xlsx", lambda: _book(_row(1, A="x"), 3_000)),
    Hostile("1,000 criteria of 400 levels", "rubric", "r.csv", lambda: _levels(1_000, 400)),
    Hostile("200,000 columns", "rubric", "r.csv", lambda: b"c," * 200_000 + b"\n1"),
    Hostile("400,000 keys", "dataset", "d.json", lambda: _keys(400_000)),
    Hostile("a list of 6 million numbers", "dataset", "d.json",
            lambda: b"[" + b"1234567," * 6_000_000 + b"1]"),
    Hostile("19,000 answers in an archive", "dataset", "d.zip", lambda: _essays(19_000), True),
    Hostile("200,000 items", "dataset", "d.csv",
            lambda: b"id,submission\n" + b"".join(b"%d,text\n" % n for n in range(200_000)), True),
    Hostile("a line of 48 MB", "dataset", "d.csv", _lines(b"x" * (48 * MB), 1)),
    Hostile("48 million commas", "dataset", "d.csv", _lines(b"," * (48 * MB), 1)),
    Hostile("48 million blank lines", "dataset", "d.csv", _lines(b"\n", 48 * MB)),
    Hostile("12 million short lines", "dataset", "d.csv", _lines(b"a,b\n", 12 * MB)),
    Hostile("a text of 48 MB", "dataset", "d.jsonl",
            lambda: b'{"id": "a", "submission": "' + b"x" * (48 * MB) + b'"}'),
    Hostile("5 million empty objects", "dataset", "d.jsonl", lambda: b"{}\n" * (5 * MB)),
    Hostile("1.9 million rows of 8 columns", "dataset", "d.csv",
            lambda: b"id,submission,a,b,c,d,e,f\n" + b"1,text,1,2,3,4,5,6\n" * 1_900_000),
    Hostile("1.7 million rows", "dataset", "d.jsonl",
            lambda: b'{"id":"1","submission":"x"}\n' * 1_700_000),
    Hostile("1.9 million objects", "dataset", "d.json",
            lambda: b"[" + b'{"a":1},' * 1_900_000 + b"{}]"),
    Hostile("15 million lists in an item", "dataset", "d.jsonl",
            lambda: b'{"submission": "x", "a": [' + b"[]," * (15 * MB) + b"1]}"),
    Hostile("400,000 keys", "rubric", "r.yaml",
            lambda: "".join(f"k{n}: 1\n" for n in range(400_000)).encode()),
]  # fmt: skip
