"""Labelled answers written for these tests, and a provider that judges them."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Iterator
from typing import Any

from tests.provider import Answer, said

PROMPT = "Why do the tides rise and fall?"
REFERENCE = "The moon's gravity pulls the water of the oceans."
MOON = (
    "The gravity of the moon pulls the water",
    "The moon attracts the water by its gravity",
    "It is the gravity of the moon acting on the water",
    "Because of gravity, the moon draws the water up",
)
WIND = (
    "The wind blows the water to the shore",
    "Strong wind pushes the water about",
    "Ships and wind stir the water",
    "Because of wind, the water moves up the beach",
)
DEPTH = {
    "Absent": "",
    "In part": ", on the side that faces it",
    "Whole": ", on the side that faces it and on the far side, so that there are two every day",
}
TONE = {
    "Category A": "I think: {}.",
    "Category B": "Behold, dear reader, the majesty of the ocean! {}, alas!",
}


def labelled_csv() -> bytes:
    """48 rows: id, prompt, reference, answer, a note, and a label for each of three criteria.

    Every label can be told from the words: gravity or wind, the length, the flourishes.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(
        ["id", "prompt", "reference", "answer", "note", "Names gravity", "Depth", "Tone"]
    )
    writer.writerows(_rows())
    return out.getvalue().encode()


def _rows() -> Iterator[list[str]]:
    causes = [(text, "MET") for text in MOON] + [(text, "UNMET") for text in WIND]
    every = itertools.product(causes, DEPTH.items(), TONE.items())
    for number, ((cause, met), (depth, more), (tone, frame)) in enumerate(every, start=1):
        answer = frame.format(cause + more)
        yield [f"t{number:02}", PROMPT, REFERENCE, answer, "by hand", met, depth, tone]


def first_shown(body: dict[str, Any]) -> Answer:
    """A judge that always takes the option shown first, and quotes a word of every answer."""
    reply = {"evidence": ["water"], "reason": "It stood first.", "option": 1}
    return said(json.dumps(reply))
