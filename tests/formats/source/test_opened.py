"""A file is opened, decoded and parsed once, whatever it is recognised as."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from core.errors import InputError
from core.formats.datasets.dataset_file import parse_dataset
from core.formats.folder import only_rubric
from core.formats.known import FORMATS, kind_of
from core.formats.office import markdown
from core.formats.source import json_reader, opened
from core.formats.source.format import format_of
from core.formats.source.opened import Opened
from core.formats.tables import submissions, table
from core.formats.votes import gradescope
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_bytes
from core.formats.votes.tools.known_tools import read_items
from core.services.guided.dropped import recognise
from core.services.guided.texts import File
from tests.formats.brought import BAD, BROUGHT, Brought

#: What reads a whole file: decoding, opening an archive, JSON, YAML, and both readers of CSV.
WHOLE: tuple[tuple[Any, str], ...] = (
    (opened, "decoded_text"),
    (opened, "Unpacked"),
    (opened, "read_json"),
    (opened, "read_yaml"),
    (opened, "read_raw"),
    (markdown, "read_csv"),
    (table, "read_columnar"),
    (submissions, "document_text"),
    (gradescope, "read_raw"),
)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, int]]:
    """How often each text or file was read as a whole, by reader and object."""
    counts, kept = Counter[tuple[str, int]](), list[Any]()

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(data: Any, *more: Any, **named: Any) -> Any:
            kept.append(data)
            counts[name, id(data)] += 1
            return real(data, *more, **named)

        return call

    for module, name in WHOLE:
        monkeypatch.setattr(module, name, counted(name, getattr(module, name)))
    return counts


def read(brought: Brought, times: int = 1) -> list[Any]:
    """Open a file, see what it is, and read it as that."""
    if brought.door == "rubric":
        file = Opened(brought.data, brought.file)
        format_of(FORMATS, file)
        return [only_rubric(file, brought.file) for _ in range(times)]
    source = open_bytes(brought.data, brought.file)
    kind = kind_of(source)
    if brought.door == "items":
        return [read_items(source.first_file, brought.file) for _ in range(times)]
    return [read_bundle(source, kind) for _ in range(times)]


@pytest.mark.parametrize("brought", BROUGHT, ids=lambda one: one.format)
def test_a_file_is_opened_and_parsed_once(
    brought: Brought, parsed: Counter[tuple[str, int]]
) -> None:
    read(brought)
    twice = {name: count for (name, _), count in parsed.items() if count > 1}
    assert parsed
    assert not twice


@pytest.mark.parametrize("brought", BROUGHT, ids=lambda one: one.format)
def test_a_dropped_file_is_opened_and_parsed_once(
    brought: Brought, parsed: Counter[tuple[str, int]]
) -> None:
    (seen,) = recognise((File(brought.file, brought.data),))
    assert seen.line
    assert not {name: count for (name, _), count in parsed.items() if count > 1}


@pytest.mark.parametrize("brought", BROUGHT, ids=lambda one: one.format)
def test_reading_changes_nothing_of_what_was_opened(brought: Brought) -> None:
    # A page reads what was opened with every choice anew.
    first, second = read(brought, 2)
    assert first == second


def test_one_that_is_opened_already_is_not_opened_again() -> None:
    file = Opened("id,submission\na,x\n", "x.csv")
    assert Opened.of(file, "y.csv") is file
    assert table.read_table(file, "x.csv") is table.read_table(file, "x.csv")


def test_a_file_that_is_refused_is_looked_at_once(parsed: Counter[tuple[str, int]]) -> None:
    file = Opened(BAD["damaged zip"][1], "replies.zip")
    for _ in range(2):
        with pytest.raises(InputError, match="cannot be opened"):
            open_bytes(file, file.name)
        assert format_of(FORMATS, file) is None
    assert [count for (name, _), count in parsed.items() if name == "Unpacked"] == [1]


def test_faults_of_a_document_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    walks = list[str]()
    real = json_reader.walk
    monkeypatch.setattr(json_reader, "walk", lambda text: (walks.append(text), real(text))[1])
    file = Opened('{"criteria": [NaN]}', "r.json")
    for _ in range(2):
        format_of(FORMATS, file)
        with pytest.raises(InputError, match="not a finite number"):
            only_rubric(file, file.name)
    assert len(walks) == 1


def test_bytes_are_let_go_once_they_are_a_text() -> None:
    data = "id;Stadt\n1;Köln\n".encode("utf-16")
    file = Opened(data, "x.csv")
    assert file.data == data
    assert file.text("table", 100).endswith("Köln\n")
    assert file.data == "id;Stadt\n1;Köln\n".encode()


def test_nothing_of_a_dataset_is_kept_beside_its_items_where_that_is_wished() -> None:
    file = Opened("id,submission\na,x\n", "x.csv")
    rows = table.read_table(file, "x.csv").rows
    assert parse_dataset(file, "x.csv", spend=True).value.items[0].id == "a"
    assert (file.data, file.size, rows) == (b"", 18, ({},))
