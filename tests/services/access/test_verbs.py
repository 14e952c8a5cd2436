"""Every service that writes asks who may, and the answers are those of docs/access.md."""

from __future__ import annotations

import ast
import inspect
import os
import re
from contextlib import nullcontext
from importlib import import_module

import pytest

from core.domain.access import LOCAL, MAY, TEAM_ROLES, VERB_WORDS, Actor, TeamRole, Verb, allow
from core.errors import NotAllowed
from core.store.store import Store
from tests.places import ROOT
from tests.services.access.verbs import asked_verb, services, writing_methods, writing_services

#: Services that write and do not ask themselves: each is only ever called by one that does, or
#: belongs to the program itself. `members.actor` makes a member of whoever signs in and may.
WITHOUT = {
    "access.members.actor",
    "access.members.sign_out",
    "assist.help_tasks.wait_for_task",
    "results.scored_items.keep_fitted",
    "review.adjudication.bring_states_up_to_date",
    "review.adjudication.derive_item",
    "review.adjudication.restate_cell",
    "runs.held_work.trim_answers",
    "runs.keeping.keeper.free_run",
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


def test_the_table_in_the_documents_is_the_one_that_decides() -> None:
    heads = ["| " + " | ".join(["may", *TEAM_ROLES]) + " |", "| --- " * 7 + "|"]
    rows = [
        "| "
        + " | ".join([VERB_WORDS[verb], *("✓" if r in may else "–" for r in TEAM_ROLES)])
        + " |"
        for verb, may in MAY.items()
        if verb != "draft"
    ]
    table = "\n".join([*heads, *rows])
    document = ROOT / "docs" / "access.md"
    text = document.read_text(encoding="utf-8")
    if os.environ.get("UPDATE_GOLDEN"):
        found = re.search(r"\| may \|.*?\n(?!\|)", text, re.DOTALL)
        assert found is not None
        document.write_text(text.replace(found[0], f"{table}\n"), encoding="utf-8")
    assert table in document.read_text(encoding="utf-8")


def test_every_service_refuses_every_role_that_may_not_before_it_does_anything(
    store: Store,
) -> None:
    refused = 0
    for name, function in services().items():
        verb = asked_verb(function)
        if verb is None:
            continue
        module, _, act = name.rpartition(".")
        service = getattr(import_module(f"core.services.{module}"), act, None)
        if service is None:
            continue  # a function within another
        given = [
            one
            for one in list(inspect.signature(service).parameters.values())[1:]
            if one.default is inspect.Parameter.empty and one.kind is not one.VAR_KEYWORD
        ]
        values = [None for one in given if one.kind is not one.KEYWORD_ONLY]
        named = {one.name: None for one in given if one.kind is one.KEYWORD_ONLY}
        who = [Actor(f"{role}@example.org", role) for role in TEAM_ROLES if role not in MAY[verb]]
        for actor in (*who, Actor("stranger@elsewhere.example")):
            with pytest.raises(NotAllowed):
                service(store.acting(actor), *values, **named)
            refused += 1
    # Some hundred services, each to those of six roles and a stranger that may not.
    assert refused > 300
    assert store.audit.list() == []
