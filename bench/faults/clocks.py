"""Row 14 and DST: a wall clock that jumps; and row 13, two people at one rubric."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime

from bench.calls import rubric
from bench.faults.world import Counting, Row, Site, faulty, site
from core.errors import Conflict
from core.services.rubrics import draft_criteria, library
from core.services.rubrics.drafts import draft_from
from core.store.store import Store

DAY = 86_400


def jumping(trials: int) -> Row:
    """The clock jumps a day forth and back each second while a run is worked off."""
    row = Row()
    _graded(row, "a day forth and back", faulty("none", jump=DAY))
    return row


def summer_time(trials: int) -> Row:
    """Summer time begins, and ends, in the middle of a run."""
    row = Row()
    for what, moment in (
        ("it ends", datetime(2026, 10, 25, 0, 59, 45, tzinfo=UTC)),
        ("it begins", datetime(2027, 3, 28, 0, 59, 45, tzinfo=UTC)),
    ):
        shift = int(moment.timestamp() - time.time())
        # 24 s of run from 15 s before it on.
        at = _graded(row, what, {"TZ": "Europe/Berlin", **faulty("none", shift=shift)})
        hour = moment.replace(hour=1, minute=0, second=0).isoformat()[:19]
        row.must(at[0] < hour < at[1] and at[1][-1] == "Z", f"{what}: not within it: {at}")
        row.say(f"{what}: began {at[0]}, ended {at[1]}")
    return row


def _graded(row: Row, what: str, environment: dict[str, str]) -> tuple[str, str]:
    with site(60, Counting(0.2)) as at:
        running = at.grade("--concurrency", 3, **environment)
        _, said = running.communicate(timeout=120)
        negative = at.count("SELECT (SELECT count(*) FROM call WHERE seconds < 0)")
        negative += at.count("SELECT count(*) FROM run WHERE seconds < 0")
        longest = at.ask("SELECT max(seconds), (SELECT seconds FROM run WHERE id = 1) FROM call")[0]
        row.say(
            f"{what}: {at.votes} of {at.planned} votes, negative durations {negative}, "
            f"longest call {longest[0]:.1f} s, run {longest[1]:.1f} s"
        )
        row.must(not negative, "negative durations")
        row.must(longest[1] < 120, "a duration of a jump")
        row.must(at.votes == at.planned and running.returncode == 0, said[-300:])
        row.must("Traceback" not in said and not at.sound(), at.sound())
        ((began, ended),) = at.ask("SELECT started, finished FROM run WHERE id = 1")
        row.must(_by_id(at), f"{what}: not in the order in which it was kept")
        return began, ended


def _by_id(at: Site) -> bool:
    """Whether what is listed newest first goes by id and not by time."""
    store = Store(at.db)
    try:
        second = at.plan()
        return [row.id for row in store.runs.list()] == [second, 1]
    finally:
        store.close()


def two_at_one_rubric(trials: int) -> Row:
    """Two sessions open, edit, save and reopen one rubric, 200 interleavings drawn at random."""
    row, dice = Row(), random.Random(7)
    refused = overwritten = saved = 0
    with site(1) as at:
        store = Store(at.db)
        for turn in range(200):
            first = library.save(store, "new", draft_from(rubric()))
            history = [first.rubric.name]
            mine = {who: library.draft_of(store, first.rubric_id) for who in "ab"}
            for step in range(8):
                who = dice.choice("ab")
                name = f"{who} {turn} {step}"
                mine[who] = draft_criteria.set_field(mine[who], "name", name)
                if dice.random() < 0.5:
                    continue
                try:
                    library.save(store, str(first.rubric_id), mine[who])
                    history.append(name)
                    saved += 1
                except Conflict:
                    refused += 1
                mine[who] = library.draft_of(store, first.rubric_id)
            kept = [one.name for one in reversed(library.version_history(store, first.rubric_id))]
            overwritten += kept != history
        store.close()
    row.say(f"200 interleavings: {saved} saved, {refused} refused and told why, ")
    row.figures[-1] += f"silent overwrites {overwritten}"
    row.must(not overwritten, "overwritten")
    return row
