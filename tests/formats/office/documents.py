"""Documents made for tests, byte by byte: .docx, .odt and PDF."""

from __future__ import annotations

import io
from collections.abc import Sequence
from xml.sax.saxutils import escape

import pypdf

from tests.formats.office.workbooks import zipped

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def paragraph(text: str) -> str:
    """A paragraph of Word."""
    return f"<w:p><w:r><w:t>{escape(text)}</w:t></w:r></w:p>"


def grid(rows: Sequence[Sequence[str]]) -> str:
    """A table of Word."""
    inside = "".join(
        f"<w:tr>{''.join(f'<w:tc>{paragraph(cell)}</w:tc>' for cell in row)}</w:tr>" for row in rows
    )
    return f"<w:tbl>{inside}</w:tbl>"


def docx(*blocks: str) -> bytes:
    """A document of Word with these blocks of XML, or paragraphs of text."""
    body = "".join(one if one.startswith("<w:") else paragraph(one) for one in blocks)
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>",
        }
    )


def pdf(*pages: str) -> bytes:
    """A PDF whose pages each show a line; an empty one shows nothing."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>"]
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects.append(f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>")
    objects.append("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    for n, text in enumerate(pages):
        shown = f"BT /F1 12 Tf 20 20 Td ({text}) Tj ET" if text else ""
        about = "/MediaBox[0 0 400 400]/Resources<</Font<</F1 3 0 R>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R{about}/Contents {5 + 2 * n} 0 R>>")
        objects.append(f"<</Length {len(shown)}>>stream\n{shown}\nendstream")
    made, places = "%PDF-1.4\n", list[int]()
    for number, inside in enumerate(objects, start=1):
        places.append(len(made))
        made += f"{number} 0 obj\n{inside}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    tail = f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(made)}\n%%EOF\n"
    return (made + head + tail).encode()


def locked_pdf(text: str) -> bytes:
    """A PDF that opens with a password only."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(text)))
    writer.encrypt("secret", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()
