"""A server for a team with a graded run in its data file, and who is signed in."""

from __future__ import annotations

from pathlib import Path

import pytest

from core import clock
from core.domain.access import TeamRole
from core.domain.runs import Run
from core.services.access import members
from core.services.judges import registry
from core.store.store import Store
from pages.ui import resources
from tests.services import reviewed
from tests.services.access.made import team


def as_member(monkeypatch: pytest.MonkeyPatch, store: Store, role: TeamRole) -> None:
    """Somebody with this role is signed in from now on."""
    email = f"{role}@example.org"
    members.put(store, email, role)
    said = {"email": email, "email_verified": True, "iat": int(clock.seconds_now())}
    monkeypatch.setattr(resources, "claims", lambda: said)


@pytest.fixture
def run(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A graded run with a queue of all its cells, on a server for a team."""
    team(tmp_path, monkeypatch)
    made = reviewed.graded(store, 4)
    reviewed.make_queue(store, made, reviewed.EVERYTHING)
    registry.ensure_defaults(store)
    return made
