"""Two answers side by side, as written; on request with what differs marked, word by word."""

from __future__ import annotations

import streamlit as st

from core.domain.dataset import Answer, Sections, output_of
from core.services import numbers as fmt
from core.services.word_diff import WordDiff, word_diff
from pages.ui.resources import remembered
from pages.ui.text import esc, label, marked, prose

#: Below this share of common words nearly everything would be marked, and marks say nothing.
ALIKE = 0.25
TALL = 460


def side_by_side(heads: tuple[str, str], answers: tuple[Answer, Answer], *, mark: bool) -> None:
    """Both answers, one under the other on a narrow screen.

    Args:
        heads: HTML of our own above each.
        answers: what is shown, as written.
        mark: whether words that the other has not are marked.
    """
    texts = output_of(answers[0]), output_of(answers[1])
    found = _marks(*texts) if mark else None
    spans = ((), ()) if found is None else (found.first, found.second)
    with st.grid(2, min_column_width=300):
        for at in (0, 1):
            with st.container(border=True, gap="xsmall"):
                st.html(heads[at])
                _text(texts[at], spans[at])
                _thinking(answers[at])


def _marks(one: str, other: str) -> WordDiff | None:
    """What to mark; `None`, and a word why, where marks would say nothing."""
    found = remembered("words", (one, other), lambda: word_diff(one, other))
    if found.common is None:
        st.caption("The answers are too long to mark what differs.")
        return None
    if found.common < ALIKE:
        share = fmt.percent(found.common)
        st.caption(f"Only {share} of the words are common to both, so nothing is marked.")
        return None
    if not found.first and not found.second:
        st.caption("Both answers have the same words.")
    return found


def _text(text: str, spans: tuple[tuple[int, int], ...]) -> None:
    if text.strip():
        style = f"max-height:{TALL}px;overflow:auto"
        st.html(f'<div class="rs-prose" style="{style}" tabindex="0">{marked(text, spans)}</div>')
    else:
        st.html('<span class="rs-quiet">Empty answer.</span>')


def _thinking(answer: Answer) -> None:
    if isinstance(answer, Sections) and answer.thinking:
        with st.expander("Thinking", icon=":material/psychology:"):
            prose(answer.thinking, height=TALL)


def folded(words: str, text: str, *, opened: bool = False) -> None:
    """A text that both answers go back to, in an expander; nothing where there is none."""
    if text:
        with st.expander(label(words), expanded=opened):
            st.html(
                f'<div class="rs-prose" style="max-height:300px;overflow:auto">{esc(text)}</div>'
            )
