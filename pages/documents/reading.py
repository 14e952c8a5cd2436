"""The program's Markdown documents as HTML.

A document's name is its path below `docs` without the ending (`formats`, `tutorials/class`). Names
from an address are looked up in the list of documents, so that no other file is ever opened.
"""

from __future__ import annotations

import base64
import mimetypes
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.settings import FILES
from pages.ui import state
from pages.ui.routes import DOCUMENTS, link_address
from pages.ui.text import esc

FOLDER = FILES / "docs"
SCREENS = "screens"
#: Documents for users of the program, in the order shown.
FIRST = (
    *("guide", SCREENS, "tutorials/class", "tutorials/eval_team", "tutorials/researcher"),
    *("formats", "exports", "rubric-check", "checks", "contests", "compare", "ci", "api"),
)


@dataclass(frozen=True)
class GuidePart:
    """A part of a document under a heading; the first part precedes every heading."""

    part: str
    title: str
    html: str


@lru_cache(maxsize=1)
def document_names() -> tuple[str, ...]:
    """Return the names of all documents: `FIRST`, then the others, decisions last."""
    names_found = [
        path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.md")
    ]
    others = sorted(set(names_found) - set(FIRST), key=lambda name: (name.count("/"), name))
    return (*(name for name in FIRST if name in names_found), *others)


@lru_cache(maxsize=256)
def document_title(name: str) -> str:
    """Return the title of the document of that name, which is its first line."""
    with (FOLDER / f"{name}.md").open(encoding="utf-8") as file:
        return _plain_heading(MarkdownIt("commonmark").parse(file.readline())[1])


@lru_cache(maxsize=64)
def document(name: str) -> tuple[str, tuple[GuidePart, ...]] | None:
    """Return the title and the parts of the document of that name, or `None`."""
    if name not in document_names():
        return None
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    title = ""
    parts: list[tuple[str, list[Token]]] = [("", [])]
    for index, token in enumerate(tokens):
        _point_links(token, name)
        if token.type == "heading_open" and token.tag == "h1":
            title = _plain_heading(tokens[index + 1])
        if token.type == "heading_open" and token.tag == "h2":
            parts.append((_plain_heading(tokens[index + 1]), []))
        parts[-1][1].append(token)
    shown = [
        (heading, reader.renderer.render(part_tokens, reader.options, {}))
        for heading, part_tokens in parts
    ]
    # Scrolling areas get a tab stop, so that they can be scrolled by keyboard.
    shown = [(heading, html.replace("<pre>", '<pre tabindex="0">')) for heading, html in shown]
    return title, tuple(
        GuidePart(heading_anchor(heading), heading, html) for heading, html in shown
    )


def heading_anchor(words: str) -> str:
    """Return a heading's anchor in an address, as other Markdown viewers write it.

    >>> heading_anchor("Tables: spreadsheets, files of columns, CSV")
    'tables-spreadsheets-files-of-columns-csv'
    """
    return re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")


def linked_place(words: str, base: str) -> tuple[str, str] | None:
    """Return the document and the part that a link in the document `base` points to.

    ``None`` if it does not point to a document.

    >>> linked_place("semantics.md#votes-cells-answers", "checks")
    ('semantics', 'votes-cells-answers')
    """
    target, _, part = words.partition("#")
    if not target:
        return base, part
    path = posixpath.normpath(posixpath.join(posixpath.dirname(base), target))
    document_name = path.removesuffix(".md")
    return (
        (document_name, part)
        if path.endswith(".md") and document_name in document_names()
        else None
    )


def _point_links(token: Token, name: str) -> None:
    """Point a block's links to this app's pages, and embed its pictures.

    Links to anything but a document (the notebook, source files) become plain text.
    """
    for child in token.children or []:
        if child.type == "link_open":
            target = str(child.attrs.get("href", ""))
            target_place = linked_place(target, name)
            child.attrs = {"target": "_self"}
            if target_place:
                parameters = {state.DOCUMENT: target_place[0], state.PART: target_place[1]}
                url = link_address(DOCUMENTS.url, {k: v for k, v in parameters.items() if v})
                child.attrs |= {"href": url}
            elif target.startswith("https://"):
                child.attrs = {"href": target, "target": "_blank", "rel": "noopener noreferrer"}
        elif child.type == "image":
            child.attrs["src"] = _embedded_picture(
                FOLDER / Path(name).parent / str(child.attrs["src"])
            )


def _embedded_picture(path: Path) -> str:
    """Return the picture as data, since a page may load nothing from outside the app."""
    path = path.resolve()
    if not path.is_relative_to(FOLDER.resolve()) or not path.is_file():
        return ""
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _plain_heading(heading: Token) -> str:
    return "".join(child.content for child in heading.children or [])


def links_to_parts(name: str, parts: Iterable[GuidePart]) -> str:
    """Return a list of links to the parts of a document."""
    lines = []
    for section in parts:
        if section.title:
            url = link_address(DOCUMENTS.url, {state.DOCUMENT: name, state.PART: section.part})
            lines.append(f'<li><a href="{esc(url)}" target="_self">{esc(section.title)}</a></li>')
    return f'<ul class="rs-list">{"".join(lines)}</ul>'
