"""Verdicts of people to plain data and back."""

from __future__ import annotations

import json
from typing import Any

from core.domain.review import Given, Settled, Span
from core.store.content import clean, to_json


def given_data(given: Given) -> dict[str, Any]:
    """A verdict as plain JSON data; what is empty is left out.

    >>> given_data(Given(1))
    {'option': 1}
    """
    found: dict[str, Any] = {"option": given.option}
    if given.why:
        found["why"] = given.why
    if given.note:
        found["note"] = clean(given.note)
    if given.evidence:
        found["evidence"] = [[s.start, s.end, clean(s.quote)] for s in given.evidence]
    return found


def given_from(data: dict[str, Any]) -> Given:
    """The verdict that ``given_data`` wrote.

    >>> given_from({"option": None, "why": "missing_info"})
    Given(option=None, why='missing_info', note='', evidence=())
    """
    spans = tuple(Span(*span) for span in data.get("evidence", ()))
    return Given(data["option"], data.get("why"), data.get("note", ""), spans)


def given_text(given: Given | None) -> str | None:
    """A verdict as JSON text; ``None`` stays ``None``."""
    return None if given is None else to_json(given_data(given))


def given_read(text: str | None) -> Given | None:
    """The verdict that ``given_text`` wrote."""
    return None if text is None else given_from(json.loads(text))


def settled_data(settled: Settled) -> dict[str, Any]:
    """What was settled as plain JSON data, without the event that says so."""
    return {
        "option": settled.option,
        "label": settled.label,
        "why": settled.why,
        "provenance": settled.provenance,
        "people": list(settled.people),
        "note": settled.note,
        "state": settled.state,
    }


def settled_from(item_id: str, criterion: str, data: dict[str, Any], event_id: int) -> Settled:
    """What ``settled_data`` wrote, with the event that says so."""
    return Settled(
        item_id,
        criterion,
        data["option"],
        data["label"],
        data["why"],
        data["provenance"],
        tuple(data["people"]),
        data["note"],
        event_id,
        data["state"],
    )
