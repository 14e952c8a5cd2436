"""Pass, fail and review, as tags and words."""

from __future__ import annotations

from collections.abc import Mapping

from core.scoring.trace import Outcome, Trace
from pages.ui.widgets import Tone, tag

OUTCOMES: Mapping[Outcome, tuple[str, Tone]] = {
    "pass": ("✓ Passes", "good"),
    "fail": ("✕ Fails", "bad"),
    "review": ("Needs a person", "warn"),
}
#: The same within a sentence.
OUTCOME_WORDS: Mapping[Outcome, str] = {
    "pass": "passes",
    "fail": "fails",
    "review": "needs a person",
}


def outcome_tags(trace: Trace) -> list[str]:
    """The outcome, whether a person is needed beside it, what pre-checks found, and flags."""
    marks = [] if trace.outcome is None else [tag(*OUTCOMES[trace.outcome])]
    if trace.review and trace.outcome != "review":
        marks.append(tag(*OUTCOMES["review"]))
    marks += [tag(f"Found: {mark.name}", "warn") for mark in trace.checks if mark.found]
    return marks + [tag(f"Flag: {flag}", "info") for flag in trace.flags]
