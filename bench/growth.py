"""Draws how pages grow with votes: `python -m bench.growth FIGURES PICTURE`.

FIGURES has a line of JSON per size, as `bench/screens.py --note` writes them; PICTURE is an SVG
with seconds of CPU of each page's first visit over votes, both axes in powers of ten.
"""

from __future__ import annotations

import json
import sys
from html import escape
from math import log10
from pathlib import Path

from bench.screens import goal

WIDTH, HEIGHT, LEFT, TOP, RIGHT = 900, 520, 70, 40, 250
LEAST, MOST = -2.0, 1.0
SHOWN = (
    "runs, plan",
    "report",
    "compare",
    "run, items",
    "agreement, criteria",
    "agreement, findings",
    "record, all cells",
    "queues",
    "queues, new",
    "runs, sweep",
)
COLOURS = ("#1b6", "#c33", "#36c", "#a50", "#639", "#088", "#c3a", "#777", "#260", "#05a")


def main() -> None:
    figures, picture = map(Path, sys.argv[1:3])
    lines = [json.loads(line) for line in figures.read_text(encoding="utf-8").splitlines()]
    lines.sort(key=lambda line: line["votes"])
    picture.write_text(_svg(lines), encoding="utf-8")


def _svg(lines: list[dict[str, object]]) -> str:
    votes = [int(str(line["votes"])) for line in lines]
    low, high = log10(min(votes)), log10(max(votes))

    def at(number: float, seconds: float) -> tuple[float, float]:
        x = LEFT + (log10(number) - low) / (high - low or 1) * (WIDTH - LEFT - RIGHT)
        share = (min(max(log10(max(seconds, 1e-3)), LEAST), MOST) - LEAST) / (MOST - LEAST)
        return round(x, 1), round(TOP + (1 - share) * (HEIGHT - 2 * TOP), 1)

    parts = [_grid(at, votes)]
    places = list[float]()
    ends = []
    for name, colour in zip(SHOWN, COLOURS, strict=True):
        values = [dict(line["pages"])[name][0] for line in lines]  # type: ignore[call-overload]
        points = [at(number, value) for number, value in zip(votes, values, strict=True)]
        path = " ".join(f"{x},{y}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        ends.append((points[-1][1], name, colour, values[-1]))
    for y, name, colour, value in sorted(ends):
        place = max([y + 4, *(one + 15 for one in places[-1:])])
        places.append(place)
        words = escape(f"{name}: {value:.2f} s of {goal(name):.0f}")
        x = WIDTH - RIGHT + 10
        parts.append(f'<text x="{x}" y="{place}" fill="{colour}">{words}</text>')
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="13">\n<rect width="{WIDTH}" height="{HEIGHT}" '
        f'fill="#fff"/>\n{body}\n</svg>\n'
    )


def _grid(at: object, votes: list[int]) -> str:
    assert callable(at)
    found = [
        f'<text x="{LEFT}" y="20">First visit of a page, seconds of CPU, by votes of a run</text>'
    ]
    for power in range(int(LEAST), int(MOST) + 1):
        (x, y), (end, _) = at(min(votes), 10.0**power), at(max(votes), 10.0**power)
        found.append(f'<line x1="{x}" y1="{y}" x2="{end}" y2="{y}" stroke="#ddd"/>')
        found.append(f'<text x="{x - 45}" y="{y + 4}">{10.0**power:g}</text>')
    for number in votes:
        x, y = at(number, 10.0**LEAST)
        found.append(f'<text x="{x - 25}" y="{y + 20}">{number:,}</text>')
    return "\n".join(found)


if __name__ == "__main__":
    main()
