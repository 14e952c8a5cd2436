"""The leaderboard with its intervals and limits; and the effects of position and length."""

from __future__ import annotations

from core.services.pairwise.position_bias import position_figures
from core.services.reports import leaderboard_blocks as blocks
from pages.pairwise import selection
from pages.pairwise.selection import ContestSelection
from pages.ui.blocks.drawn import show_block, show_sections
from pages.ui.resources import remembered
from pages.ui.widgets import chosen_confidence, empty_state, interval_choice

#: The most characters of a system's name in tables; the contest shows it in full.
NAMED = 70


def leaderboard_view(chosen: ContestSelection) -> None:
    """Draw the leaderboard's view."""
    board = selection.leaderboard_for(chosen)
    if not board.decided:
        reason = blocks.uncounted_by_reason(board.undecided)
        empty_state("Nothing is decided yet", reason or "No contest has a vote.")
        return
    show_block(None, blocks.count_values(board), "counted")
    show_block(None, blocks.limit_sentences(board), "limits")
    interval_choice(methods=False)
    show_sections(
        [
            blocks.standings_section(board, chosen_confidence().level),
            blocks.methods_section(board.methods, board.systems, board),
            blocks.gaps_section(board),
        ]
    )


def position_and_length(chosen: ContestSelection) -> None:
    """Draw the view of position and length."""
    result = remembered(
        "positions",
        (*chosen.about, chosen.question),
        lambda: position_figures(chosen.contests, chosen.question),
    )
    show_sections(
        [blocks.position_section(result), blocks.length_section(selection.leaderboard_for(chosen))]
    )
