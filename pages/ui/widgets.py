"""Small parts that every page uses: errors, empty states, headers, tags, figures."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

import streamlit as st

from core.errors import InputError, Problem, RubricStudioError
from core.services import numbers as fmt
from pages.ui import state
from pages.ui.style import frame_css
from pages.ui.text import esc, label

__all__ = [
    "Figure",
    "Tone",
    "empty_state",
    "figures",
    "frame_css",
    "page_header",
    "problem_list",
    "row",
    "show_flash",
    "shown_errors",
    "table",
    "tag",
    "worked_out",
]

#: From so many votes on, working a page's figures out takes some seconds: it is asked for.
MANY = {"agreement": 400_000, "report": 50_000}
WORKED_OUT = "worked_out"

Tone = Literal["neutral", "good", "bad", "warn", "info"]


class Figure(NamedTuple):
    """One number of a row of figures: already formatted, with what it means in `help`."""

    name: str
    value: str
    help: str = ""


@contextlib.contextmanager
def shown_errors() -> Iterator[None]:
    """Show what a person can mend instead of failing; anything else is a bug and passes.

    Every callback and fragment has one, because the frame's does not reach them.
    """
    try:
        yield
    except InputError as error:
        head = f"{error.where}: {error.message}" if error.where else error.message
        st.error(label(head), icon=":material/error:")
        problem_list(error.problems)
    except RubricStudioError as error:
        st.error(label(str(error)), icon=":material/error:")


def problem_list(problems: Sequence[Problem]) -> None:
    """Every problem: where, what, and how to mend it."""
    if not problems:
        return
    items = "".join(
        "<li>"
        + (f"<b>{esc(p.place)}</b> " if p.place else "")
        + esc(p.message)
        + (f' <span class="rs-quiet">{esc(p.mend)}</span>' if p.mend else "")
        + "</li>"
        for p in problems
    )
    st.html(f'<ul class="rs-list">{items}</ul>')


def page_header(title: str, caption: str = "", *, own_words: bool = True) -> None:
    """The page's title and one quiet line; `own_words=False` where the title is a user's."""
    st.title(title if own_words else label(title), anchor=False)
    if caption:
        st.caption(caption if own_words else label(caption))


def empty_state(title: str, body: str, action: Callable[[], object] | None = None) -> None:
    """What stands where nothing is yet: what this is for, and what to do next.

    `action` draws the button or link, centred below the words.
    """
    st.html(f'<div class="rs-empty"><b>{esc(title)}</b><br>{esc(body)}</div>')
    if action is not None:
        with st.container(horizontal=True, horizontal_alignment="center"):
            action()


def worked_out(page: str, votes: int, about: tuple[object, ...]) -> bool:
    """Whether a page's figures are to be worked out now; else a button asks for them.

    `about` changes whenever the figures would, so that they are asked for anew.
    """
    asked = state.key(WORKED_OUT, page, *about)
    if votes <= MANY[page] or state.get(asked):
        return True
    empty_state(
        f"{fmt.count(votes)} votes",
        "Working out the figures of so many takes some seconds. They are kept afterwards.",
        lambda: st.button(
            "Work them out",
            key=state.key(WORKED_OUT, page),
            type="primary",
            on_click=state.put,
            args=(asked, True),
        ),
    )
    return False


def figures(values: Sequence[Figure], columns: int = 4) -> None:
    """A row of figures of equal width that reflows on a narrow screen."""
    with st.grid(columns, min_column_width=150):
        for figure in values:
            st.metric(label(figure.name), label(figure.value), help=label(figure.help) or None)


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, name: str, numbers: Sequence[int] = ()
) -> None:
    """A small table to read (not to click); `name` says what it is to those who do not see it.

    Args:
        heads: the words above the columns.
        rows: cells as HTML of our own: `esc`, `tag`, formatted numbers.
        name: the table's accessible name.
        numbers: the columns to be aligned as numbers.
    """

    def cells(kind: str, texts: Sequence[str]) -> str:
        classes = [' class="n"' if at in numbers else "" for at in range(len(texts))]
        scope = ' scope="col"' if kind == "th" else ""
        return "".join(
            f"<{kind}{scope}{of}>{text}</{kind}>" for of, text in zip(classes, texts, strict=True)
        )

    body = "".join(f"<tr>{cells('td', one)}</tr>" for one in rows)
    head = cells("th", [esc(one) for one in heads])
    st.html(
        f'<div class="rs-scroll"><table class="rs-table" aria-label="{esc(name)}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def tag(words: str, tone: Tone = "neutral") -> str:
    """The HTML of a small tag; its words say what its colour says."""
    return f'<span class="rs-tag rs-{tone}">{esc(words)}</span>'


def row(parts: Iterable[str], *, width: Literal["stretch", "content"] = "stretch") -> None:
    """Show pieces of our own HTML (`tag`, `votes.option_chips`) side by side."""
    st.html(f'<div class="rs-row">{"".join(parts)}</div>', width=width)


def show_flash() -> None:
    """The short message that the last act left, as a toast."""
    message = state.take_flash()
    if message:
        st.toast(label(message), icon=":material/check:")
