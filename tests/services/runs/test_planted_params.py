"""A secret in a judge's ``params`` is refused by every way in, and never kept, shown or logged.

Where it is named instead (``{env: NAME}``) the provider is sent it, and nobody else ever sees it:
the provider here repeats it as it is, in base64 and escaped for an address.
"""

from __future__ import annotations

import base64
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from core import clock
from core.cli.requests_from_files import panel_from
from core.domain.panel import Judge, Panel
from core.errors import InputError
from core.services.access.permits import allow_sendings
from core.services.judges import connection, registry
from core.services.runs import lifecycle, planning
from core.services.runs.runner import work_here
from core.store.database.content import dump, noun_hash
from core.store.database.migrations import NAMES
from core.store.store import Store
from tests.command_line import cli
from tests.new_store import new_store
from tests.provider import Answer, Provider, ok, status
from tests.services.runs.test_planted_key import everything_in, places_of_a_run
from tests.services.runs.world import asked_of, write_files

SECRET = (
    "planted/9Zr+4Lq8Tn2m"  # spelt like nobody's keys; escaped in addresses, in two ways in base64
)
NAME = "PLANTED_VALUE"
#: Every one was found in clear in the tables ``run`` and ``call`` and in exports.
PLANTED: dict[str, dict[str, Any]] = {
    "api_key": {"api_key": SECRET},
    "headers": {"headers": {"Authorization": SECRET}},
    "extra_headers": {"extra_headers": {"X-Api-Key": SECRET}},
    "a header of no name": {"extra_headers": {"X-Session": "a8f7a8d7f8a7df8a7dsf"}},
    "aws": {"aws_secret_access_key": SECRET},
    "vertex": {"vertex_credentials": {"type": "service_account", "private": SECRET}},
    "in a list": {"extra_body": {"tools": [{"password": SECRET}]}},
    "JSON in a text": {"extra_body": json.dumps({"client_secret": SECRET})},
    "a login": {"proxy": f"http://me:{SECRET.replace('/', '')}@proxy.example"},
    "a known form": {"note": "sk-proj-abcdefgh12345678"},
    "full width": {"\uff41\uff50\uff49_key": SECRET},
    "a wrong name": {"aws_secret_access_key": {"env": "gsk_a1B2c3D4e5F6g7H8i9"}},
}


def judge_data(**changes: Any) -> dict[str, Any]:
    return {"name": "ada", "model": "ada", "api_base": "http://127.0.0.1:9/v1", **changes}


@pytest.mark.parametrize("way", PLANTED)
def test_a_secret_in_params_is_refused_when_it_is_read(way: str, tmp_path: Path) -> None:
    data = judge_data(params=PLANTED[way])
    file = tmp_path / "panel.yaml"
    file.write_text(yaml.safe_dump({"judges": [data]}, allow_unicode=True))
    store = new_store(tmp_path / "studio.db")
    told = []
    for act in (
        lambda: panel_from(file, [], "", "", None),
        lambda: registry.save_judge(store, data),
        lambda: planning.panel_of("p", [Judge.model_construct(**data)], {}),
    ):
        with pytest.raises(InputError) as refused:
            act()
        told.append(str(refused.value))
    assert all("{env: NAME}" in words or "key_env" in words for words in told)
    store.close()
    found = everything_in(tmp_path / "studio.db") + "".join(told)
    assert SECRET not in found
    assert "a8f7a8d7f8a7df8a7dsf" not in found


@pytest.mark.parametrize(
    "data",
    [
        {"api_base": f"http://me:{SECRET.replace('/', '')}@host/v1"},
        {"api_base": "https://host/v1?api-key=planted9Zr"},
        {"model": "sk-proj-abcdefgh12345678"},
        {"params": "sk-proj-abcdefgh12345678"},
        {"temperature": "sk-proj-abcdefgh12345678"},
    ],
)
def test_a_secret_in_another_field_is_refused_and_not_repeated(data: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as refused:
        Judge(**judge_data(**data))
    with pytest.raises(InputError) as told:
        registry.checked_judge(judge_data(**data))
    assert "planted9Zr" not in str(told.value)
    assert "abcdefgh12345678" not in str(told.value)
    assert refused.value is not None


@pytest.mark.parametrize("verb", ["grade", "contest"])
def test_the_command_line_refuses_it_and_stores_nothing(verb: str, tmp_path: Path) -> None:
    rubric, dataset = write_files(tmp_path, items=4)
    panel = tmp_path / "panel.yaml"
    panel.write_text(yaml.safe_dump({"judges": [judge_data(params=PLANTED["aws"])]}))
    db = tmp_path / "data" / "studio.db"
    files = (rubric, dataset) if verb == "grade" else (dataset, "--rubric", rubric)
    given = cli(verb, *files, "--panel", panel, "--db", db)
    assert given.returncode == 2
    assert "{env: NAME}" in given.stderr
    assert SECRET not in given.stdout + given.stderr
    assert not db.exists() or SECRET not in everything_in(db)


def test_limits_and_ordinary_settings_are_no_secrets() -> None:
    params = {
        "max_completion_tokens": 4000,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "stop_token_ids": [1, 2],
        "skip_special_tokens": True,
        "logit_bias": {"50256": -100},
        "prompt_cache_key": "rubric-7",
        "aws_region_name": "eu-central-1",
        "api_version": "2024-06-01",
        "extra_headers": {"X-Title": "Rubric Studio", "HTTP-Referer": "https://example.org/a"},
        "extra_body": {"keywords": ["a"], "author": "me", "top_k": 4},
    }
    assert Judge(**judge_data(params=params)).params == params


def echo(provider: Provider) -> Any:
    """A rule that repeats the header it was sent, in several spellings."""

    def rule(body: dict[str, Any]) -> Answer:
        sent = provider.requests[-1].headers["x-tenant-key"]
        spelt = [sent, base64.b64encode(sent.encode()).decode(), quote(sent, safe="")]
        # In base64 the same text looks different by where it stands.
        spelt += [base64.b64encode(f"{pad}{sent} and".encode()).decode() for pad in ("a", "ab")]
        words = "You sent " + ", ".join(spelt)
        if not provider.count % 3:
            return status(400, words)
        return ok(1, reason=words) if provider.count % 3 == 1 else ok(1, reasoning_content=words)

    return rule


@pytest.mark.parametrize("door", ["openai", "litellm"])
def test_a_named_value_is_sent_and_found_nowhere(
    door: Any,
    tmp_path: Path,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(NAME, SECRET)
    provider.rule = echo(provider)
    params = {"extra_headers": {"X-Tenant-Key": {"env": NAME}}}
    judge = Judge(**judge_data(api_base=provider.url, door=door, tries=1, params=params))
    allow_sendings([judge])
    places = places_of_a_run(tmp_path, judge, caplog, capfd)
    assert {sent.headers["x-tenant-key"] for sent in provider.requests} == {SECRET}
    spelt = [SECRET, quote(SECRET, safe=""), base64.b64encode(SECRET.encode()).decode()]
    spelt += [base64.b64encode(pad + SECRET.encode()).decode()[4:24] for pad in (b"a", b"ab")]
    found = {place: [s for s in spelt if s in text] for place, text in places.items()}
    assert {place: spelt for place, spelt in found.items() if spelt} == {}
    assert "[key]" in places["data file"]
    assert NAME in places["data file"]  # the name is no secret: a run can be asked again


def test_a_variable_that_is_not_set_is_said_and_nothing_is_sent(
    tmp_path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(NAME, raising=False)
    params = {"extra_headers": {"X-Tenant-Key": {"env": NAME}}}
    judge = Judge(**judge_data(api_base=provider.url, params=params))
    result = connection.check_connection(judge)
    assert (result.failure, provider.count, result.tries) == ("missing_key", 0, 0)
    assert NAME in result.message
    assert planning.missing_keys([judge]) == [("ada", NAME)]


def old_file(path: Path, params: dict[str, Any], provider: Provider) -> None:
    """A data file as it was kept before: a run whose judge holds ``params``, asked once."""
    store = Store(path)
    provider.rule = lambda body: ok(1, reason=f"I was sent {SECRET}.")
    plain = Judge(**judge_data(api_base=provider.url))
    store.judges.save(plain, now=clock.now())
    store.panels.save(Panel(judges=(plain,)), now=clock.now())
    work_here(store, lifecycle.start(store, asked_of(store, plain, path.parent, items=4)))
    store.close()
    db = sqlite3.connect(path)
    guards = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in guards:
        db.execute(f"DROP TRIGGER {name}")
    text, base = json.dumps(params, separators=(",", ":")), f'"api_base":"{provider.url}"'
    login = base.replace("http://", "http://me:hunter2hunter2@")
    for table, column in (("judge", "content"), ("panel", "content"), ("run", "panel")):
        changed = f'{login},"params":{text}'
        db.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (base, changed))
    changed = f'{base},"params":{text}'
    db.execute("UPDATE call SET params = replace(params, ?, ?)", (base, changed))
    for _, sql in guards:
        db.execute(sql)
    # A file of before the cleaning: what came after it had not been done either.
    names = (
        *("no_secrets", "access", "help_made_by"),
        *("batches", "kept", "label_draws", "coverage", "sums", "help_leases"),
    )
    later = ", ".join(f"'{name}'" for name in names)
    db.execute(f"DELETE FROM _sqlite_migrations WHERE name IN ({later})")
    for name in ("member", "audit", "batch_line", "batch", "kept", "label_draw", "group_sum"):
        db.execute(f"DROP TABLE {name}")
    for table in ("run", "help_task"):
        db.execute(f"ALTER TABLE {table} DROP COLUMN made_by")
    db.execute("ALTER TABLE run DROP COLUMN derived")
    for after, before in (("lease_owner", "owner"), ("lease_until", "until")):
        db.execute(f"ALTER TABLE help_task RENAME COLUMN {after} TO {before}")
    db.execute("ALTER TABLE help_task DROP COLUMN fence")
    assert NAMES[-9:] == names
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def test_an_old_file_is_cleaned_when_it_is_opened_and_its_run_stays_readable(
    tmp_path: Path, provider: Provider
) -> None:
    path = tmp_path / "studio.db"
    params = {
        "api_key": SECRET,
        "extra_headers": {"Authorization": f"Bearer {SECRET}", "X-Title": "kept"},
        "seed": 7,
    }
    old_file(path, params, provider)
    assert SECRET in everything_in(path)
    assert "hunter2hunter2" in everything_in(path)
    store = Store(path)
    run = store.runs.get(1)
    (judge,) = run.plan.panel.judges
    headers = {"Authorization": "[removed]", "X-Title": "kept"}
    assert judge.params == {"api_key": "[removed]", "extra_headers": headers, "seed": 7}
    assert judge.api_base == provider.url
    with closing(sqlite3.connect(path)) as db:
        ((content, digest),) = db.execute("SELECT panel, panel_hash FROM run")
    assert (json.loads(content), digest) == (dump(run.plan.panel), noun_hash(run.plan.panel))
    assert store.judges.list()[0].judge.params == judge.params
    assert store.panels.list()[0].panel.judges[0].params == judge.params
    assert store.runs.row(1).votes == 12  # 4 items, 3 criteria
    vote = store.votes.for_item(1, "i000")[0]
    assert vote.reason == "I was sent [removed]."
    with pytest.raises(sqlite3.IntegrityError), store.write() as db:
        db.execute("UPDATE vote SET reason = 'x'")  # what forbids it is back
    result = connection.check_connection(judge)
    assert (result.failure, "{env: NAME}" in result.message) == ("bad_request", False)
    store.close()
    found = everything_in(path)
    assert SECRET not in found
    assert "hunter2hunter2" not in found
    for form in ("html", "everything"):
        out = tmp_path / f"export-{form}"
        assert cli("export", 1, "--format", form, "--out", out, "--db", path).returncode == 0
        texts = [p.read_bytes() for p in [out, *out.rglob("*")] if p.is_file()]
        assert texts
        assert not any(SECRET.encode() in text for text in texts)
