"""Events as a table to read."""

from __future__ import annotations

from collections.abc import Iterable

from core.services.review_story import Line
from pages.review._record.words import quiet
from pages.ui.text import esc, one_line
from pages.ui.widgets import table, tag


def lines(found: Iterable[Line], *, name: str, places: bool) -> None:
    """The events; `places` says of each on which item and criterion."""
    heads = ("When (UTC)", "Who", *(("Cell",) if places else ()), "What")
    table(heads, (_row(one, places=places) for one in found), name=name)


def _row(one: Line, *, places: bool) -> list[str]:
    what = esc(one.what)
    if one.undone:
        what += f" {tag('taken back')}"
    if one.note:
        what += f'<div class="rs-quote">{esc(one_line(one.note, 400))}</div>'
    cell = f"{esc(one_line(one.item_id, 40))}<br>{quiet(one_line(one.criterion, 60))}"
    when = f'<span class="rs-num">{one.when[:10]} {one.when[11:16]}</span>'
    return [when, esc(one.who), *([cell] if places else []), what]
