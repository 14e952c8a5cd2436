"""What is said of a run's status, in one place for every page."""

from __future__ import annotations

from core.domain.runs import RunRow
from core.services import numbers as fmt
from core.services.grading import is_stalled, said_of
from pages.ui.widgets import Tone, tag

STATUS: dict[str, tuple[str, Tone]] = {
    "queued": ("… Waiting to start", "neutral"),
    "running": ("▶ Grading", "info"),
    "done": ("✓ Done", "good"),
    "incomplete": ("◼ Incomplete", "warn"),
    "cancelled": ("◼ Cancelled", "warn"),
    "interrupted": ("◼ Nobody works on it", "warn"),
    "budget": ("◼ Budget spent", "warn"),
    "failed": ("✕ Failed", "bad"),
}
IMPORTED: tuple[str, Tone] = ("✓ Imported", "good")


def status_words(row: RunRow) -> tuple[str, Tone]:
    """The run's status in words, with how many questions had no answer, and its tone."""
    if not row.panel.askable:
        return IMPORTED
    if row.cancel and row.status == "running" and not is_stalled(row):
        return "◼ Stopping", "warn"
    words, tone = STATUS[said_of(row)]
    if row.failures_open and not row.active:
        words = f"{words}, {fmt.plural(row.failures_open, 'failure')}"
    return words, tone


def status_tag(row: RunRow) -> str:
    """The HTML tag of a run's status; its words tell what its colour tells."""
    return tag(*status_words(row))
