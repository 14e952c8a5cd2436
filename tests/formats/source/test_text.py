"""Bytes to text: what is accepted, and how a wrong encoding is named."""

from __future__ import annotations

import gzip

import pytest

from core.errors import InputError
from core.formats.rubrics.rubric_file import parse_rubric
from core.formats.source.opened import Opened
from tests.formats.refusals import refused, rubric_refused

RUBRIC = "- {name: café, requirement: Names the café.}\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_utf_8_with_or_without_mark_and_utf_16_with_mark_read_alike(encoding: str) -> None:
    assert parse_rubric(RUBRIC.encode(encoding), "r.yaml").value.criteria[0].name == "café"


def test_big_endian_utf_16_with_a_mark_is_read() -> None:
    data = b"\xfe\xff" + RUBRIC.encode("utf-16-be")
    assert parse_rubric(data, "r.yaml").value.criteria[0].name == "café"


def test_a_western_encoding_is_refused_with_byte_offset_line_and_mend() -> None:
    # "- one\n" is 6 bytes; "- caf" another 5; so the byte of the e with an accent is at 11.
    [(line, text)] = rubric_refused("- one\n- café\n".encode("cp1252"))
    assert line == 2
    assert "byte 0xe9 at offset 11" in text
    assert "UTF-8" in text


def test_utf_16_without_a_mark_is_refused_as_such() -> None:
    [(line, text)] = rubric_refused("- one\n".encode("utf-16-le"))
    assert line == 1
    assert "UTF-16 without a byte order mark" in text


def test_half_a_utf_16_file_is_refused() -> None:
    [(line, text)] = rubric_refused("- one\n".encode("utf-16")[:-1])
    assert "is not UTF-16" in text
    assert line is not None


def test_utf_32_is_refused() -> None:
    assert "UTF-32" in rubric_refused("- one\n".encode("utf-32"))[0][1]


def test_a_nul_is_refused_with_its_line() -> None:
    assert rubric_refused(b"- one\n- t\0wo\n")[0][0] == 2


def test_a_workbook_or_zip_is_refused_as_such() -> None:
    assert "spreadsheet" in rubric_refused(b"PK\x03\x04rest")[0][1]


def test_a_file_packed_with_gzip_is_refused_as_such() -> None:
    packed = gzip.compress(b"- one\n")
    assert "is packed with gzip. Unpack it first." in rubric_refused(packed)[0][1]
    with pytest.raises(InputError, match="packed with gzip"):
        Opened(packed, "votes.csv.gz").text("table", 1_000, table=True)


@pytest.mark.parametrize("data", [b"", b"\n  \n", b"\xef\xbb\xbf", ""])
def test_an_empty_file_is_refused_as_empty(data: bytes | str) -> None:
    assert "is empty" in rubric_refused(data)[0][1]


def test_a_file_over_the_limit_is_refused_before_it_is_read() -> None:
    [(_, text)] = refused(lambda: Opened(b"x" * 2_500_000, "big.csv").text("dataset", 2_000_000))
    assert "has 2.5 MB; 2 MB is the limit" in text


def test_half_of_a_surrogate_pair_in_text_is_refused_with_its_line() -> None:
    assert rubric_refused("- one\n- \ud83d\n")[0][0] == 2


OLD = {
    "cp932": ("Shift-JIS", "番号,文章\n1,川は山から海へ砂を運びます。\n2,橋の景色は美しい。\n"),
    "gb18030": ("GB18030", "编号,文本\n1,河流把沙子从山上带到海里。\n2,桥上的风景非常美丽。\n"),
    "cp949": ("EUC-KR", "번호,글\n1,강은 산에서 바다로 모래를 나른다.\n2,다리 풍경은 아름답다.\n"),
    "cp1250": (
        "Windows-1250",
        "nr,tekst\n1,Książka była świetna, ale zakończenie złe. Łąka.\n" * 3,
    ),
    "cp1251": ("Windows-1251", "номер,текст\n1,Реки несут песок к морю, и он остаётся там.\n"),
}


@pytest.mark.parametrize("encoding", OLD)
def test_a_table_in_an_old_encoding_is_read_and_its_encoding_said(encoding: str) -> None:
    name, text = OLD[encoding]
    opened = Opened(text.encode(encoding), "a.csv")
    assert opened.text("table", 10_000, table=True) == text
    assert name in str(opened.notices[0])


def test_an_encoding_in_doubt_is_refused_and_broken_utf_8_is_no_old_encoding() -> None:
    few = "ид,слово\n1,да\n".encode("cp1251")
    for data in (few, OLD["cp932"][1].encode()[:-5] + b"\xe3\n"):
        with pytest.raises(InputError, match="Save the file as UTF-8"):
            Opened(data, "a.csv").text("table", 10_000, table=True)
