"""Answers, headers and files changed at random: how many, and what they took with them."""

from __future__ import annotations

import random
import re
import time
from typing import Any

from bench.faults.world import CRITERIA, Row, site
from core.domain.dataset import Dataset, Item
from core.errors import InputError
from tests import mutations
from tests.mutated_files import forms
from tests.provider import Answer
from tests.services.runs.world import by_request

#: So many of each for every trial, 20 of which are usual.
EACH = 2_500
_ITEM = re.compile(r"Answer number (\d+)")


def answers(trials: int) -> Row:
    """Every other answer changed at random, in its JSON, its bytes, its headers or its status."""
    row = Row()
    changed = lost = beyond = internal = 0
    began = time.monotonic()
    while changed < trials * EACH:
        part, items = changed, 500
        with site(items) as at:
            at.provider.rule = lambda body, part=part: _answer(body, part)
            texts = (f"Answer number {n}." for n in range(items))
            data = Dataset(items=tuple(Item(id=f"a{n}", submission=t) for n, t in enumerate(texts)))
            at.work(at.plan(at.judge(concurrency=32, tries=2), data=data))
            failed = at.ask("SELECT item_id, kind FROM failure")
            left = items * CRITERIA - at.votes - len(failed)
            row.must(left == 0, f"{left} cells have neither a vote nor a failure")
            row.must(not at.twice(), "votes given twice")
            row.must(not at.sound(), at.sound())
            changed += items // 2 * CRITERIA
            lost += len(failed)
            beyond += sum(not _hit(item) for item, _ in failed)
            internal += sum(kind == "internal" for _, kind in failed)
    row.say(
        f"{changed:,} answers changed, {lost:,} cells of theirs failed, {beyond} of others, "
        f"{internal} of no known kind; {time.monotonic() - began:.0f} s"
    )
    row.must(lost > 0, "no changed answer reached anybody")
    row.must(not beyond, f"{beyond} cells failed whose answers were good")
    row.must(not internal, f"{internal} failures of no known kind")
    return row


def _hit(text: str) -> bool:
    return int(re.sub(r"\D", "", text)) % 2 == 0


def _answer(body: dict[str, Any], part: int) -> Answer:
    """By the request alone, so that a second try meets the same."""
    asked, good = str(body["messages"][-1]["content"]), by_request(body)
    found = _ITEM.search(asked)
    if found is None or not _hit(found[1]):
        return good
    return mutations.answer(good, random.Random(f"{part} {asked}"))


def files(trials: int) -> Row:
    """Rubrics, datasets and votes of 15 forms, changed at random."""
    row, read, refused, slow = Row(), 0, 0, 0.0
    for number in range(trials * EACH):
        form = forms()[number % len(forms())]
        data = mutations.file(form.data, random.Random(f"{form.name} {number}"))
        began = time.process_time()
        try:
            form.read(data, form.name)
            read += 1
        except InputError:
            refused += 1
        except Exception as error:
            row.must(False, f"{form.name}, {number}: {type(error).__name__}: {error}"[:200])
        slow = max(slow, time.process_time() - began)
    row.say(f"{read:,} read, {refused:,} refused, at most {slow:.2f} s of CPU each")
    row.must(slow <= 5, f"{slow:.1f} s for a file of a few KB")
    return row
