"""Events as a list to read."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from core.services.review_story import Line
from pages.ui.text import esc, one_line
from pages.ui.widgets import tag


def lines(found: Iterable[Line], *, name: str, places: bool) -> None:
    """The events; `places` says of each on which item and criterion."""
    rows = "".join(_line(one, places=places) for one in found)
    st.html(f'<ul class="rs-list" aria-label="{esc(name)}">{rows}</ul>')


def _line(one: Line, *, places: bool) -> str:
    where = ""
    if places and one.item_id:
        cell = [one_line(one.item_id, 60)]
        cell += [one_line(one.criterion, 60)] if one.criterion else []
        where = f" · {esc(' · '.join(cell))}"
    undone = f" {tag('taken back')}" if one.undone else ""
    note = f'<div class="rs-quote">{esc(one_line(one.note, 400))}</div>' if one.note else ""
    when = f"{one.when[:10]} {one.when[11:16]} UTC"
    return (
        f"<li><b>{esc(one.who)}</b> {esc(one.what)}{undone}<br>"
        f'<span class="rs-quiet rs-num">{when}{where}</span>{note}</li>'
    )
