"""The poison run: one of 60 answers hostile, one of 200 texts without an end, and a run beside it.

Two judges are asked for 400 cells each by a command, a worker or the app, while another run is
worked off in the same data file. Each good answer must be a vote that was asked for once.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import subprocess
import urllib.request
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from bench.faults.disk import app
from bench.faults.world import Row, Site, command, site, until
from core.domain.dataset import Dataset, Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Option, Rubric
from core.formats.datasets.dataset_file import dump_dataset
from core.formats.rubrics.rubric_file import dump_rubric
from tests import provider as say
from tests.mutations import DEEP
from tests.provider import USAGE, Answer
from tests.services.runs.world import by_request

ITEMS, ONE_OF = 200, 60
#: The provider that tells what a call cost wants a key.
os.environ.setdefault("OPENROUTER_API_KEY", "sk-poison")
KINDS = tuple(Option(label=label, value=1) for label in ("Refund", "Delivery", "Other"))
RUBRIC = Rubric(
    name="Forms",
    criteria=(
        Criterion(name="fits", requirement="It fits the form."),
        Criterion(name="topic", requirement="What is it?", scale="nominal", options=KINDS),
    ),
)
_ITEM = re.compile(r"Form (\d+)\.")
Hostile = Callable[[Answer, int], Answer]


def _told(good: Answer, **usage: Any) -> Answer:
    return replace(good, body=json.dumps({**json.loads(good.body), "usage": usage}).encode())


def _reply(good: Answer, **said: Any) -> Answer:
    body = json.loads(good.body)
    message = body["choices"][0]["message"]
    message["content"] = json.dumps({**json.loads(message["content"]), **said})
    return replace(good, body=json.dumps(body).encode())


def _headers(good: Answer, **headers: str) -> Answer:
    return replace(good, headers={name.replace("_", "-"): text for name, text in headers.items()})


def _one(of: Sequence[Any], number: int) -> Any:
    return of[number % len(of)]


def _costs(good: Answer, number: int) -> Answer:
    return _told(good, **USAGE, cost=_one((-100, math.nan, math.inf, True, 10**400), number))


def _refused(good: Answer, number: int) -> Answer:
    far = "Fri, 31 Dec 9999 23:59:59 -2400"
    code = _one((429, 503), number)
    return say.status(code, headers={"Retry-After": _one(("9" * 9, far, "9" * 400), number)})


def _limits(good: Answer, number: int) -> Answer:
    name = f"x-ratelimit-{{}}-{_one(('requests', 'tokens'), number)}"
    limit, left, reset = _one((("9" * 400,) * 3, ("1", "-1", "9" * 400 + "h")), number)
    told = {"limit": limit, "remaining": left, "reset": reset}
    return replace(good, headers={name.format(part): text for part, text in told.items()})


def _garbage(good: Answer, number: int) -> Answer:
    return _one((say.html(), say.plain([]), Answer(body=b"\x00\xff" * 99), say.null()), number)


def _cut(good: Answer, number: int) -> Answer:
    packed = gzip.compress(good.body)
    return say.packed(packed[: _one((len(packed) - 5, len(packed) // 2, 3), number)])


def _deep(good: Answer, number: int) -> Answer:
    if number % 2:
        return replace(
            good, body=good.body.replace(b'"usage": ', f'"x": {DEEP}, "usage": '.encode())
        )
    return say.said('{"evidence": ' + DEEP + ', "option": 1}')


def _surrogates(good: Answer, number: int) -> Answer:
    return _reply(
        good, **{_one(("reason", "evidence"), number): _one(("\ud800", ["\udfff"]), number)}
    )


#: Hostile in one way each.
WAYS: dict[str, Hostile] = {
    "tokens beyond 64 bits": lambda good, n: _told(good, prompt_tokens=2**63, completion_tokens=-5),
    "sums beyond 64 bits": lambda good, n: _told(good, **{**USAGE, "prompt_tokens": 2**62}),
    "costs": _costs,
    "a name of 3 MB": lambda good, n: replace(
        good, body=good.body.replace(b"scripted-model-v1", b"m" * 3_000_000)
    ),
    "waits": _refused,
    "limits": _limits,
    "200 with garbage": _garbage,
    "packed and cut": _cut,
    "401 and 404": lambda good, n: say.status(_one((401, 404), n)),
    "deep JSON": _deep,
    "half a surrogate": _surrogates,
    "a reason of 3 MB": lambda good, n: _reply(good, reason="r" * 3_000_000),
}
#: Hostile at the first time only: whoever keeps to what it says asks again.
ONCE = ("waits", "401 and 404")


class Poison:
    """What the provider answers, and what it was asked: by judge, text and criterion."""

    def __init__(self, *ways: str, one_of: int = ONE_OF) -> None:
        self.ways, self._one_of = ways, one_of
        self.asked, self.hit = Counter[tuple[str, ...]](), dict[tuple[str, ...], str]()
        self._first, self._chosen = Counter[str](), 0

    def __call__(self, body: dict[str, Any]) -> Answer:
        good, words = by_request(body), str(body["messages"])
        found = _ITEM.search(words)
        assert found is not None
        criterion = "fits" if RUBRIC.criteria[0].requirement in words else "topic"
        cell = (str(body["model"]).rpartition("/")[2], f"i{found[1]}", criterion)
        self.asked[cell] += 1
        if cell[0] == "cyd":
            return good  # of the run beside it
        if self.asked[cell] == 1:
            self._chosen += 1
            # From the middle of a share on, so that each judge has answered before.
            if self._chosen % self._one_of == self._one_of // 2:
                self.hit[cell] = _one(self.ways, len(self.hit))
        way = self.hit.get(cell)
        if way is None or (way in ONCE and self.asked[cell] > 1):
            return good
        self._first[way] += self.asked[cell] == 1
        return WAYS[way](good, self._first[way] - 1)


def dataset(items: int) -> Dataset:
    """Forms, the middle one of which would keep its check busy for ever."""
    forms = {f"i{n:03}": {"text": f"Form {n:03}."} for n in range(items)}
    forms[_middle(items)]["deep"] = "a" * 60 + "!"
    texts = {name: json.dumps(form) for name, form in forms.items()}
    return Dataset(items=tuple(Item(id=name, submission=text) for name, text in texts.items()))


def _middle(items: int) -> str:
    return f"i{items // 2:03}"


def panel(at: Site) -> tuple[Judge, ...]:
    """Two models, one of which has prices by what it tells, and a check that can hang."""
    schema = {"properties": {"deep": {"pattern": "^(a+)+$"}}}
    check = {"name": "forms", "kind": "check", "checks": {"fits": {"json_schema": schema}}}
    return (
        at.judge("ada", concurrency=8, tries=2),
        at.judge("bea", concurrency=8, tries=2).model_copy(update={"model": "openrouter/bea"}),
        Judge.model_validate(check),
    )


def by_grade(at: Site) -> str:
    """Two commands on one data file; what they said."""
    (at.folder / "rubric.yaml").write_text(dump_rubric(RUBRIC))
    (at.folder / "items.jsonl").write_text(dump_dataset(dataset(at.items)))
    begun = list[subprocess.Popen[str]]()
    for name, judges in (("hostile", panel(at)), ("beside", (_beside(at),))):
        file = at.folder / f"{name}.json"
        told = [judge.model_dump(mode="json", exclude_defaults=True) for judge in judges]
        file.write_text(json.dumps({"name": name, "judges": told}))
        files = (at.folder / "rubric.yaml", at.folder / "items.jsonl", "--panel", file)
        begun.append(command("grade", *files, "--db", at.db, "--seed", 1, "--no-cache", "--json"))
        until(lambda: at.count("SELECT count(*) FROM run") == len(begun), 60)
    return "".join(one.communicate(timeout=300)[1] for one in begun)


def by_worker(at: Site) -> str:
    """A worker with both runs before it; what it said."""
    _queue(at)
    worker = command("worker", "--db", at.db)
    _await(at)
    worker.terminate()
    return worker.communicate(timeout=60)[1]


def by_app(at: Site) -> str:
    """The app with both runs before it; what its log says, and whether it is well."""
    _queue(at)
    with app(at) as (url, log):
        _await(at)
        with urllib.request.urlopen(f"{url}/healthz", timeout=10) as answer:
            assert answer.status == 200
        return log.read_text()


HOW = {"grade": by_grade, "worker": by_worker, "app": by_app}


def _beside(at: Site) -> Judge:
    return at.judge("cyd", concurrency=8)


def _queue(at: Site) -> None:
    for judges in ((_beside(at),), panel(at)):  # `at.run` is the last one
        at.plan(*judges, data=dataset(at.items), by=RUBRIC)


def _await(at: Site) -> None:
    until(
        lambda: not at.count("SELECT count(*) FROM run WHERE status IN ('queued', 'running')"), 300
    )


def lived_through(
    how: str, *ways: str, items: int = ITEMS, one_of: int = ONE_OF
) -> tuple[Row, Counter[str]]:
    """What was wrong with a run that was poisoned in these ways, and the kinds of its failures."""
    row, poison = Row(), Poison(*ways, one_of=one_of)
    with site(items) as at:
        at.provider.rule = poison
        said = HOW[how](at)
        row.must("Traceback" not in said, said[-600:])
        run, beside = (_run_with(at, name) for name in ("ada", "cyd"))
        planned = items * len(RUBRIC.criteria)
        row.must(_ended(at, beside) == ("done", planned, 0), f"beside: {_ended(at, beside)}")
        status, votes, left = _ended(at, run)
        row.must(status == "done" and votes + left == 3 * planned, f"{status}, {votes}, {left}")
        failed = at.ask(f"SELECT judge, item_id, criterion, kind FROM failure WHERE run_id = {run}")
        _only_what_was_hit(row, poison, failed, hung=("forms", _middle(items), "fits"))
        row.must(len(poison.hit) == 2 * planned // one_of, f"{len(poison.hit)} were hostile")
        asked, known = at.provider.count, at.attempts()
        row.must(asked == known, f"{asked} asked, {known} known")
        row.must(not at.twice() and not at.sound(), f"{at.twice()} twice {at.sound()}")
        costs = at.ask("SELECT sum(cost) FROM call WHERE cost IS NOT NULL")[0][0] or 0.0
        row.must(0 <= costs <= 1, f"it says that it cost {costs}")
    return row, Counter(str(one[3]) for one in failed)


def _only_what_was_hit(
    row: Row, poison: Poison, failed: list[tuple[Any, ...]], hung: tuple[str, ...]
) -> None:
    """No cell failed whose answer was good, and none of these was asked for twice."""
    cells = {one[:3] for one in failed}
    row.must(hung in cells, "the text that hangs has a vote")
    good = cells - {*poison.hit, hung}
    row.must(not good, f"{len(good)} cells failed whose answers were good: {sorted(good)[:2]}")
    again = [cell for cell, n in poison.asked.items() if n > 1 and cell not in poison.hit]
    row.must(not again, f"{len(again)} good answers were paid twice: {again[:2]}")
    row.must(all(one[3] != "internal" for one in failed), "failures of no known kind")


def _run_with(at: Site, judge: str) -> int:
    """Whichever of the two commands made its run first; an app has one of its own beside them."""
    return at.count(f"SELECT run_id FROM vote WHERE judge = '{judge}' LIMIT 1")


def _ended(at: Site, run: int) -> tuple[Any, ...]:
    return at.ask(
        f"SELECT status, (SELECT count(*) FROM vote WHERE run_id = {run}), "
        f"(SELECT count(*) FROM failure WHERE run_id = {run}) FROM run WHERE id = {run}"
    )[0]


def runs(trials: int) -> Row:
    """One of 60 answers hostile in each of twelve ways, one of 200 texts hangs; three programs."""
    row = Row()
    for how in HOW:
        with ThreadPoolExecutor(2) as threads:
            found = list(threads.map(lambda way, how=how: lived_through(how, way), WAYS))
        for way, (one, _) in zip(WAYS, found, strict=True):
            row.wrong += [f"{how}, {way}: {wrong}" for wrong in one.wrong]
        lost = sum((kinds for _, kinds in found), Counter[str]())
        asked = 2 * ITEMS * len(RUBRIC.criteria)
        row.say(
            f"{how}: {len(WAYS)} runs, in each {asked // ONE_OF} of {asked} answers hostile and "
            f"one of {ITEMS} texts; failed {dict(lost)}, all others have votes"
        )
    return row
