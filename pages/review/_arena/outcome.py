"""How the person and the judges agree: a line at all times, per judge after a vote."""

from __future__ import annotations

from core.services import contest_arena, contest_people
from core.services import numbers as fmt
from core.services.contest_arena import Accord
from pages.review._arena.desk import Desk
from pages.ui import routes, state
from pages.ui.resources import remembered, store
from pages.ui.text import esc
from pages.ui.widgets import empty_state, table


def line(at: Desk) -> str:
    """In words, without any name."""
    panel = _accords(at)[0]
    if panel.rate is None:
        return "no contest yet that you and the judges both decided"
    return (
        f"you and the judges say the same on {fmt.count(panel.same)} of {fmt.count(panel.n)} "
        f"({fmt.percent(panel.rate)})"
    )


def agreement(at: Desk) -> None:
    """A row for the judges together and each one."""
    table(
        ("You and", "Contests", "Same", "95 %", "Kappa"),
        map(_row, _accords(at)),
        name="Your agreement with the judges",
        numbers=(1, 2),
    )


def finished(at: Desk, run_id: int) -> None:
    """Everything has this person's vote."""
    empty_state("Every contest has your vote", "Thank you. This is how you and the judges agree.")
    agreement(at)
    routes.link(
        routes.CONTESTS,
        "See people and judges on one matrix",
        {state.RUN: run_id, "view": "people"},
    )


def _row(one: Accord) -> list[str]:
    if one.rate is None or one.low is None or one.high is None:
        ends = fmt.DASH
        same = fmt.DASH
    else:
        same = f"{fmt.count(one.same)} ({fmt.percent(one.rate)})"
        ends = f"{fmt.percent(one.low)} to {fmt.percent(one.high)}"
    kappa = one.kappa
    return [
        f"<b>{esc(one.judge)}</b>" if one.judge else "<b>the judges together</b>",
        fmt.count(one.n),
        same,
        ends,
        f'<span class="rs-quiet">{esc(kappa.reason)}</span>'
        if kappa.value is None
        else fmt.score(kappa.value),
    ]


def _accords(at: Desk) -> list[Accord]:
    about = (at.arena, *contest_people.votes_so_far(store(), at.arena))
    return remembered("accords", about, lambda: contest_arena.accords(store(), [at.arena]))
