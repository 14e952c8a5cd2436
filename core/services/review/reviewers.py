"""Reviewers: names, roles, permissions, their note snippets, and how they commit."""

from __future__ import annotations

from core import clock
from core.domain.access import allow
from core.domain.review import ROLES, Role, Seat
from core.domain.review_records import ReviewerRow
from core.errors import Conflict, InputError, NotAllowed
from core.services.access.allowing import allowed
from core.store.store import Store

#: What each role may do, in words.
ROLE_WORDS: dict[Role, str] = {
    "reviewer": "reviews items",
    "adjudicator": "reviews, and ends disagreements",
    "lead": "does all of that, assigns, takes over, and undoes what others did",
}


@allowed("read")
def sign_in(store: Store, name: str) -> ReviewerRow:
    """Return the reviewer of that name, created if new. The first reviewer becomes the lead.

    On a team server, the name and role are those of the signed-in member.

    Raises:
        InputError: the name is empty or too long.
    """
    if store.actor.via == "page":
        if not store.actor.may("organise"):
            allow(store.actor, "review")
        return _row_as_member(store)
    name = " ".join(name.split())
    if not 1 <= len(name) <= 100:
        raise InputError("Give a name of 1 to 100 characters, so that others know who decided.")
    return store.reviewers.make(name, now=clock.now())


def _row_as_member(store: Store) -> ReviewerRow:
    actor = store.actor
    row = store.reviewers.make(actor.name, now=clock.now())
    # An admin does not review, but creates queues and assigns items like a lead.
    role = actor.role if actor.role in ROLES else "lead"
    return row if row.role == role else store.reviewers.set_role(actor.name, role)


def seat_of(store: Store, name: str, session: str) -> Seat:
    """Return a reviewer with their current role, in one session."""
    row = store.reviewers.get(name)
    return Seat(row.name, row.role, session)


def now_seated(store: Store, seat: Seat) -> Seat:
    """Return the seat with its reviewer's current role, which may have changed."""
    if store.actor.via == "page" and seat.name != store.actor.name:
        raise NotAllowed(f"You are signed in as {store.actor.name}, not as {seat.name}.")
    return Seat(seat.name, store.reviewers.get(seat.name).role, seat.session)


def all_reviewers(store: Store) -> list[ReviewerRow]:
    """Return all reviewers, by name."""
    return store.reviewers.list()


@allowed("organise")
def set_role(store: Store, seat: Seat, name: str, role: Role) -> ReviewerRow:
    """Change a reviewer's role.

    Raises:
        InputError: the role is unknown, or no lead would remain.
        Conflict: ``seat`` is not a lead.
    """
    if store.actor.via == "page":
        raise InputError("On this server an admin gives roles, on the page Members.")
    with store.write():
        require_lead(store, seat, "change roles")
        if role not in ROLES:
            raise InputError(f"{role!r} is not a role. Use one of {', '.join(ROLES)}.")
        leads = [row.name for row in store.reviewers.list() if row.role == "lead"]
        row = store.reviewers.get(name)
        if role != "lead" and leads == [row.name]:
            raise InputError(f"{row.name} is the only lead. Make another member a lead first.")
        return store.reviewers.set_role(name, role)


def require_lead(store: Store, seat: Seat, action: str) -> None:
    """Raise ``Conflict`` if this person is not a lead now."""
    if now_seated(store, seat).role != "lead":
        raise Conflict(f"Only a lead may {action}. Ask a lead, or to be made one.")


#: The number of a person's last notes that are offered again.
LAST_NOTES = 3
#: The most snippets kept; a longer list would not be read.
MOST = 20


def snippets_of(store: Store, seat: Seat) -> tuple[str, ...]:
    """Return this person's snippets, newest first."""
    return tuple(store.settings.get(_snippets_key(seat), []))


@allowed("review")
def keep(store: Store, seat: Seat, text: str) -> None:
    """Keep a note as a snippet. A repeated note moves to the front; at the limit the oldest is
    dropped.

    Raises:
        InputError: the text is empty.
    """
    text = text.strip()
    if not text:
        raise InputError("Write the note first; then it can be kept.")
    with store.write():
        earlier = [snippet for snippet in snippets_of(store, seat) if snippet != text]
        store.settings.put(_snippets_key(seat), [text, *earlier][:MOST])


@allowed("review")
def forget(store: Store, seat: Seat, text: str) -> None:
    """Delete a snippet."""
    with store.write():
        store.settings.put(
            _snippets_key(seat),
            [snippet for snippet in snippets_of(store, seat) if snippet != text],
        )


def last_notes(store: Store, seat: Seat, queue_id: int) -> list[str]:
    """Return this person's last notes in a queue, newest first, to explain another verdict with."""
    return store.events.notes(queue_id, seat.name, LAST_NOTES)


def commits_at_once(store: Store, seat: Seat) -> bool:
    """Return whether this person's last answer on an item also commits it."""
    return bool(store.settings.get(_no_undo_reason(seat), False))


@allowed("review")
def commit_at_once(store: Store, seat: Seat, on: bool) -> None:
    """Set whether this person's last answer on an item also commits it."""
    store.settings.put(_no_undo_reason(seat), on)


@allowed("review")
def commit_at_once_alone(store: Store, seat: Seat) -> None:
    """Let this person's last answer on an item commit it, if there is no other reviewer and they
    have not chosen otherwise.
    """
    is_only_reviewer = [row.name for row in all_reviewers(store)] == [seat.name]
    if is_only_reviewer and store.settings.get(_no_undo_reason(seat)) is None:
        commit_at_once(store, seat, on=True)


def _no_undo_reason(seat: Seat) -> str:
    return f"review commits at once/{seat.name}"


def _snippets_key(seat: Seat) -> str:
    return f"review snippets/{seat.name}"
