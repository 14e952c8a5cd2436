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
