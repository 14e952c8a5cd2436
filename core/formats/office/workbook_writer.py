"""Write sheets to a workbook (.xlsx): texts stay texts, numbers are numbers."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from core.errors import InputError
from core.formats.office.sheet import cell_name
from core.formats.source.csv_writer import Value

#: The limits of a cell and a sheet.
LONGEST_CELL, MOST_LINES = 32_767, 1_048_576
#: What must be escaped: characters that XML cannot hold, and texts that look like escapes.
_UNFIT = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)"
)
_FORBIDDEN = re.compile(r"[\[\]:*?/\\]")
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_STYLES = (
    f'{_HEAD}<styleSheet xmlns="{_MAIN}"><fonts count="2"><font/><font><b/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill '
    'patternType="gray125"/></fill></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/><xf fontId="1" '
    'applyFont="1"/><xf applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf>'
    '</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/>'
    "</cellStyles></styleSheet>"
)
_BOLD, _WRAPPED = 1, 2


def workbook(sheets: Mapping[str, Sequence[Sequence[Value]]]) -> tuple[bytes, int]:
    """Return a workbook with headed sheets, and the number of truncated cells.

    Raises:
        InputError: more rows than a sheet can hold.
    """
    parts, cut = dict[str, str](), 0
    for number, (title, rows) in enumerate(sheets.items(), start=1):
        if len(rows) > MOST_LINES:
            message = f"The sheet {title!r} would have {len(rows):,} rows; {MOST_LINES:,} fit."
            raise InputError(f"{message} Export as CSV.")
        cut += sum(isinstance(v, str) and len(v) > LONGEST_CELL for row in rows for v in row)
        parts[f"xl/worksheets/sheet{number}.xml"] = _sheet_xml(rows)
    names = [_FORBIDDEN.sub(" ", title)[:31] for title in sheets]
    return _zip_parts(_package_parts(names) | parts), cut


def cell_xml(reference: str, value: Value, style: int | str = 0) -> str:
    """Return the XML of a cell; a text is never a formula."""
    head = f'<c r="{reference}"' + (f' s="{style}"' if style else "")
    if isinstance(value, bool):
        return f'{head} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"{head}><v>{value!r}</v></c>"
    if not value:
        return f"{head}/>" if style else ""
    text = escape(_UNFIT.sub(lambda m: f"_x{ord(m[0]):04X}_", value[:LONGEST_CELL]))
    return f'{head} t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _sheet_xml(rows: Sequence[Sequence[Value]]) -> str:
    widths = "".join(
        f'<col min="{n}" max="{n}" width="{min(max(10, width + 2), 60)}" customWidth="1"/>'
        for n, width in enumerate(_column_widths(rows), start=1)
    )
    lines = "".join(_row_xml(at, row) for at, row in enumerate(rows))
    return (
        f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0"><pane '
        'ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView>'
        f"</sheetViews>{f'<cols>{widths}</cols>' if widths else ''}<sheetData>{lines}</sheetData>"
        "</worksheet>"
    )


def _row_xml(at: int, row: Sequence[Value]) -> str:
    cells = "".join(
        cell_xml(cell_name(at, column), value, _style_number(at, value))
        for column, value in enumerate(row)
    )
    return f'<row r="{at + 1}">{cells}</row>'


def _style_number(at: int, value: Value) -> int:
    if not at:
        return _BOLD
    return _WRAPPED if isinstance(value, str) and (len(value) > 60 or "\n" in value) else 0


def _column_widths(rows: Sequence[Sequence[Value]]) -> Iterable[int]:
    first = rows[:200]
    wide = max((len(row) for row in first), default=0)
    for column in range(wide):
        yield max(len(str(row[column] or "")) for row in first if column < len(row))


def _package_parts(names: Sequence[str]) -> dict[str, str]:
    """Return the parts of the file other than sheets."""
    numbers = range(1, len(names) + 1)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    overrides = "".join(
        f'<Override PartName="/xl/{part}.xml" ContentType="{kind}.{what}+xml"/>'
        for part, what in (
            ("workbook", "sheet.main"),
            ("styles", "styles"),
            *((f"worksheets/sheet{n}", "worksheet") for n in numbers),
        )
    )
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"/>'
        for n, name in zip(numbers, names, strict=True)
    )
    related = "".join(
        _relationship_xml(n, "worksheet", f"worksheets/sheet{n}.xml") for n in numbers
    )
    related += _relationship_xml(len(names) + 1, "styles", "styles.xml")
    whole = f'<Relationships xmlns="{_PACKAGE}/relationships">'
    return {
        "[Content_Types].xml": f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types"><Default '
        'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>',
        "_rels/.rels": f"{_HEAD}{whole}"
        f"{_relationship_xml(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>",
        "xl/workbook.xml": f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        f"{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"{_HEAD}{whole}{related}</Relationships>",
        "xl/styles.xml": _STYLES,
    }


def _relationship_xml(number: int, kind: str, target: str) -> str:
    return f'<Relationship Id="rId{number}" Type="{_OFFICE}/{kind}" Target="{target}"/>'


def _zip_parts(parts: Mapping[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            # ZipInfo's own date, so that the bytes do not depend on the clock.
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, text)
    return data.getvalue()
