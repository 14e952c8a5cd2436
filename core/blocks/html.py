"""A paper as one HTML file with SVG plots, which opens without a network."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from core.blocks.blocks import (
    BarPiece,
    Bars,
    Block,
    Forest,
    Histogram,
    IntervalCell,
    NamedValues,
    Paper,
    Section,
    Sentences,
    TableBlock,
    TextCell,
)
from core.blocks.palette import NO_VERDICT, points, text_color
from core.metrics.estimate import Estimate
from core.text.names import visible
from core.text.numbers import percent, score

# Plots as static SVG pictures without script, styled by classes.
#
# The paper's style sheet sets the colours, so light and dark follow the reader.

WIDTH = 720
_LEFT, _RIGHT, _LINE = 190, 20, 30
_LETTER = 6.6  # about the width of a letter at 12 px


def plot(block: Histogram | Forest | Bars) -> str:
    """Return the SVG of a plot, with a name for screen readers."""
    if isinstance(block, Histogram):
        return _histogram(block)
    return _forest(block) if isinstance(block, Forest) else _bars(block)


def _histogram(block: Histogram) -> str:
    height, floor, top = 220, 180, 24
    peak = max((n for *_, n in block.bins), default=1) or 1
    low, high = block.bins[0][0], block.bins[-1][1]

    def x(value: float) -> float:
        return 40 + (value - low) / (high - low) * (WIDTH - 60)

    parts = []
    for start, end, n in block.bins:
        tall = n / peak * (floor - top)
        if n:
            parts.append(
                f'<rect class="bar" x="{x(start) + 1:.1f}" y="{floor - tall:.1f}" '
                f'width="{max(1, x(end) - x(start) - 2):.1f}" height="{tall:.1f}">'
                f"<title>{start:.2f} to {end:.2f}: {n:,}</title></rect>"
                + _text((x(start) + x(end)) / 2, floor - tall - 4, f"{n:,}", "middle")
            )
    parts.append(f'<line class="axis" x1="40" x2="{WIDTH - 20}" y1="{floor}" y2="{floor}"/>')
    for step in range(5):
        value = low + (high - low) * step / 4
        parts.append(_text(x(value), floor + 18, f"{value:.2f}", "middle"))
    if block.mean is not None:
        at = x(block.mean)
        parts.append(
            f'<line class="mean" x1="{at:.1f}" x2="{at:.1f}" y1="{top - 8}" y2="{floor}"/>'
        )
    parts.append(_text(WIDTH / 2, floor + 36, "score (dashed: the mean)", "middle"))
    return _svg(block.name, height, parts)


def _forest(block: Forest) -> str:
    floor = 12 + _LINE * len(block.rows)

    def x(value: float) -> float:
        share = (value - block.low) / (block.high - block.low)
        return _LEFT + share * (WIDTH - _LEFT - _RIGHT)

    parts = []
    for step in range(5):
        value = block.low + (block.high - block.low) * step / 4
        at = x(value)
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="8" y2="{floor}"/>')
        parts.append(_text(at, floor + 16, f"{value:.2f}", "middle"))
    for row, reach in enumerate(block.rows):
        y = 12 + _LINE * row + _LINE / 2
        parts += _range_line(reach, y, x)
    parts.append(_text(WIDTH - _RIGHT, floor + 36, block.axis.lower(), "end"))
    if block.marks:
        parts.append(f'<path class="mark" d="{_estimate_diamond(_LEFT + 6, floor + 32)}"/>')
        parts.append(_text(_LEFT + 16, floor + 36, block.marks))
    return _svg(block.name, floor + 44, parts)


def _range_line(row: IntervalCell, y: float, x: Callable[[float], float]) -> list[str]:
    text = f"{row.name}: {Estimate(row.value, row.low, row.high).words(score).inline}"
    parts = [_text(_LEFT - 10, y + 4, _shorten(row.name, 26), "end")]
    if row.low is not None and row.high is not None:
        parts.append(
            f'<line class="reach" x1="{x(row.low):.1f}" x2="{x(row.high):.1f}" y1="{y}" y2="{y}"/>'
        )
    if row.mark is not None:
        parts.append(f'<path class="mark" d="{_estimate_diamond(x(row.mark), y)}"/>')
    title = f"<title>{_svg_line(text)}</title>"
    parts.append(f'<circle class="point" cx="{x(row.value):.1f}" cy="{y}" r="5">{title}</circle>')
    return parts


def _estimate_diamond(x: float, y: float) -> str:
    return f"M{x - 5:.1f} {y}L{x:.1f} {y - 5}L{x + 5:.1f} {y}L{x:.1f} {y + 5}Z"


def _bars(block: Bars) -> str:
    parts = []
    for row, (name, pieces) in enumerate(block.rows):
        y = 6 + _LINE * row
        parts.append(_text(_LEFT - 10, y + 17, _shorten(name, 26), "end"))
        parts += _bar_pieces(pieces, y)
    return _svg(block.name, 12 + _LINE * len(block.rows), parts)


def _bar_pieces(pieces: tuple[BarPiece, ...], y: float) -> list[str]:
    total = sum(piece.items for piece in pieces)
    room, at, parts = WIDTH - _LEFT - _RIGHT, float(_LEFT), list[str]()
    for piece in pieces:
        if not piece.items:
            continue
        wide = room * piece.items / total
        color = NO_VERDICT if piece.value is None else points(piece.value)
        share = percent(piece.items / total)
        title = f"{piece.label}: {piece.items:,} of {total:,}"
        parts.append(
            f'<rect class="piece" x="{at:.1f}" y="{y}" width="{wide:.1f}" height="{_LINE - 6}" '
            f'fill="{color}"><title>{_svg_line(title)}</title></rect>'
        )
        label = f"{piece.label} {share}"
        for fit in (label, share):
            if len(fit) * _LETTER + 6 <= wide:
                parts.append(
                    f'<text x="{at + wide / 2:.1f}" y="{y + 16}" text-anchor="middle" '
                    f'fill="{text_color(color)}">{_svg_line(fit)}</text>'
                )
                break
        at += wide
    return parts


def _svg(name: str, height: float, parts: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{_svg_line(name)}">'
        f"<title>{_svg_line(name)}</title>{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_svg_line(text)}</text>'


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _svg_line(text: str) -> str:
    return html.escape(visible(text))


#: Blocks every fetch and every script, whatever a text contains.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root{color-scheme:light dark;--ink:#1F2428;--quiet:#565D64;--back:#FCFAF5;--line:#E0DACD;
--accent:#0B6B68;--bar:#1B857E;--mark:#B4540A}
@media (prefers-color-scheme:dark){:root{--ink:#E6E9EB;--quiet:#B4BBC1;--back:#14191E;
--line:#333D45;--accent:#6CCBC1;--bar:#4DB6AD;--mark:#F0A35C}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:2rem 1.2rem 4rem;background:var(--back);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.25;margin:0}
h2{font-size:1.2rem;margin:2.4rem 0 .6rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}
summary>h2{display:inline-block;margin:.5rem 0;border:0}
h3{font-size:1rem;margin:1.4rem 0 .4rem}
p{margin:.3rem 0;max-width:75ch}li{margin:.25rem 0;max-width:75ch}
.quiet,small,footer{color:var(--quiet);font-size:.85rem}
small{display:block;font-weight:400}
nav{margin:1rem 0;font-size:.9rem}nav a{color:var(--accent);margin-right:1rem;display:inline-block}
.wide{overflow-x:auto}
table{border-collapse:collapse;min-width:min(26rem,100%);font-size:.92rem}
caption{text-align:left;font-weight:600;padding:.9rem 0 .3rem}
th{text-align:left;color:var(--quiet);font-size:.85rem;vertical-align:bottom}
td,th{padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:normal}
td:first-child{overflow-wrap:anywhere;min-width:7rem}
.t{overflow-wrap:anywhere}
.n{text-align:right;font-variant-numeric:tabular-nums}
.n small{min-width:6.5rem}
th[scope=row]{color:var(--ink);font-weight:400;font-size:inherit;width:40%}
figure{margin:1rem 0;overflow-x:auto}figcaption{font-weight:600;margin-bottom:.3rem}
svg{width:100%;min-width:32rem;height:auto;max-width:46rem;font:12px system-ui,sans-serif}
svg text{fill:var(--ink)}svg text[fill]{fill:revert-layer}
.bar{fill:var(--bar)}.piece{stroke:var(--back)}.axis,.mean{stroke:var(--quiet)}
.mean{stroke-dasharray:5 4}.grid{stroke:var(--line)}
.reach{stroke:var(--bar);stroke-width:3}.point{fill:var(--bar);stroke:var(--back)}
.mark{fill:none;stroke:var(--mark);stroke-width:2}
@media print{body{max-width:none;padding:0;font-size:11pt;background:#fff}nav{display:none}
h2,h3,caption{break-after:avoid}tr,figure{break-inside:avoid}.wide{overflow:visible}
svg{min-width:0;max-height:16cm}}
"""


def html_paper(paper: Paper) -> str:
    """Return the paper as the text of an HTML file.

    >>> from core.blocks.blocks import Section
    >>> page = html_paper(Paper("A <b>", "", (Section("S", (Sentences(("1 < 2",)),)),)))
    >>> "<h1>A &lt;b&gt;</h1>" in page, "<p>1 &lt; 2</p>" in page
    (True, True)
    """
    heads = [(f"part-{at}", section.title) for at, section in enumerate(paper.sections)]
    links = "".join(f'<a href="#{name}">{_esc(title)}</a>' for name, title in heads)
    body = "".join(
        _section(name, section) for (name, _), section in zip(heads, paper.sections, strict=True)
    )
    style = re.sub(r"\n", "", _STYLE)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{_esc(paper.title)}</title><style>{style}</style></head>\n<body>"
        f'<header><h1>{_esc(paper.title)}</h1><p class="quiet">{_esc(paper.subtitle)}</p></header>'
        f'<nav aria-label="Contents">{links}</nav>\n<main>{body}</main>'
        f"<footer>{_esc(paper.made)}</footer></body></html>\n"
    )


def _section(name: str, section: Section) -> str:
    """Return a section; an annex is folded, and a link to it unfolds it."""
    blocks = "".join(map(_block, section.blocks))
    title = f"<h2>{_esc(section.title)}</h2>"
    if section.annex:
        within = f'<section id="{name}">{blocks}</section>'
        return f"<details><summary>{title}</summary>{within}</details>\n"
    return f'<section id="{name}">{title}{blocks}</section>\n'


def _block(block: Block) -> str:
    if isinstance(block, Sentences):
        return _sentences(block)
    if isinstance(block, Histogram | Forest | Bars):
        caption = f"<figcaption>{_esc(block.name)}</figcaption>"
        return f"<figure>{caption}{plot(block)}</figure>" if _plot_or_text(block) else ""
    return _named_values(block) if isinstance(block, NamedValues) else _table(block)


def _plot_or_text(block: Histogram | Forest | Bars) -> bool:
    return bool(block.bins if isinstance(block, Histogram) else block.rows)


def _sentences(block: Sentences) -> str:
    if block.listed:
        return f"<ul>{''.join(f'<li>{_esc(line)}</li>' for line in block.lines)}</ul>"
    return "".join(f"<p>{_esc(line)}</p>" for line in block.lines)


def _named_values(block: NamedValues) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_esc(name)}</th><td class="t">{_in_cell(cell)}</td></tr>'
        for name, cell in block.rows
    )
    return f'<div class="wide"><table aria-label="{_esc(block.name)}">{rows}</table></div>'


def _table(block: TableBlock) -> str:
    def kind(at: int) -> str:
        return ' class="n"' if at in block.numbers else ' class="t"'

    head = "".join(
        f'<th scope="col"{kind(at)}>{_esc(cell)}</th>' for at, cell in enumerate(block.heads)
    )
    rows = "".join(
        f"<tr>{''.join(f'<td{kind(at)}>{_in_cell(cell)}</td>' for at, cell in enumerate(row))}</tr>"
        for row in block.rows
    )
    note = f'<p class="quiet">{_esc(block.note)}</p>' if block.note else ""
    return (
        f'<div class="wide"><table><caption>{_esc(block.name)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}"
    )


def _in_cell(cell: TextCell) -> str:
    below = f"<small>{_esc(cell.below)}</small>" if cell.below else ""
    return _esc(cell.text) + below


def _esc(text: str) -> str:
    return html.escape(visible(text))
