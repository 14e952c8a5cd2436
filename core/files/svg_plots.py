"""A paper's plots as static pictures for a file: SVG without script, styled by classes.

Colours come from the style sheet of the paper, so that light and dark follow the reader.
"""

from __future__ import annotations

import html
from collections.abc import Callable

from core.files.paper import BarPiece, Bars, Forest, Histogram, Reach
from core.files.visible import visible

WIDTH = 720
_LEFT, _RIGHT, _LINE = 190, 20, 30
#: From Cividis (Nuñez, Anderton and Renslow 2018), worst to best, as on the pages.
STEPS = ("#3B496C", "#575D6D", "#707173", "#8A8779", "#A69D75", "#C3B369", "#E1CC55")
AWAY = "#9AA0A6"
_LETTER = 6.6  # about the width of a letter at 12 px


def plot(block: Histogram | Forest | Bars) -> str:
    """The picture of a plot; its name is what a screen reader says."""
    if isinstance(block, Histogram):
        return _histogram(block)
    return _forest(block) if isinstance(block, Forest) else _bars(block)


def _histogram(block: Histogram) -> str:
    height, floor, top = 220, 180, 24
    most = max((n for *_, n in block.bins), default=1) or 1
    low, high = block.bins[0][0], block.bins[-1][1]

    def x(value: float) -> float:
        return 40 + (value - low) / (high - low) * (WIDTH - 60)

    parts = []
    for start, end, n in block.bins:
        tall = n / most * (floor - top)
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
    for row, one in enumerate(block.rows):
        y = 12 + _LINE * row + _LINE / 2
        parts += _reach(one, y, x)
    parts.append(_text(WIDTH - _RIGHT, floor + 36, block.axis.lower(), "end"))
    if block.marks:
        parts.append(f'<path class="mark" d="{_diamond(_LEFT + 6, floor + 32)}"/>')
        parts.append(_text(_LEFT + 16, floor + 36, block.marks))
    return _svg(block.name, floor + 44, parts)


def _reach(one: Reach, y: float, x: Callable[[float], float]) -> list[str]:
    said = f"{one.name}: {one.value:.2f}"
    parts = [_text(_LEFT - 10, y + 4, _cut(one.name, 26), "end")]
    if one.low is not None and one.high is not None:
        said += f" ({one.low:.2f} to {one.high:.2f})"
        parts.append(
            f'<line class="reach" x1="{x(one.low):.1f}" x2="{x(one.high):.1f}" y1="{y}" y2="{y}"/>'
        )
    if one.mark is not None:
        parts.append(f'<path class="mark" d="{_diamond(x(one.mark), y)}"/>')
    title = f"<title>{_svg_text(said)}</title>"
    parts.append(f'<circle class="point" cx="{x(one.value):.1f}" cy="{y}" r="5">{title}</circle>')
    return parts


def _diamond(x: float, y: float) -> str:
    return f"M{x - 5:.1f} {y}L{x:.1f} {y - 5}L{x + 5:.1f} {y}L{x:.1f} {y + 5}Z"


def _bars(block: Bars) -> str:
    parts = []
    for row, (name, pieces) in enumerate(block.rows):
        y = 6 + _LINE * row
        parts.append(_text(_LEFT - 10, y + 17, _cut(name, 26), "end"))
        parts += _pieces(pieces, y)
    return _svg(block.name, 12 + _LINE * len(block.rows), parts)


def _pieces(pieces: tuple[BarPiece, ...], y: float) -> list[str]:
    total = sum(piece.items for piece in pieces)
    room, at, parts = WIDTH - _LEFT - _RIGHT, float(_LEFT), list[str]()
    for piece in pieces:
        if not piece.items:
            continue
        wide = room * piece.items / total
        color = AWAY if piece.value is None else STEPS[round(piece.value * (len(STEPS) - 1))]
        share = f"{piece.items / total:.0%}"
        said = f"{piece.label}: {piece.items:,} of {total:,}"
        parts.append(
            f'<rect class="piece" x="{at:.1f}" y="{y}" width="{wide:.1f}" height="{_LINE - 6}" '
            f'fill="{color}"><title>{_svg_text(said)}</title></rect>'
        )
        words = f"{piece.label} {share}"
        for fit in (words, share):
            if len(fit) * _LETTER + 6 <= wide:
                ink = "#fff" if _dark(color) else "#000"
                parts.append(
                    f'<text x="{at + wide / 2:.1f}" y="{y + 16}" text-anchor="middle" '
                    f'fill="{ink}">{_svg_text(fit)}</text>'
                )
                break
        at += wide
    return parts


def _dark(color: str) -> bool:
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue <= 128


def _svg(name: str, height: float, parts: list[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{_svg_text(name)}">'
        f"<title>{_svg_text(name)}</title>{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_svg_text(words)}</text>'


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _svg_text(text: str) -> str:
    return html.escape(visible(text))
