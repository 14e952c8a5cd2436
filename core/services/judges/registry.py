"""Judges and panels by name, the keys at hand, and what a judge would send where.

Runs keep copies of the panel they were planned with, so nothing here changes a run that exists.
Keys are known by the name of their environment variable only; no value is ever read out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core import clock
from core.domain.base import build
from core.domain.library import JudgeRow, PanelRow
from core.domain.panel import Judge, Panel
from core.errors import InputError, NotFound, Problem
from core.judging.keys import key_names
from core.judging.known_providers import KNOWN
from core.services.access import permits, providers
from core.services.access.allowing import allowed
from core.services.judges.connection import ConnectionResult, last_result
from core.services.judges.panel_setup import PanelSetup, checked_judge, panel_data, setup_of
from core.settings import load_settings
from core.store.database.content import noun_hash
from core.store.store import Store

OFFLINE_JUDGES: tuple[Judge, ...] = (
    Judge(name="Text classifier", kind="classifier"),
    Judge(name="Nearest neighbours", kind="neighbours"),
)
OFFLINE_PANEL = Panel(name="Offline panel", judges=OFFLINE_JUDGES)

#: Provider, and the variable in which its key is usually kept.
KNOWN_KEYS = tuple((known.title, known.keys[0]) for known in KNOWN.values() if known.title)
_SEEDED = "registry/defaults"

KeyState = Literal["set", "not set", "not needed", "unknown"]


@dataclass(frozen=True, slots=True)
class JudgeEntry:
    """A judge in the registry with what can be said about it without asking it.

    ``key_env`` is where its key is looked for (empty: nowhere); ``last_test`` is ``None`` where
    it was never tested, and ``test_holds`` says whether that test was made with these settings.
    ``panels`` names the saved panels it sits on.
    """

    row: JudgeRow
    key: KeyState
    key_env: str
    last_test: ConnectionResult | None
    test_holds: bool
    panels: tuple[str, ...]

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.row.name

    @property
    def strange(self) -> tuple[str, ...]:
        """What it would send where, which nobody has allowed here; read when somebody asks."""
        return tuple(problem.message for problem in permits.strange_words([self.judge]))

    @property
    def ready_model(self) -> bool:
        """Whether it is a model that can be asked at once: its key is there, or it needs none."""
        return not self.judge.offline and self.key in ("set", "not needed")

    @property
    def judge(self) -> Judge:
        """Its settings."""
        return self.row.judge


@allowed("read")
def ensure_defaults(store: Store) -> None:
    """Make the two offline judges and their panel, once per data file.

    Those that somebody renamed or put away since are left as they are.
    """
    if store.read_only or store.settings.get(_SEEDED):
        return
    now = clock.now()
    with store.write():
        if store.settings.get(_SEEDED):
            return
        taken = {row.name for row in store.judges.list()}
        for judge in OFFLINE_JUDGES:
            if judge.name not in taken:
                store.judges.save(judge, now=now)
        if OFFLINE_PANEL.name not in {row.name for row in store.panels.list()}:
            store.panels.save(OFFLINE_PANEL, now=now)
        store.settings.put(_SEEDED, True)


def list_judges(store: Store, *, archived: bool = False) -> list[JudgeEntry]:
    """The judges in use, models first, each by name.

    With ``archived``, those put away whose name is free, each as it was last.
    """
    rows = store.judges.list(archived=archived)
    panels = [] if archived else store.panels.list()
    if archived:
        taken = {row.name for row in store.judges.list()}
        rows = list({row.name: row for row in rows if row.name not in taken}.values())
    rows.sort(key=lambda row: row.judge.offline)
    return [_entry(store, row, panels) for row in rows]


def get_judge(store: Store, name: str) -> JudgeEntry:
    """The judge in use with this name. Raises ``NotFound``."""
    return _entry(store, store.judges.get(name), store.panels.list())


def _entry(store: Store, row: JudgeRow, panels: Sequence[PanelRow]) -> JudgeEntry:
    key_env, key = key_status(row.judge)
    last = last_result(store, row.name)
    return JudgeEntry(
        row=row,
        key=key,
        key_env=key_env,
        last_test=last,
        test_holds=last is not None and last.settings == noun_hash(row.judge),
        panels=tuple(p.name for p in panels if any(j.name == row.name for j in p.panel.judges)),
    )


def key_status(judge: Judge, environ: Mapping[str, str] | None = None) -> tuple[str, KeyState]:
    """Where the judge's key is, or is looked for first, and whether it is there.

    >>> key_status(Judge(name="j", model="anthropic/x"), {"ANTHROPIC_API_KEY": "k"})
    ('ANTHROPIC_API_KEY', 'set')
    """
    if judge.offline or not judge.askable:
        return "", "not needed"
    names = key_names(judge)
    name_set = next((name for name, there in env_status(names, environ).items() if there), "")
    if names:
        return name_set or names[0], "set" if name_set else "not set"
    return "", "not needed" if judge.api_base else "unknown"


def env_status(names: Iterable[str], environ: Mapping[str, str] | None = None) -> dict[str, bool]:
    """Which of these environment variables are set and not empty. Never their values.

    >>> env_status(["A", "B"], {"A": "x", "B": ""})
    {'A': True, 'B': False}
    """
    env = os.environ if environ is None else environ
    return {name: bool(env.get(name, "").strip()) for name in names}


@allowed("set judges")
def save_judge(store: Store, settings: Mapping[str, Any], *, former: str | None = None) -> JudgeRow:
    """Keep a judge, new or in place of ``former``, and bring saved panels up to date.

    Args:
        store: the data file.
        settings: the fields of ``Judge`` as plain data; blank texts are left out.
        former: the name of the judge that is being edited; a new name renames it.

    What its calls would send where is allowed on this machine, as far as it is not what ``former``
    said already: that may be anybody's (``allow_judge``).

    Raises:
        InputError: the settings are not valid, or the name is taken. It never repeats a value that
            could be a key.
    """
    former_judges = [
        row_before.judge for row_before in store.judges.list() if row_before.name == former
    ]
    row = _saved(store, settings, former)
    if store.actor.trusted and load_settings().access is None:
        permits.allow_sendings([row.judge], apart_from=former_judges)
    return row


def _saved(store: Store, settings: Mapping[str, Any], former: str | None = None) -> JudgeRow:
    judge = checked_judge(settings)
    providers.require_listed([judge], store.actor)
    with store.write():
        if judge.name != former and judge.name in {row.name for row in store.judges.list()}:
            raise InputError(
                "This judge cannot be saved.",
                (Problem("is already another judge's.", "Choose another name.", ("name",)),),
            )
        row = store.judges.save(judge, now=clock.now())
        if former is not None:
            if former != judge.name:
                store.judges.archive(former, now=clock.now())
            _refresh_panels(store, former, judge)
    return row


@allowed("set judges")
def allow_judge(store: Store, name: str) -> None:
    """Allow what the judge's calls send where, on this machine: it may have come with a file."""
    permits.allow_sendings([store.judges.get(name).judge])


def _refresh_panels(store: Store, former: str, judge: Judge) -> None:
    for row in store.panels.list():
        seats = tuple(_in_seat(judge, j) if j.name == former else j for j in row.panel.judges)
        if seats != row.panel.judges:
            data = row.panel.model_copy(update={"judges": seats}).model_dump()
            store.panels.save(build(Panel, data, "panel", row.name), now=clock.now())


def _in_seat(judge: Judge, seat: Judge) -> Judge:
    """The judge with what belongs to its seat in a panel."""
    return judge.model_copy(update={"stage": seat.stage, "shadow": seat.shadow})


@allowed("set judges")
def archive_judge(store: Store, name: str) -> None:
    """Put a judge away. Runs and saved panels keep their copies."""
    store.judges.archive(name, now=clock.now())


@allowed("set judges")
def restore_judge(store: Store, judge_id: int) -> JudgeRow:
    """Take a judge out of the archive, by its id. Raises ``InputError`` where its name is taken."""
    for row in store.judges.list(archived=True):
        if row.id == judge_id:
            return _saved(store, row.judge.model_dump())
    raise NotFound(f"There is no archived judge {judge_id}.")


def list_panels(store: Store, *, archived: bool = False) -> list[PanelRow]:
    """The saved panels in use (or those put away), by name."""
    return store.panels.list(archived=archived)


def get_panel(store: Store, panel_id: int) -> PanelRow:
    """One saved panel. Raises ``NotFound``."""
    return store.panels.get(panel_id)


@allowed("set judges")
def save_panel(
    store: Store,
    name: str,
    judges: Sequence[str],
    rules: Mapping[str, str],
    *,
    panel_id: int | None = None,
    setup: PanelSetup | None = None,
) -> PanelRow:
    """Keep a panel of judges of the registry, new or in place of ``panel_id``.

    ``rules`` gives the aggregation rule per scale. A judge that was put away keeps its seat with
    the settings the panel holds. Without a ``setup`` the panel keeps the one it has.

    Raises:
        InputError: no judge, a rule that does not fit its scale, or a name that is taken.
    """
    name = " ".join(name.split())
    with store.write():
        former = None if panel_id is None else store.panels.get(panel_id)
        by_name = {} if former is None else {j.name: j for j in former.panel.judges}
        by_name |= {row.name: row.judge for row in store.judges.list()}
        missing = [j for j in judges if j not in by_name]
        if missing:
            raise NotFound(f"There is no judge {missing[0]!r}.")
        if setup is None:
            setup = PanelSetup() if former is None else setup_of(former.panel)
        data = panel_data(name, [by_name[j] for j in judges], rules, setup)
        taken = former is None or former.name != name
        taken = taken and name in {row.name for row in store.panels.list()}
        panel = _checked_panel(data, name, taken=taken)
        row = store.panels.save(panel, now=clock.now())
        if former is not None and former.name != name:
            store.panels.archive(former.id, now=clock.now())
    return row


def _checked_panel(data: dict[str, Any], name: str, *, taken: bool) -> Panel:
    problems = list[Problem]()
    if not name:
        problems.append(Problem("is empty.", "Give the panel a name.", ("name",)))
    if taken:
        problems.append(Problem("is already another panel's.", "Choose another name.", ("name",)))
    try:
        panel = build(Panel, {**data, "name": name or "Panel"}, "panel")
    except InputError as error:
        problems += error.problems
        raise InputError("This panel cannot be saved.", tuple(problems)) from None
    if problems:
        raise InputError("This panel cannot be saved.", tuple(problems))
    return panel


@allowed("set judges")
def archive_panel(store: Store, panel_id: int) -> None:
    """Put a panel away. Runs keep their copies."""
    store.panels.archive(panel_id, now=clock.now())
