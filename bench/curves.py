"""Draws curves of accuracy against the share reviewed as one SVG (prints nothing)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, GAP = 250, 190, 46, 46, 44, 30


class Curve(NamedTuple):
    """A name, the shares reviewed, and the accuracy at each, all in [0, 1]."""

    name: str
    shares: tuple[float, ...]
    accuracy: tuple[float, ...]
    learning: tuple[float, ...]


def drawn(curves: Sequence[Curve], columns: int = 2) -> str:
    """One panel per curve: the queue's order solid, learning dotted, random order dashed."""
    rows = -(-len(curves) // columns)
    width = columns * (LEFT + WIDTH + GAP)
    height = rows * (TOP + HEIGHT + BOTTOM) + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="12" role="img" '
        'aria-label="Accuracy against the share reviewed, in queue order and at random">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_legend(),
    ]
    for place, curve in enumerate(curves):
        x = place % columns * (LEFT + WIDTH + GAP) + LEFT
        y = place // columns * (TOP + HEIGHT + BOTTOM) + TOP + 24
        parts += _panel(curve, x, y)
    return "\n".join([*parts, "</svg>\n"])


def _legend() -> list[str]:
    return [
        f'<line x1="{LEFT}" y1="22" x2="{LEFT + 34}" y2="22" stroke="#1d4ed8" stroke-width="2.5"/>',
        f'<text x="{LEFT + 42}" y="26" fill="#111827">in the order of the queue</text>',
        f'<line x1="{LEFT + 220}" y1="22" x2="{LEFT + 254}" y2="22" stroke="#6b7280" '
        'stroke-width="1.5" stroke-dasharray="5 4"/>',
        f'<text x="{LEFT + 262}" y="26" fill="#111827">in random order</text>',
        f'<line x1="{LEFT + 390}" y1="22" x2="{LEFT + 424}" y2="22" stroke="#b45309" '
        'stroke-width="2" stroke-dasharray="2 3"/>',
        f'<text x="{LEFT + 432}" y="26" fill="#111827">queue, learning</text>',
    ]


def _panel(curve: Curve, x: int, y: int) -> list[str]:
    floor = int(curve.accuracy[0] * 10) / 10
    ticks = [floor + step * (1 - floor) / 4 for step in range(5)]

    def at(share: float, accuracy: float) -> str:
        up = (accuracy - floor) / (1 - floor)
        return f"{x + share * WIDTH:.1f},{y + HEIGHT - up * HEIGHT:.1f}"

    points = " ".join(map(at, curve.shares, curve.accuracy))
    learnt = " ".join(map(at, curve.shares, curve.learning))
    ends = (at(0, curve.accuracy[0]), at(1, 1))
    parts = [f'<text x="{x}" y="{y - 12}" fill="#111827" font-weight="600">']
    parts[0] += f"{escape(curve.name)}</text>"
    for tick in ticks:
        level = float(at(0, tick).split(",")[1])
        parts.append(
            f'<line x1="{x}" y1="{level}" x2="{x + WIDTH}" y2="{level}" stroke="#e5e7eb"/>'
            f'<text x="{x - 7}" y="{level + 4}" text-anchor="end" fill="#4b5563">{tick:.2f}</text>'
        )
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(
            f'<text x="{x + share * WIDTH}" y="{y + HEIGHT + 17}" text-anchor="middle" '
            f'fill="#4b5563">{share:.0%}</text>'
        )
    first, last = ends
    parts += [
        f'<polyline points="{first} {last}" fill="none" stroke="#6b7280" stroke-width="1.5" '
        'stroke-dasharray="5 4"/>',
        f'<polyline points="{learnt}" fill="none" stroke="#b45309" stroke-width="2" '
        'stroke-dasharray="2 3"/>',
        f'<polyline points="{points}" fill="none" stroke="#1d4ed8" stroke-width="2.5"/>',
    ]
    return parts
