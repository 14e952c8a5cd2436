"""Estimates, shares and settings of a report as words of a paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from core.files.paper import Words
from core.metrics.estimate import Estimate, Share
from core.services.numbers import DASH, count, percent, score
from core.services.reporting_values import Report

#: The address parameters of the Run page that keep some of its items.
Link = Mapping[str, str]
OUTCOME = {"pass": "pass", "fail": "fail", "review": "need a person", "none": "no outcome"}
KINDS = {
    "llm": "model",
    "offline": "offline judge",
    "human": "person",
    "classifier": "offline: classifier",
    "neighbours": "offline: nearest labelled neighbours",
    "person": "person",
    "imported": "imported model",
    "imported_offline": "imported offline judge",
    "reference": "reference",
}


def figure(one: Estimate, *, share: bool = False) -> Words:
    """A figure with its interval below, or why there is none.

    >>> figure(Estimate(0.5, 0.25, 0.75))
    Words(text='.50', below='.25 to .75', link={})
    """
    form = percent if share else score
    if one.value is None:
        return Words("undefined", one.reason)
    if one.low is None or one.high is None:
        return Words(form(one.value), f"no interval: {one.reason}" if one.reason else "no interval")
    return Words(form(one.value), f"{form(one.low)} to {form(one.high)}")


def shared(one: Share | None, link: Link | None = None) -> Words:
    """A share with its count and interval.

    >>> shared(Share.of(3, 4)).below
    '3 of 4; 30% to 95%'
    """
    if one is None or one.low is None or one.high is None:
        return Words(DASH)
    ends = f"{percent(one.low)} to {percent(one.high)}"
    below = f"{count(one.hits)} of {count(one.n)}; {ends}"
    return Words(percent(one.value), below, link if link and one.hits else {})


def number(value: int, link: Link | None = None) -> Words:
    """A count, which leads to what it counts."""
    return Words(count(value), "", link if link and value else {})


def kind(name: str, *, capital: bool = False) -> str:
    """What a rater or judge is, in words."""
    words = KINDS.get(name, name)
    return words[:1].upper() + words[1:] if capital else words


def reference(report: Report) -> Literal["labels", "people's majority"]:
    """What verdicts are compared with."""
    return "people's majority" if report.reference == "people" else "labels"


def day_and_time(moment: str | None) -> str:
    """An ISO moment to the minute, in UTC.

    >>> day_and_time("2026-01-02T10:00:00.000Z")
    '2026-01-02 10:00 UTC'
    """
    return DASH if moment is None else f"{moment[:10]} {moment[11:16]} UTC"
