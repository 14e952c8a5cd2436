"""The leaderboard with its intervals and limits; and whether place or length decides."""

from __future__ import annotations

from core.services.pairwise.position_bias import positions
from core.services.reports import leaderboard_blocks as blocks
from pages.pairwise import selection
from pages.pairwise.selection import ContestSelection
from pages.ui.blocks.drawn import show, show_sections
from pages.ui.resources import remembered
from pages.ui.widgets import confidence, empty_state, interval_choice

#: Names of systems are cut here in tables; the contest itself has them whole.
NAMED = 70


def leaderboard_view(chosen: ContestSelection) -> None:
    """The whole view."""
    found = selection.board(chosen)
    if not found.decided:
        why = blocks.why(found.undecided)
        empty_state("Nothing is decided yet", why or "No contest has a vote.")
        return
    show(None, blocks.counted(found), "counted")
    show(None, blocks.limits(found), "limits")
    interval_choice(methods=False)
    show_sections(
        [
            blocks.standings(found, confidence().level),
            blocks.methods(found.methods, found.systems, found),
            blocks.gaps(found),
        ]
    )


def position_and_length(chosen: ContestSelection) -> None:
    """The whole view."""
    found = remembered(
        "positions",
        (*chosen.about, chosen.question),
        lambda: positions(chosen.contests, chosen.question),
    )
    show_sections([blocks.place(found), blocks.length(selection.board(chosen))])
