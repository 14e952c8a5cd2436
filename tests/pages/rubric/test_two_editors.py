"""Two sessions on one rubric: they know of each other, and none overwrites the other unseen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
import streamlit as st
from hypothesis import settings

from core import clock
from core.domain.rubric import Criterion, Rubric
from core.services.access import members
from core.services.rubrics import library
from core.store.store import Store
from pages.rubric.versions import history
from pages.ui import drafts, resources, routes, state
from tests.pages.conftest import open_page, shown
from tests.services.access.made import member, team

#: Every one is another order of the two sessions' acts (edit, save, look at a conflict, choose).
#: As many orders as Hypothesis takes examples: CI tries a hundred.
INTERLEAVINGS = settings().max_examples
STEPS = 14
CRITERIA = ("Right", "Clear")


def rubric(name: str) -> Rubric:
    return Rubric(
        name=name, criteria=tuple(Criterion(name=one, requirement="It is so.") for one in CRITERIA)
    )


@dataclass
class Session:
    """One person's tab: what Streamlit would hold, and which words were on its screen."""

    store: Store
    rubric_id: int
    held: dict[str, Any] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    typed: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.rubric_id)

    def look(self) -> None:
        """The editor is drawn: the draft, and beside it what a conflict shows."""
        drafts.load_work(self.name)
        self.seen |= words(drafts.draft(self.name))
        if self.in_conflict:
            history.show_conflict(self.name)
            self.seen |= words(library.latest_version(self.store, self.rubric_id).rubric)

    @property
    def in_conflict(self) -> bool:
        return bool(state.get(state.key(drafts.RUBRIC_CONFLICT, self.name)))

    def write(self, chance: Random, token: str) -> None:
        """A word more, in a field that both change or in one of the others."""
        draft = drafts.draft(self.name)
        one = chance.choice(draft["criteria"])
        where: tuple[Any, ...] = ("criterion", (one["uid"],), "requirement", one["requirement"])
        if chance.random() < 0.4:
            where = ("draft", (), "description", draft["description"])
        level, ids, what, now = where
        drafts.set_value(self.name, level, ids, what, f"{now} {token}".strip())
        self.seen.add(token)
        self.typed.append(token)


def words(of: Any) -> set[str]:
    """The words that sessions wrote, in a draft or a version."""
    return {word.strip(".,'\"}])") for word in str(of).split() if "token-" in word} - {""}


@pytest.fixture
def as_session(monkeypatch: pytest.MonkeyPatch) -> Callable[[Session], None]:
    """From now on the page's functions work for this session."""
    monkeypatch.setattr(state, "set_address", lambda **_: None)
    for name in ("html", "error", "caption", "columns", "container"):
        monkeypatch.setattr(history.st, name, getattr(st, name))

    def use(session: Session) -> None:
        monkeypatch.setattr(st, "session_state", session.held)
        for module in (drafts, history):
            monkeypatch.setattr(module, "store", lambda: session.store)
        monkeypatch.setattr(drafts, "known_name", lambda: session.store.actor.name)

    return use


def act(session: Session, chance: Random, token: str) -> None:
    """What this person does next; what they decide they decide on what their screen showed."""
    if session.in_conflict:
        choice = chance.choice(["look", "merge", "merge", "theirs", "write"])
        if choice in ("merge", "theirs"):
            # Chosen on the page as it was drawn last, whatever others saved since.
            history._on_choice(session.name, choice)
            session.look()
            return
    else:
        choice = chance.choice(["write", "write", "save", "look"])
    if choice == "write":
        session.write(chance, token)
    elif choice == "save":
        drafts.save_draft(session.name)
    session.look()


def test_no_order_of_two_sessions_acts_overwrites_what_was_not_seen(
    store: Store, as_session: Callable[[Session], None]
) -> None:
    unseen, versions, conflicts = list[str](), 0, 0
    for seed in range(INTERLEAVINGS):
        chance = Random(seed)
        rubric_id = store.rubrics.create(rubric(f"R{seed}"), now=clock.now()).rubric_id
        # Two members; or, in every fourth, one member with two tabs.
        names = ("ann", "ann") if seed % 4 == 0 else ("ann", "bob")
        sessions = [
            Session(store.acting(member("author", f"{name}@example.org")), rubric_id)
            for name in names
        ]
        for session in sessions:
            as_session(session)
            session.look()
        newest = library.latest_version(store, rubric_id)
        for step in range(STEPS):
            session = chance.choice(sessions)
            as_session(session)
            seen = set(session.seen)
            act(session, chance, f"token-{seed}-{step}")
            conflicts += session.in_conflict
            now = library.latest_version(store, rubric_id)
            if now.number != newest.number:
                versions += 1
                lost = words(newest.rubric) - words(now.rubric)
                unseen += sorted(lost - seen)
            newest = now
    assert unseen == []
    # The orders are worth trying: they lead to versions, and to conflicts.
    assert versions > INTERLEAVINGS
    assert conflicts > INTERLEAVINGS / 4


def test_whoever_edits_sees_who_else_does(
    store: Store, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    team(tmp_path, monkeypatch)
    rubric_id = store.rubrics.create(rubric("Answers"), now=clock.now()).rubric_id
    for name in ("ann", "bob"):
        members.put(store, f"{name}@example.org", "author")
    ann = store.acting(member("author", "ann@example.org"))
    library.keep(ann, str(rubric_id), library.draft_of(ann, rubric_id))
    for name, sees in (("bob", True), ("ann", False)):
        said = {
            "email": f"{name}@example.org",
            "email_verified": True,
            "iat": int(clock.seconds_now()),
        }
        monkeypatch.setattr(resources, "claims", lambda said=said: said)
        page = shown(open_page(routes.RUBRICS, rubric=str(rubric_id)))
        assert ("ann@example.org is editing this rubric, too" in page) == sees, page
