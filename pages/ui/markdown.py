"""Markdown by others as HTML that can do nothing: no links, images, raw HTML or scripts."""

from __future__ import annotations

from functools import lru_cache

from markdown_it import MarkdownIt

from core.files.visible import visible


@lru_cache(maxsize=1)
def _reader() -> MarkdownIt:
    # What could fetch or lead elsewhere stays as typed; HTML is text ("html": False escapes it).
    off = ["image", "link", "autolink", "html_block", "html_inline", "reference"]
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(off)


def formatted(text: str) -> str:
    r"""The text's headings, lists, tables, emphasis and code as HTML of our own.

    >>> formatted("*a* <b>")
    '<p><em>a</em> &lt;b&gt;</p>\n'
    """
    return str(_reader().render(visible(text)))
