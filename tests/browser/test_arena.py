"""A person votes on ten contests by keyboard; names come out only after each vote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.services.pairwise import arena_people, blind_arena
from core.services.pairwise.contest_votes import contests_of_runs
from core.store.store import Store
from tests.browser.driving import main_text, settle, visit, write
from tests.pages.contested import held

SYSTEMS = ("Zarquon 7", "Wopmayer mini")
TASKS = 10
#: As they stand in a frame of the websocket.
NAMES = tuple(name.encode() for name in SYSTEMS)


class Payload:
    """Everything that the server has sent to a page since it was last asked."""

    def __init__(self, page: Any) -> None:
        self._frames: list[bytes] = []
        page.on("websocket", lambda socket: socket.on("framereceived", self._received))

    def taken(self) -> bytes:
        """What was sent, once."""
        found = b"".join(self._frames)
        self._frames.clear()
        return found

    def _received(self, frame: str | bytes) -> None:
        self._frames.append(frame.encode() if isinstance(frame, str) else frame)


@pytest.fixture(scope="module")
def contest(app_db: Path) -> int:
    """Ten contests, held by two judges before anybody opens the app."""
    store = Store(app_db)
    run_id = held(store, systems=SYSTEMS, tasks=TASKS)
    store.close()
    return run_id


def worth(text: str) -> tuple[int, int]:
    """What the two answers on the page are worth, A's first."""
    found = [int(line.rsplit(" ", 1)[1]) for line in text.splitlines() if " worth " in line]
    assert len(found) == 2, text
    return found[0], found[1]


def key(page: Any, name: str) -> None:
    page.keyboard.press(name)
    settle(page)


def test_ten_blind_contests_by_keyboard_update_how_people_and_judges_agree(
    contest: int, app_db: Path, page: Any, app_url: str
) -> None:
    payload = Payload(page)
    visit(page, f"{app_url}/arena?run={contest}")
    write(page, "Your name", "Zoe")
    page.get_by_role("button", name="Start", exact=True).click()
    settle(page)
    key(page, "Enter")
    for number in range(1, TASKS + 1):
        blind = main_text(page)
        # Neither what is shown nor anything that was sent for it names a system.
        sent = payload.taken()
        assert b"worth" in sent
        assert not [name for name in NAMES if name in sent]
        assert not [name for name in SYSTEMS if name in page.content()]
        assert f"{number} of {TASKS}" in blind
        a, b = worth(blind)
        # Ten votes: the better answer eight times, a tie, and one that cannot be said.
        pressed = "3" if number == 9 else "0" if number == 10 else "1" if a > b else "2"
        key(page, pressed)
        after = main_text(page)
        assert all(name in after for name in SYSTEMS)
        # bob always takes A and ada the better one, so the judges are split: a tie, every time.
        assert "The judges: no winner" in after
        told = payload.taken()
        assert all(name in told for name in NAMES)  # the check above can see a name
        if number < TASKS:
            key(page, "Enter")
    decided = main_text(page)
    # Of the nine decided votes ada says the same in eight (89%); she never calls a tie.
    assert "8 (89%)" in decided
    assert "1 of 9 (11%)" in decided
    key(page, "Enter")
    assert "You have voted on every contest" in main_text(page)
    _kept(app_db, contest)


def _kept(app_db: Path, contest: int) -> None:
    """The votes as the store has them: who, when, the order shown, how long it took."""
    store = Store(app_db)
    arena = next(a for a in arena_people.arenas_of(store, [contest]) if a.person == "Zoe")
    assert (arena.votes, arena.planned) == (TASKS, TASKS)
    assert blind_arena.next_blind(store, arena.run_id) is None
    people = contests_of_runs(store, [arena.run_id])
    orders = {held.shown[0].swapped for held in people.held}
    assert orders == {True, False}
    for held_ in people.held:
        (vote,) = store.votes.for_item(arena.run_id, held_.shown[0].item_id)
        assert vote.cell.judge == "Zoe"
        assert vote.created
        assert vote.detail["ms"] > 0
    store.close()


def test_a_digit_typed_into_a_field_is_no_vote(
    contest: int, app_db: Path, page: Any, app_url: str
) -> None:
    visit(page, f"{app_url}/arena?run={contest}")
    field = page.get_by_role("textbox", name="Your name", exact=True)
    field.fill("")
    field.press_sequentially("Ann 12")
    page.get_by_role("button", name="Start", exact=True).click()
    settle(page)
    key(page, "Enter")
    assert f"1 of {TASKS}" in main_text(page)
    key(page, "1")
    key(page, "u")
    said = main_text(page)
    assert "Your last vote is withdrawn" in said
    # The contest does not come again: its names were seen.
    assert f"2 of {TASKS}" in said
    page.reload()
    page.wait_for_selector("h1")
    settle(page)
    assert f"your votes: 1 of {TASKS}" in main_text(page)
    store = Store(app_db)
    mine = next(a for a in arena_people.arenas_of(store, [contest]) if a.person == "Ann 12")
    assert (mine.votes, mine.withdrawn) == (1, 1)
    agreement = blind_arena.people_judge_agreement(store, [mine.run_id])
    assert agreement[""][0].n == 0  # how often the same
    store.close()
