"""What is not let do writes nothing; what is, leaves one line in the record with what it wrote."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from core import clock
from core.domain.access import LOCAL, VISITOR
from core.errors import NotAllowed
from core.services.judges import registry
from core.services.rubrics import library
from core.store.store import Store
from tests.services.access.made import member

JUDGE = {"name": "Small", "kind": "classifier"}


def test_an_act_that_asks_nobody_writes_nothing(store: Store) -> None:
    # As a service would that somebody forgot to mark: even for an admin.
    theirs = store.acting(member("admin"))
    with pytest.raises(NotAllowed, match="does not say who may"):
        theirs.settings.put("a", 1)
    with pytest.raises(NotAllowed), theirs.write():
        pass
    assert store.settings.get("a") is None
    store.settings.put("a", 1)
    assert theirs.settings.get("a") == 1


def test_who_may_not_is_refused_before_anything_happens(store: Store) -> None:
    for role in ("viewer", "reviewer", "adjudicator", "author", "lead"):
        with pytest.raises(NotAllowed, match="only an admin may change judges and panels"):
            registry.save_judge(store.acting(member(role)), JUDGE)
    with pytest.raises(NotAllowed):
        registry.save_judge(store.acting(VISITOR), JUDGE)
    assert registry.list_judges(store) == []
    assert store.audit.count() == 0


def test_one_line_stands_for_one_act_with_all_that_it_wrote(store: Store) -> None:
    registry.save_judge(store.acting(member("admin")), JUDGE)
    registry.save_judge(store.acting(member("admin")), {**JUDGE, "name": "Other"}, former="Small")
    lines = store.audit.list()
    assert [line.act for line in lines] == ["judges.registry.save_judge"] * 2
    assert lines[0].object == {"settings": {**JUDGE, "name": "Other"}, "former": "Small"}
    assert (lines[0].actor, lines[0].role, lines[0].via) == ("admin@example.org", "admin", "page")


def test_what_is_taken_back_is_not_on_record(store: Store) -> None:
    admin = store.acting(member("admin"))
    registry.save_judge(admin, JUDGE)
    # The name is taken: it fails within its transaction.
    with pytest.raises(Exception, match="cannot be saved"):
        registry.save_judge(admin, JUDGE, former="another")
    assert store.audit.count() == 1
    with admin.authorised("write", "test", None, clock.now()), admin.rehearsal():
        admin.settings.put("a", 1)
    assert store.audit.count() == 1


def test_alone_on_a_machine_nothing_is_recorded(store: Store) -> None:
    registry.save_judge(store, JUDGE)
    assert store.audit.count() == 0


def test_the_record_is_never_changed(store: Store) -> None:
    registry.save_judge(store.acting(member("admin")), JUDGE)
    for sql in ("UPDATE audit SET actor = 'x'", "DELETE FROM audit"):
        with pytest.raises(sqlite3.IntegrityError, match="never"), store.write() as db:
            db.execute(sql)


def test_a_grant_is_of_its_thread_alone(store: Store) -> None:
    # What a program does in the background is done in its own name, not in that of who asked.
    theirs = store.acting(member("author"))
    refused: list[type[Exception]] = []

    def elsewhere() -> None:
        try:
            theirs.settings.put("a", 1)
        except NotAllowed as error:
            refused.append(type(error))
        theirs.close()

    with theirs.authorised("write", "test", None, clock.now()):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert refused == [NotAllowed]


def test_a_grant_of_one_is_none_of_another(store: Store) -> None:
    ann, bob = store.acting(member("admin", "ann@e.org")), store.acting(member("viewer", "b@e.org"))
    with ann.authorised("administer", "test", None, clock.now()):
        with pytest.raises(NotAllowed):
            bob.settings.put("a", 1)
        with pytest.raises(NotAllowed):
            registry.save_judge(bob, JUDGE)


def test_everybody_has_drafts_of_their_own(store: Store) -> None:
    ann, bob = (
        store.acting(member("author", "ann@e.org")),
        store.acting(member("author", "b@e.org")),
    )
    library.keep(ann, "1", {"name": "Ann's"}, "")
    library.keep(bob, "1", {"name": "Bob's"}, "")
    library.keep(store, "1", {"name": "Local"}, "")
    for own, name in ((ann, "Ann's"), (bob, "Bob's"), (store, "Local")):
        kept = library.unsaved_work(own, "1")
        assert kept is not None
        assert kept.draft["name"] == name
        assert [one.name for one in library.all_kept_drafts(own)] == ["1"]
    library.discard(bob, "1")
    assert library.unsaved_work(bob, "1") is None
    assert library.unsaved_work(ann, "1") is not None
    assert library.unsaved_work(ann.acting(LOCAL), "1") is not None


def test_two_who_edit_one_rubric_see_each_other(store: Store) -> None:
    ann, bob = (
        store.acting(member("author", "ann@e.org")),
        store.acting(member("author", "b@e.org")),
    )
    library.keep(ann, "1", {"name": "Ann's"}, "")
    library.keep(bob, "1", {"name": "Bob's"}, "")
    assert [name for name, _ in library.other_editors(ann, "1")] == ["b@e.org"]
    assert [name for name, _ in library.other_editors(bob, "1")] == ["ann@e.org"]
    assert library.other_editors(ann, "2") == []
