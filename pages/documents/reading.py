"""The Markdown documents that come with the program, as HTML of our own.

A document is known by its path below `docs` without the ending (`formats`, `tutorials/class`).
What an address asks for is looked up among those there are, so that no other file is ever opened.
"""

from __future__ import annotations

import base64
import mimetypes
import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from core.settings import FILES
from pages.ui import state
from pages.ui.routes import DOCUMENTS, href
from pages.ui.text import esc

FOLDER = FILES / "docs"
SCREENS = "screens"
#: Those for people who use the program, in the order in which they are offered.
FIRST = (
    *("guide", SCREENS, "tutorials/class", "tutorials/eval_team", "tutorials/researcher"),
    *("formats", "exports", "rubric-check", "checks", "contests", "compare", "ci", "api"),
)


@dataclass(frozen=True)
class GuidePart:
    """A part of a document under a heading; the first one is what stands before any."""

    part: str
    title: str
    html: str


@dataclass(frozen=True)
class Guide:
    """A document: its name in an address, its title, and its parts."""

    name: str
    title: str
    sections: tuple[GuidePart, ...]


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """Every document there is: first those in `FIRST`, then the others, decisions last."""
    found = [path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.md")]
    others = sorted(set(found) - set(FIRST), key=lambda name: (name.count("/"), name))
    return (*(name for name in FIRST if name in found), *others)


@lru_cache(maxsize=64)
def document(name: str) -> Guide | None:
    """The document of that name, or none."""
    if name not in names():
        return None
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse((FOLDER / f"{name}.md").read_text(encoding="utf-8"))
    title = ""
    parts: list[tuple[str, list[Token]]] = [("", [])]
    for at, token in enumerate(tokens):
        _lead(token, name)
        if token.type == "heading_open" and token.tag == "h1":
            title = _plain(tokens[at + 1])
        if token.type == "heading_open" and token.tag == "h2":
            parts.append((_plain(tokens[at + 1]), []))
        parts[-1][1].append(token)
    shown = [(words, reader.renderer.render(own, reader.options, {})) for words, own in parts]
    return Guide(name, title, tuple(GuidePart(slug(words), words, html) for words, html in shown))


def slug(words: str) -> str:
    """What a heading is called in an address, as the places do that show Markdown.

    >>> slug("Tables: spreadsheets, files of columns, CSV")
    'tables-spreadsheets-files-of-columns-csv'
    """
    return re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")


def place(words: str, beside: str) -> tuple[str, str] | None:
    """The document and the part that a link means which stands in the document `beside`.

    >>> place("semantics.md#votes-cells-answers", "checks")
    ('semantics', 'votes-cells-answers')
    """
    target, _, part = words.partition("#")
    if not target:
        return beside, part
    path = posixpath.normpath(posixpath.join(posixpath.dirname(beside), target))
    found = path.removesuffix(".md")
    return (found, part) if path.endswith(".md") and found in names() else None


def _lead(token: Token, name: str) -> None:
    """Make a block's links lead to where this app shows what they mean, its pictures stand in it.

    What is not among the documents (the notebook, a file of the program) stays as words.
    """
    for child in token.children or []:
        if child.type == "link_open":
            target = str(child.attrs.get("href", ""))
            found = place(target, name)
            child.attrs = {"target": "_self"}
            if found:
                wanted = {state.DOCUMENT: found[0], state.PART: found[1]}
                to = href(DOCUMENTS.url, {k: v for k, v in wanted.items() if v})
                child.attrs |= {"href": to}
            elif target.startswith("https://"):
                child.attrs = {"href": target, "target": "_blank", "rel": "noopener noreferrer"}
        elif child.type == "image":
            child.attrs["src"] = _picture(FOLDER / Path(name).parent / str(child.attrs["src"]))


def _picture(path: Path) -> str:
    """The picture itself, since a page may load nothing that is not the app's own."""
    path = path.resolve()
    if not path.is_relative_to(FOLDER.resolve()) or not path.is_file():
        return ""
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _plain(heading: Token) -> str:
    return "".join(child.content for child in heading.children or [])


def contents(found: Guide) -> str:
    """A list of the parts that lead to each alone."""
    lines = []
    for section in found.sections:
        if section.title:
            to = href(DOCUMENTS.url, {state.DOCUMENT: found.name, state.PART: section.part})
            lines.append(f'<li><a href="{esc(to)}" target="_self">{esc(section.title)}</a></li>')
    return f'<ul class="rs-list">{"".join(lines)}</ul>'
