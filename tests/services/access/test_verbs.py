"""Every service that writes asks who may, and the answers are those of docs/access.md."""

from __future__ import annotations

import ast
from contextlib import nullcontext

import pytest

from core.domain.access import LOCAL, MAY, TEAM_ROLES, Actor, TeamRole, Verb, allow
from core.errors import NotAllowed
from tests.services.access.verbs import asked_verb, services, writing_methods, writing_services

#: Services that write and do not ask themselves: each is only ever called by one that does, or
#: belongs to the program itself. `members.actor` makes a member of whoever signs in and may.
WITHOUT = {
    "access.members.actor",
    "access.members.sign_out",
    "assist.help_tasks.wait",
    "results.scored_items.keep",
    "review.adjudication.bring_states_up_to_date",
    "review.adjudication.derive_item",
    "review.adjudication.restate",
}


def test_every_public_service_that_writes_asks_first() -> None:
    known = services()
    silent = {
        name
        for name in writing_services()
        if not name.rpartition(".")[2].startswith("_") and asked_verb(known[name]) is None
    }
    assert silent == WITHOUT


def test_the_search_for_services_that_write_finds_them() -> None:
    # If the reading of the source broke, the test above would pass for nothing.
    assert {"runs.create", "judges.save", "drafts.save", "votes.record"} <= writing_methods()
    assert {"runs.lifecycle.start", "judges.registry.save_judge"} <= writing_services()
    # Through another service: a spot check starts a run.
    assert "spot.spot_check.check" in writing_services()
    assert "runs.lifecycle.listing" not in writing_services()


def test_every_verb_that_is_asked_is_in_the_table() -> None:
    asked = {asked_verb(function) for function in services().values()} - {None}
    assert asked <= set(MAY)


@pytest.mark.parametrize(
    ("verb", "roles"),
    [
        # The rows of the table in docs/access.md: who may.
        ("read", "viewer reviewer adjudicator author lead admin"),
        ("review", "reviewer adjudicator lead"),
        ("adjudicate", "adjudicator lead"),
        ("write", "author lead admin"),
        ("organise", "lead admin"),
        ("see blind cells", "lead admin"),
        ("set judges", "admin"),
        ("administer", "admin"),
    ],
)
def test_a_role_may_what_its_column_says(verb: Verb, roles: str) -> None:
    may = {role for role in TEAM_ROLES if Actor("a@example.org", role).may(verb)}
    assert may == set(roles.split())
    for role in TEAM_ROLES:
        with nullcontext() if role in may else pytest.raises(NotAllowed):
            allow(Actor("a@example.org", role), verb)


def test_the_person_at_the_machine_may_everything_and_nobody_nothing() -> None:
    assert all(LOCAL.may(verb) for verb in MAY)
    assert not any(Actor("x@example.org").may(verb) for verb in MAY)


def test_the_refusal_says_who_may() -> None:
    role: TeamRole = "author"
    with pytest.raises(NotAllowed) as said:
        allow(Actor("a@example.org", role), "organise")
    assert str(said.value) == (
        "You are an author here; only a lead or admin may make queues, assign, apply versions to "
        "runs and export what names people."
    )


def test_a_decorator_that_asks_stands_outermost() -> None:
    # One that stands below another would be asked after that one has begun.
    below = {
        name
        for name, function in services().items()
        if asked_verb(function) is not None
        and not ast.unparse(function.decorator_list[0]).startswith("allowed(")
    }
    assert not below
