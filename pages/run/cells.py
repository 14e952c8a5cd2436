"""A grid of coloured cells: arrow keys move in it, Enter or a click opens a cell.

A table of HTML and not a drawing, so that readers of screens and searches find its words, its
colours follow light and dark, and a long row scrolls beside its name. What goes in are words, put
there as text; what comes back is the name of a cell or a column that the script gave out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import streamlit as st

from core.services.results.grid import GridCell
from core.text import numbers as fmt
from core.text.names import visible
from pages.ui import state
from pages.ui.text import one_line

#: From no points at all to all of them; without any: `none`; no cell, but words: `plain`.
Tone = Literal["t0", "t1", "t2", "t3", "t4", "none", "plain"]
#: Signs in a cell, and what they say.
SIGNS = {"≠": "judges disagree", "○": "a judge abstained", "✕": "a judge failed", "◆": "settled"}


class Shown(NamedTuple):
    """One cell: words, colour, signs, all of it in a sentence, its name, and a quiet line."""

    words: str
    tone: Tone = "plain"
    signs: str = ""
    tells: str = ""
    opens: str = ""
    note: str = ""


class Head(NamedTuple):
    """A column: its words, a quiet line below, what a click sorts by, and how it is sorted."""

    words: str
    note: str = ""
    sort: str = ""
    way: Literal["", "ascending", "descending"] = ""
    wide: int = 0


def tone_of(share: float | None) -> Tone:
    """The colour of a share of the best: five steps.

    >>> [tone_of(share) for share in (0.0, 0.2, 0.5, 0.8, 1.0, None)]
    ['t0', 't1', 't2', 't3', 't4', 'none']
    """
    if share is None:
        return "none"
    if share <= 0 or share >= 1:
        return "t0" if share <= 0 else "t4"
    return "t1" if share < 0.4 else "t2" if share < 0.6 else "t3"


def cell_of(cell: GridCell | None, opens: str, *, where: str) -> Shown:
    """A cell of a run; `where` names its item or criterion to those who do not see the grid."""
    if cell is None:
        return Shown("", "plain", "", f"{where}: not asked", "")
    signs = [
        *(["≠"] if cell.split else []),
        *(["○"] if cell.abstentions and not cell.abstained else []),
        *(["✕"] if cell.failures else []),
        *(["◆"] if cell.settled else []),
    ]
    words = ("≈ " if cell.between else "") + one_line(cell.label, 40)
    if not cell.label:
        gone = "failed" if cell.failures else "not asked"
        words = "abstained" if cell.abstained else "cannot say" if cell.settled else gone
    earned = "" if cell.earned is None else f", {fmt.percent(cell.earned)} of its best"
    more = "".join(f", {SIGNS[sign]}" for sign in signs)
    tells = f"{visible(where)}: {words}{earned}{more}"
    return Shown(words, tone_of(cell.earned), " ".join(signs), tells, opens)


def show(
    key: str,
    name: str,
    heads: Sequence[Head],
    rows: Sequence[Sequence[Shown]],
    *,
    groups: Sequence[tuple[str, int, str]] = (),
    lines: Sequence[Sequence[Shown]] = (),
    opened: str = "",
    on_open: Callable[[str], None],
    on_sort: Callable[[str], None] | None = None,
    height: int = 0,
) -> None:
    """Draw it; the first cell of a row is its name and stays in sight.

    Args:
        key: the widget's.
        name: what the grid is, for those who do not see it.
        heads: the columns.
        rows: as many cells each as there are columns.
        groups: words over so many columns each, with a quiet line; `("", 2, "")` for none.
        lines: rows that stay in sight below the heads, e.g. means.
        opened: the name (`Shown.opens`) of the cell that is open.
        on_open: called with the name of a cell that was clicked.
        on_sort: called with what a column sorts by.
        height: pixels, beyond which its rows scroll; 0 for as high as it is.
    """
    component = st.components.v2.component(
        "rubric_studio_grid", css=_CSS, js=_JS, isolate_styles=False
    )
    given = {one.opens for cells in rows for one in cells if one.opens}
    sorts = {head.sort for head in heads if head.sort}

    def _answer(event: str, known: set[str], act: Callable[[str], None] | None) -> None:
        said = (state.get(key) or {}).get(event)
        # Only what was given out: what a browser sends is anybody's.
        if act is not None and isinstance(said, str) and said in known:
            act(said)

    component(
        key=key,
        data={
            "name": name,
            "heads": [head._asdict() for head in heads],
            "groups": [list(group) for group in groups],
            "lines": [[list(cell) for cell in cells] for cells in lines],
            "rows": [[list(cell) for cell in cells] for cells in rows],
            "opened": opened,
            "height": height,
        },
        on_open_change=lambda: _answer("open", given, on_open),
        on_sort_change=lambda: _answer("sort", sorts, on_sort),
    )


def key_of(rows: Sequence[Sequence[Shown]]) -> str:
    """What the signs in these cells say, of those that stand there."""
    known = {**SIGNS, "✓": "label as the verdict", "✗": "another label", "·": "does not count"}
    there = {sign for cells in rows for cell in cells for sign in cell.signs.split()}
    return " · ".join(f"{sign} {words}" for sign, words in known.items() if sign in there)


def legend() -> str:
    """HTML of what the colours say; what the signs say stands beside them where they filter."""
    steps = "".join(f'<i class="rs-step-{at}">{words}</i>' for at, words in _STEPS.items())
    return f'<span class="rs-steps">{steps}</span>'


_STEPS = {0: "no points", 1: "", 2: "half", 3: "", 4: "all", "none": "no verdict"}
_CSS = """
.rs-grid{overflow:auto;border:1px solid light-dark(#8A8679,#6C757D);border-radius:.45rem;
 scroll-padding:3.4rem 1rem 1rem 9.5rem;
table{border-collapse:separate;border-spacing:0;font-size:.84rem;line-height:1.35;
 font-variant-numeric:tabular-nums;min-width:100%}
th,td{padding:.22rem .5rem;text-align:left;white-space:nowrap;overflow:hidden;
 text-overflow:ellipsis;max-width:8.2rem;border-bottom:1px solid light-dark(#E4DFD4,#2A333A);
 border-right:1px solid light-dark(#E4DFD4,#2A333A);color:light-dark(#1B2126,#F0EDE6)}
thead{position:sticky;top:0;z-index:2}
thead :is(th,td){background:light-dark(#F3F0E8,#1E252B);font-weight:600;vertical-align:top}
thead td{font-weight:400}
thead tr:last-child>*{border-bottom:2px solid light-dark(#8A8679,#6C757D)}
small{display:block;font-weight:400;color:light-dark(#4A5057,#C3C9CE)}
thead button{all:unset;cursor:pointer;display:block;width:100%;overflow:hidden;
 text-overflow:ellipsis}
tr>:first-child{position:sticky;left:0;z-index:1;background:light-dark(#FDFCF9,#14191D);
 max-width:11rem;font-weight:400}
thead tr>:first-child{z-index:3;background:light-dark(#F3F0E8,#1E252B);font-weight:600}
td[data-opens],tbody th[data-opens]{cursor:pointer}
:is(td,tbody th,thead button):focus-visible{outline:3px solid light-dark(#0B6B68,#83D6CC);
 outline-offset:-3px}
.opened{box-shadow:inset 0 0 0 2px light-dark(#1B2126,#F0EDE6);font-weight:650}
:is(td,th).t0{background:light-dark(#F9D2CC,#5C2722)}
:is(td,th).t1{background:light-dark(#FBE0C6,#573A1A)}
:is(td,th).t2{background:light-dark(#FAF0BF,#4A4219)}
:is(td,th).t3{background:light-dark(#E3F0C6,#35461D)}
:is(td,th).t4{background:light-dark(#C9EAD3,#17472F)}
:is(td,th).none{background:repeating-linear-gradient(135deg,light-dark(#F6F4EE,#1C2328) 0 5px,
 light-dark(#ECE8DF,#252D34) 5px 10px);color:light-dark(#454C53,#C3C9CE)}
.sign{margin-left:.4rem;font-weight:650}
.wide{max-width:none}
}
.st-key-rs_steps button [data-testid="stMarkdownContainer"]{position:absolute;width:1px;
 height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.rs-steps{display:inline-flex;font-size:.78rem;line-height:1.4;border-radius:.3rem;overflow:hidden;
 border:1px solid light-dark(#8A8679,#6C757D)}
.rs-steps i{font-style:normal;padding:0 .45rem;color:light-dark(#1B2126,#F0EDE6)}
.rs-step-0{background:light-dark(#F9D2CC,#5C2722)}
.rs-step-1{background:light-dark(#FBE0C6,#573A1A)}
.rs-step-2{background:light-dark(#FAF0BF,#4A4219)}
.rs-step-3{background:light-dark(#E3F0C6,#35461D)}
.rs-step-4{background:light-dark(#C9EAD3,#17472F)}
.rs-step-none{background:light-dark(#ECE8DF,#252D34)}
.st-key-rs_split{flex-wrap:nowrap!important;align-items:flex-start}
.st-key-rs_split>:has(>.st-key-rs_grid_side){flex:1 1 0;min-width:0}
.st-key-rs_split>:has(>.st-key-rs_cell_side){flex:0 0 44%;min-width:0;position:sticky;top:3.6rem;
 max-height:calc(100vh - 4.5rem);overflow:auto}
@media (max-width:900px){.st-key-rs_split{flex-direction:column-reverse!important}
 .st-key-rs_split>:has(>:is(.st-key-rs_grid_side,.st-key-rs_cell_side)){flex:none;width:100%;
 position:static;max-height:none}}
"""

_JS = """
const seen = new WeakMap();
export default function ({ data, parentElement, setTriggerValue }) {
  const mine = seen.get(parentElement) || { row: 0, column: 0, opened: null };
  seen.set(parentElement, mine);
  let frame = parentElement.querySelector(".rs-grid");
  const focused = frame && frame.contains(frame.getRootNode().activeElement);
  if (!frame) {
    frame = document.createElement("div");
    frame.className = "rs-grid";
    parentElement.appendChild(frame);
  }
  frame.style.maxHeight = data.height ? data.height + "px" : "";
  const make = (kind, into, words) => {
    const made = document.createElement(kind);
    if (words) made.textContent = words;
    into.appendChild(made);
    return made;
  };
  const table = document.createElement("table");
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", data.name);
  const head = make("thead", table);
  if (data.groups.length) {
    const line = make("tr", head);
    line.className = "groups";
    for (const [words, span, note] of data.groups) {
      const over = make("th", line, words);
      over.colSpan = span;
      if (note) make("small", over, note);
      over.title = words;
      over.scope = "colgroup";
    }
  }
  const line = make("tr", head);
  for (const one of data.heads) {
    const th = make("th", line);
    th.scope = "col";
    th.title = one.words;
    if (one.wide) th.style.minWidth = one.wide + "px";
    if (one.way) th.setAttribute("aria-sort", one.way);
    const arrow = one.way === "ascending" ? " ▲" : one.way === "descending" ? " ▼" : "";
    if (one.sort) {
      const button = make("button", th, one.words + arrow);
      button.type = "button";
      button.title = "Sort by " + one.words;
      button.onclick = () => setTriggerValue("sort", one.sort);
    } else th.append(one.words);
    if (one.note) make("small", th, one.note);
  }
  const put = ([words, tone, signs, tells, , note], c, tr) => {
    const cell = make(c ? "td" : "th", tr, words);
    if (!c) cell.scope = "row";
    cell.setAttribute("role", c ? "gridcell" : "rowheader");
    if (tone !== "plain") cell.className = tone;
    if (data.heads[c].wide) cell.classList.add("wide");
    if (signs) make("span", cell, signs).className = "sign";
    if (note) make("small", cell, note);
    if (tells) { cell.title = tells; cell.setAttribute("aria-label", tells); }
    return cell;
  };
  for (const row of data.lines) {
    const tr = make("tr", head);
    for (let c = 0; c < data.heads.length; c++) put(row[c] || ["", "plain", "", "", "", ""], c, tr);
  }
  const body = make("tbody", table);
  const cells = data.rows.map((row, r) => {
    const tr = make("tr", body);
    return row.map((one, c) => {
      const opens = one[4], cell = put(one, c, tr);
      cell.tabIndex = -1;
      if (opens) cell.dataset.opens = opens;
      if (opens && opens === data.opened) {
        cell.classList.add("opened");
        cell.setAttribute("aria-selected", "true");
        [mine.row, mine.column] = [r, c];
      }
      return cell;
    });
  });
  const at = (r, c) => {
    r = Math.max(0, Math.min(cells.length - 1, r));
    c = Math.max(0, Math.min(data.heads.length - 1, c));
    return [r, c];
  };
  // Within the frame only: what else is read on the page stays where it is.
  const reveal = (cell) => {
    const [box, on] = [frame.getBoundingClientRect(), cell.getBoundingClientRect()];
    const top = box.top + head.offsetHeight, left = box.left + cells[0][0].offsetWidth;
    if (on.top < top) frame.scrollTop -= top - on.top;
    else if (on.bottom > box.bottom) frame.scrollTop += on.bottom - box.bottom;
    if (on.left < left) frame.scrollLeft -= left - on.left;
    else if (on.right > box.right) frame.scrollLeft += on.right - box.right;
  };
  const move = (r, c, focus) => {
    if (!cells.length) return;
    [mine.row, mine.column] = at(mine.row, mine.column);
    cells[mine.row][mine.column].tabIndex = -1;
    [mine.row, mine.column] = at(r, c);
    const cell = cells[mine.row][mine.column];
    cell.tabIndex = 0;
    if (focus) cell.focus({ preventScroll: true });
    reveal(cell);
    if (focus) cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const open = (cell) => cell.dataset.opens && setTriggerValue("open", cell.dataset.opens);
  body.onclick = (event) => {
    const cell = event.target.closest("td, th");
    const r = cells.findIndex((row) => row.includes(cell));
    if (r < 0) return;
    move(r, cells[r].indexOf(cell), true);
    open(cell);
  };
  body.onkeydown = (event) => {
    const { row, column } = mine;
    const last = data.heads.length - 1;
    const to = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      Home: [row, 0], End: [row, last],
      PageUp: [row - 10, column], PageDown: [row + 10, column],
    }[event.key];
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    if (to) move(...to, true);
    else if (event.key === "Enter" || event.key === " ") open(cells[row][column]);
    else return;
    // The page's own keys (the item before and after) are not meant.
    event.preventDefault();
    event.stopPropagation();
  };
  frame.replaceChildren(table);
  const news = mine.opened !== null && mine.opened !== data.opened;
  mine.opened = data.opened;
  if (focused || (news && cells.length)) move(mine.row, mine.column, focused);
  else if (cells.length) {
    [mine.row, mine.column] = at(mine.row, mine.column);
    cells[mine.row][mine.column].tabIndex = 0;
    if (data.opened) reveal(cells[mine.row][mine.column]);
  }
}
"""
