"""Page, HTML, Markdown and a terminal say the same; the file needs no network and obeys no text."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from core.blocks.blocks import (
    Bars,
    Block,
    Forest,
    Histogram,
    NamedValues,
    Paper,
    Section,
    Sentences,
    TableBlock,
    TextCell,
)
from core.blocks.html import html_paper
from core.blocks.markdown import markdown_paper
from core.blocks.terminal import terminal_text
from core.services.reports.paper import report_as_paper
from core.services.reports.run_report import report_run
from core.store.store import Store
from core.text.names import visible
from tests.browser.hostile import ATTACK
from tests.pages.graded import graded, planned
from tests.places import GOLDEN
from tests.services.reports.made import MADE, decided

GOLDEN = GOLDEN / "report.md"


class _Read(HTMLParser):
    """What stands in a page, and every address that it could fetch something from."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [v or "" for k, v in attrs if k in ("src", "href", "srcset", "action")]
        self.addresses += re.findall(r"url\(", " ".join(v or "" for k, v in attrs if k == "style"))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(text: str) -> _Read:
    reader = _Read()
    reader.feed(text)
    return reader


def plain(markdown: str) -> str:
    """Markdown as a reader sees it: the word joiner is invisible, a backslash spares a mark."""
    return re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", markdown.replace("&#8288;", ""))


def one_line(text: str) -> str:
    return " ".join(visible(text).split())


@pytest.fixture(params=["decided", "graded", "unlabelled", "one item", "no votes"])
def made(request: pytest.FixtureRequest, store: Store) -> Paper:
    run = {
        "decided": lambda: decided(store),
        "graded": lambda: graded(store),
        "unlabelled": lambda: decided(store, 60, labelled=False),
        "one item": lambda: decided(store, 1),
        "no votes": lambda: planned(store),
    }[request.param]()
    return report_as_paper(report_run(store, run, created=MADE))


def test_html_holds_every_text_and_number_of_the_report(made: Paper) -> None:
    there = set(map(one_line, read(html_paper(made)).texts))

    assert [text for text in made.texts() if one_line(text) not in there] == []


def test_markdown_holds_every_text_and_number_of_the_report(made: Paper) -> None:
    there = plain(markdown_paper(made))

    assert [text for text in made.texts() if one_line(text) not in there] == []


def test_a_terminal_holds_every_text_and_number_of_the_report(made: Paper) -> None:
    whole = [
        replace(section, blocks=tuple(map(_whole, section.blocks))) for section in made.sections
    ]
    there = one_line(terminal_text(whole))

    # Heads without rows, and titles without blocks, are left out.
    wanted = [text for section in whole for text in Paper("", "", (section,)).texts()]
    bare = {section.title for section in whole if not any(map(_says, section.blocks))}
    assert [one for one in wanted if one_line(visible(one)) not in there and one not in bare] == []


def _whole(block: Block) -> Block:
    return replace(block, first=None) if isinstance(block, TableBlock) else block


def _says(block: Block) -> bool:
    return isinstance(block, Sentences | NamedValues) or (
        isinstance(block, TableBlock) and bool(block.rows)
    )


def test_every_plot_is_followed_by_a_table_with_its_numbers(made: Paper) -> None:
    for section in made.sections:
        for block, after in zip(section.blocks, [*section.blocks[1:], None], strict=True):
            if isinstance(block, Histogram | Forest | Bars):
                assert isinstance(after, TableBlock)


def test_html_fetches_nothing_and_runs_nothing(made: Paper) -> None:
    found = read(html_paper(made))

    assert not found.tags & {"script", "link", "img", "iframe", "object", "embed", "form", "base"}
    assert all(address.startswith("#part-") for address in found.addresses)


@pytest.mark.parametrize("payload", [ATTACK, "- list", "1. one", "# head", "| a |", "&lt;", "\\"])
def test_hostile_text_is_shown_and_not_obeyed(payload: str) -> None:
    table = TableBlock(payload, (payload,), ((TextCell(payload, payload),),))
    made = Paper(payload, payload, (Section(payload, (Sentences((payload,)), table)),), payload)

    text = html_paper(made)
    found = read(text)
    assert not found.tags & {"script", "img", "iframe", "svg", "b"}
    assert found.addresses == ["#part-0"]
    # It stands there eight times: head, title, subtitle, contents, section, sentence, table, end.
    assert sum(one_line(t) == one_line(payload) for t in found.texts) >= 8
    assert one_line(payload) in plain(markdown_paper(made))


def test_a_cell_of_markdown_cannot_end_its_table() -> None:
    table = TableBlock("t", ("a|b",), ((TextCell("x | y\n| z |"),),))

    text = markdown_paper(Paper("p", "", (Section("s", (table,)),)))
    row = next(line for line in text.splitlines() if "x" in line)
    assert row == "| x \\| y \\| z \\| |"


def test_markdown_of_a_small_report_is_as_it_was(store: Store) -> None:
    # UPDATE_GOLDEN=1 pytest tests/services/reports/test_paper.py rewrites it;
    # read the difference before committing.
    text = markdown_paper(report_as_paper(report_run(store, graded(store), created=MADE)))
    if os.environ.get("UPDATE_GOLDEN") == "1":
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text()
