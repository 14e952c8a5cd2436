"""Whether what a person says of a cell can be recorded: its options, its reasons, its notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core.domain.review import WHYS, Given
from core.domain.review_records import VerdictRow
from core.domain.rubric import Criterion
from core.errors import InputError, Problem
from core.services.claiming import Ticket
from core.services.review_views import unanimous
from core.services.settling import Act


def understood(act: Act, given: Mapping[str, Given]) -> dict[str, Given]:
    """The verdicts with the added abstention as what it is; one error with every problem."""
    problems = list[Problem]()
    known = {}
    for name, verdict in given.items():
        criterion = act.rubric.criterion(name)
        known[name] = _plain(criterion, verdict)
        problems += _problems(criterion, known[name])
    if problems:
        raise InputError("Not every verdict can be recorded.", tuple(problems))
    return known


def _plain(criterion: Criterion, given: Given) -> Given:
    added = given.option is not None and given.option >= len(criterion.options)
    if added and given.option is not None and given.option < len(criterion.choices):
        return replace(given, option=None)
    return given


def _problems(criterion: Criterion, given: Given) -> list[Problem]:
    path = (criterion.name,)
    if given.option is not None and not 0 <= given.option < len(criterion.options):
        return [Problem("has no such option.", "Choose one of those shown.", path)]
    if given.option is None and given.why not in WHYS:
        return [Problem("cannot be assessed, but why not?", "Say why.", path)]
    if given.option is not None and given.why is not None:
        return [Problem("has an option and a reason why it has none.", "Choose one.", path)]
    return []


def require_notes(
    act: Act,
    ticket: Ticket,
    given: Mapping[str, Given],
    own: Mapping[str, VerdictRow],
    *,
    seen: bool,
) -> None:
    """Every verdict that has to be explained must have a note."""
    agreed = unanimous(act.store, act.run.id, act.item_id)
    problems = []
    for name, verdict in given.items():
        before = own.get(name)
        knows = seen or (before is not None and before.revealed is not None)
        against = knows and name in agreed and verdict.option not in (agreed[name], None)
        changed = knows and before is not None and before.first.option != verdict.option
        resolves = ticket.part == "resolve"
        if not verdict.note.strip() and (against or changed or resolves):
            why = "changes your verdict after you saw the votes"
            why = "decides against judges who all agree" if against else why
            why = "resolves a disagreement" if resolves else why
            problems.append(Problem(f"{why}.", "Add a note that says why.", (name,)))
    if problems:
        raise InputError("A note is needed.", tuple(problems))
