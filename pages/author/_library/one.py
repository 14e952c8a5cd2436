"""One criterion of the library, as people read it and as judges are sent it."""

from __future__ import annotations

import streamlit as st

from core.domain.rubric import Criterion, Option
from core.services import library, rehearsing
from core.services import numbers as fmt
from core.services.library import Entry
from pages.ui.rule_words import SCALE_NAMES
from pages.ui.text import esc, label, prose, raw
from pages.ui.widgets import row, tag


def tags(criterion: Criterion) -> str:
    """The HTML of its weight, its effect and its kind of answer."""
    scored = sum(not option.na for option in criterion.options)
    words = {
        "binary": SCALE_NAMES["binary"],
        "ordinal": f"{scored} levels",
        "nominal": f"{scored} categories",
    }[criterion.scale]
    penalty = tag("− Penalty", "bad") if criterion.weight < 0 else ""
    return f'<b class="rs-num">{fmt.weight(criterion.weight)}</b>{penalty}{tag(words)}'


def show(entry: Entry) -> None:
    """The requirement, every option with its anchor, the worked example, the exact prompt."""
    criterion, example = entry.criterion, entry.example
    with st.container(border=True):
        st.html(f"<b>{esc(criterion.name)}</b>")
        row([tags(criterion)])
        prose(criterion.requirement)
        known_as = ", ".join(entry.known_as)
        st.html(f'<div class="rs-quiet">Elsewhere called: {esc(known_as)}</div>')
        st.html("".join(_option(o, o.label == example.option) for o in criterion.options))
    with st.container(border=True, gap="xsmall"):
        st.html('<div class="rs-section">Worked example</div>')
        for words, text in (
            ("Task", example.item.prompt),
            ("Reference", example.item.reference),
            ("Submission", example.item.output),
        ):
            if text:
                st.caption(words)
                prose(text)
        st.html(
            f'<div class="rs-row"><span class="rs-chip rs-chosen">✓ {esc(example.option)}</span>'
            f"<span>{esc(example.why)}</span></div>"
        )
    with st.expander("Exactly what a judge is sent"):
        _sent(entry)


def _option(option: Option, fits: bool) -> str:
    value = "abstains" if option.na else f"value {fmt.score(option.value)}"
    chip = "rs-chip" + (" rs-na" if option.na else "") + (" rs-chosen" if fits else "")
    tick = "✓ " if fits else ""
    return (
        f'<div style="margin:.75rem 0 0"><span class="{chip}">{tick}{esc(option.label)} '
        f"<small>{value}</small></span>"
        f'<div class="rs-quiet" style="margin-top:.15rem">{esc(option.description)}</div></div>'
    )


def _sent(entry: Entry) -> None:
    guidelines = next(p.guidelines for p in library.packs() if p.name == entry.pack)
    preview = rehearsing.preview_prompt(
        entry.criterion, guidelines, entry.example.item, seed=0, shuffle=True
    )
    for segment in preview.segments:
        st.caption(label(segment.role))
        raw(segment.text, height=320)
