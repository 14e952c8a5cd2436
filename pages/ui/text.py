"""Text that others wrote, shown as it is and never interpreted.

Three functions, by where the text goes:

- `esc` for our own HTML (`st.html`): prose, chips, cards;
- `label` for everything that reads Markdown (labels of widgets, radio and segmented options,
  expanders, tabs, captions, errors, metrics, help);
- `visible` for what takes plain text (`st.text`, `st.code`, selectbox options, table cells).

All three replace invisible and direction-changing characters by a visible sign. Judged text goes
nowhere else.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TypeVar

import streamlit as st
from markdown_it import MarkdownIt

from core.text.names import visible

JOINER = "\u2060"

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")
# Positions that need a word joiner: entities disable Markdown's syntax, but Streamlit finds icons,
# emoji, addresses and arrows later, in the finished text.
_TRIGGERS = (
    re.compile(r":(?=\S)"),
    re.compile(r"[wW](?=[wW]{2}\.)"),
    re.compile(r"@(?=\S)"),
    re.compile(r"[-<>=~](?=[-<>=~])"),
)


def one_line(text: str, limit: int = 0) -> str:
    r"""Return visible text on one line, cut with an ellipsis if longer than `limit` (0: never).

    >>> one_line("a\n  b" + "c" * 9, 6)
    'a bcc…'
    """
    line = " ".join(visible(text).split())
    return line if not limit or len(line) <= limit else line[: limit - 1].rstrip() + "…"


KeyT = TypeVar("KeyT")


def distinct_names(names: Mapping[KeyT, str], limit: int) -> dict[KeyT, str]:
    """Return names on one line each, numbered if several are equal, since lists choose by shown
    text.

    >>> distinct_names({7: "Essay", 8: "Lab", 9: "Essay"}, 80)
    {7: 'Essay', 8: 'Lab', 9: 'Essay · no. 2'}
    """
    shown, counts = dict[KeyT, str](), Counter[str]()
    for key, name in names.items():
        line = one_line(name, limit)
        counts[line] += 1
        shown[key] = line if counts[line] == 1 else f"{line} · no. {counts[line]}"
    return shown


def label(text: str, limit: int = 0) -> str:
    """Return the text as Markdown that shows exactly these characters, without style, icon or link.

    Every mark of punctuation becomes a character reference, which Markdown reads as text. A word
    joiner (invisible, no width) splits what is recognised after that: `:icons:`, addresses, arrows.

    >>> label("*a*")
    '&#42;a&#42;'
    """
    line = one_line(text, limit)
    for trigger in _TRIGGERS:
        line = trigger.sub(lambda m: m.group() + JOINER, line)
    return _PUNCTUATION.sub(lambda m: f"&#{ord(m.group())};", line)


def esc(text: str) -> str:
    """Return the text for our own HTML, with invisible characters made visible.

    >>> esc('<b>"a" & b')
    '&lt;b&gt;&quot;a&quot; &amp; b'
    """
    return html.escape(visible(text))


def draw_prose(text: str, marks: Iterable[tuple[int, int]] = (), height: int | None = None) -> None:
    """Draw a long text as written: line breaks kept, nothing interpreted.

    Args:
        text: a text by a person or a model.
        marks: spans `(start, end)` of `text` to highlight, e.g. evidence; overlaps are merged.
        height: pixels; longer text scrolls.
    """
    style = f' style="max-height:{int(height)}px;overflow:auto"' if height else ""
    st.html(f'<div class="rs-prose"{style}>{marked(text, marks)}</div>')


def marked(text: str, marks: Iterable[tuple[int, int]]) -> str:
    """Return escaped HTML of `text` with its spans in `<mark>`.

    >>> marked("a<b", [(0, 2)])
    '<mark class="rs-mark">a&lt;</mark>b'
    """
    parts, position = list[str](), 0
    for start, end in _merged_marks(marks, len(text)):
        passage = f'<mark class="rs-mark">{esc(text[start:end])}</mark>'
        parts += [esc(text[position:start]), passage]
        position = end
    return "".join([*parts, esc(text[position:])])


def _merged_marks(marks: Iterable[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    merged = list[tuple[int, int]]()
    for start, end in sorted((max(0, s), min(length, e)) for s, e in marks):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def draw_raw(text: str, height: int | None = None) -> None:
    """Draw a text in fixed width, wrapped and copyable (prompts, replies, files)."""
    shown = visible(text) or " "
    if height is None:
        st.code(shown, language=None, wrap_lines=True)
    else:
        st.code(shown, language=None, wrap_lines=True, height=height)


@lru_cache(maxsize=1)
def _markdown_reader() -> MarkdownIt:
    # Syntax that could fetch or link stays as typed; HTML is text ("html": False escapes it).
    disabled = ["image", "link", "autolink", "html_block", "html_inline", "reference"]
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable(disabled)


def formatted_html(text: str) -> str:
    r"""Return the text's headings, lists, tables, emphasis and code as our own HTML.

    >>> formatted_html("*a* <b>")
    '<p><em>a</em> &lt;b&gt;</p>\n'
    """
    return str(_markdown_reader().render(visible(text)))


def clamped_html(first: str, rest: str = "", kind: str = "") -> str:
    """Return HTML of a part cut after some lines; a click shows all of it, and the `rest`.

    `kind` is a class of `style.css` that says after how many lines.
    """
    kinds = f"rs-clamped {kind}".rstrip()
    return f'<details class="{kinds}"><summary>{first}</summary>{rest}</details>'
