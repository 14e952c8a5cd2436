"""The registry of judges and panels, with the state of their keys and permits.

Runs keep a copy of their panel, so nothing here changes an existing run. Keys are known only by the
name of their environment variable; their values are never shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core import clock
from core.domain.base import build_model
from core.domain.library import JudgeRow, PanelRow
from core.domain.panel import Judge, Panel
from core.errors import InputError, NotFound, Problem
from core.judging.keys import key_names
from core.judging.known_providers import KNOWN
from core.judging.local import model_file
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

#: Providers, and the variables that usually hold their keys.
KNOWN_KEYS = tuple((known.title, known.keys[0]) for known in KNOWN.values() if known.title)
_SEEDED = "registry/defaults"

KeyState = Literal["set", "not set", "not needed", "unknown"]


@dataclass(frozen=True, slots=True)
class JudgeEntry:
    """A judge in the registry, with what is known about it without a call.

    ``key_env`` is the variable that should have its key (empty: none). ``last_test`` is ``None`` if
    it was never tested; ``test_holds`` says whether that test used the same settings. ``panels``
    are the saved panels that it belongs to.
    """

    row: JudgeRow
    key: KeyState
    key_env: str
    last_test: ConnectionResult | None
    test_holds: bool
    panels: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the judge's name."""
        return self.row.name

    @property
    def secrets_not_allowed(self) -> tuple[str, ...]:
        """Return the secrets that it would send and that are not allowed here; read on demand."""
        return tuple(problem.message for problem in permits.unlisted_problems([self.judge]))

    @property
    def ready_model(self) -> bool:
        """Return whether it is a model that can be called now: it has its key, or needs none."""
        return not self.judge.offline and self.key in ("set", "not needed")

    @property
    def judge(self) -> Judge:
        """Return the judge's settings."""
        return self.row.judge


@allowed("read")
def ensure_defaults(store: Store) -> None:
    """Create the two offline judges and their panel, once per data file.

    Judges that were renamed or archived since then stay as they are.
    """
    if store.read_only or store.settings.get(_SEEDED):
        return
    now = clock.now()
    with store.write():
        if store.settings.get(_SEEDED):
            return
        taken_names = {row.name for row in store.judges.list()}
        for judge in OFFLINE_JUDGES:
            if judge.name not in taken_names:
                store.judges.save(judge, now=now)
        if OFFLINE_PANEL.name not in {row.name for row in store.panels.list()}:
            store.panels.save(OFFLINE_PANEL, now=now)
        store.settings.put(_SEEDED, True)


def list_judges(store: Store, *, archived: bool = False) -> list[JudgeEntry]:
    """Return the judges in use, models first, then by name.

    With ``archived``, return the archived judges whose name is free, in their last version.
    """
    rows = store.judges.list(archived=archived)
    panels = [] if archived else store.panels.list()
    if archived:
        taken_names = {row.name for row in store.judges.list()}
        rows = list({row.name: row for row in rows if row.name not in taken_names}.values())
    rows.sort(key=lambda row: row.judge.offline)
    return [_judge_entry(store, row, panels) for row in rows]


def get_judge(store: Store, name: str) -> JudgeEntry:
    """Return the judge in use with this name. Raises ``NotFound``."""
    return _judge_entry(store, store.judges.get(name), store.panels.list())


def _judge_entry(store: Store, row: JudgeRow, panels: Sequence[PanelRow]) -> JudgeEntry:
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
    """Return the variable with the judge's key, or the first one tried, and whether it is set.

    >>> key_status(Judge(name="j", model="anthropic/x"), {"ANTHROPIC_API_KEY": "k"})
    ('ANTHROPIC_API_KEY', 'set')
    """
    if judge.offline or not judge.askable:
        return "", "not needed"
    names = key_names(judge)
    name_set = next((name for name, is_set in env_status(names, environ).items() if is_set), "")
    if names:
        return name_set or names[0], "set" if name_set else "not set"
    return "", "not needed" if judge.api_base or model_file.model_path(judge.model) else "unknown"


def env_status(names: Iterable[str], environ: Mapping[str, str] | None = None) -> dict[str, bool]:
    """Return which of these environment variables are set and not empty; never their values.

    >>> env_status(["A", "B"], {"A": "x", "B": ""})
    {'A': True, 'B': False}
    """
    env = os.environ if environ is None else environ
    return {name: bool(env.get(name, "").strip()) for name in names}


@allowed("set judges")
def save_judge(store: Store, settings: Mapping[str, Any], *, former: str | None = None) -> JudgeRow:
    """Save a judge, new or replacing ``former``, and update the saved panels.

    Args:
        store: the data file.
        settings: the fields of ``Judge`` as plain data, without blank texts.
        former: the name of the edited judge; a new name renames it.

    The secrets that its calls send are allowed on this machine, except those that ``former``
    already sent, since a stranger may have set these (``allow_judge``).

    Raises:
        InputError: the settings are invalid, or the name is taken. A value that could be a key is
            never repeated.
    """
    former_judges = [entry.judge for entry in store.judges.list() if entry.name == former]
    row = _save_judge(store, settings, former)
    if store.actor.trusted and load_settings().access is None:
        permits.allow_sendings([row.judge], apart_from=former_judges)
    return row


def _save_judge(store: Store, settings: Mapping[str, Any], former: str | None = None) -> JudgeRow:
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
    """Allow on this machine the secrets that a judge sends, which may have come from a file."""
    permits.allow_sendings([store.judges.get(name).judge])


def _refresh_panels(store: Store, former: str, judge: Judge) -> None:
    for row in store.panels.list():
        seats = tuple(
            _with_seat_settings(judge, j) if j.name == former else j for j in row.panel.judges
        )
        if seats != row.panel.judges:
            data = row.panel.model_copy(update={"judges": seats}).model_dump()
            store.panels.save(build_model(Panel, data, "panel", row.name), now=clock.now())


def _with_seat_settings(judge: Judge, seat: Judge) -> Judge:
    """Return the judge with the settings that this panel gives it."""
    return judge.model_copy(update={"stage": seat.stage, "shadow": seat.shadow})


@allowed("set judges")
def archive_judge(store: Store, name: str) -> None:
    """Archive a judge. Runs and saved panels keep their copies."""
    store.judges.archive(name, now=clock.now())


@allowed("set judges")
def restore_judge(store: Store, judge_id: int) -> JudgeRow:
    """Restore an archived judge by its id.

    Raises ``InputError`` if its name is taken, ``NotFound`` if it is not archived.
    """
    for row in store.judges.list(archived=True):
        if row.id == judge_id:
            return _save_judge(store, row.judge.model_dump())
    raise NotFound(f"There is no archived judge {judge_id}.")


def list_panels(store: Store) -> list[PanelRow]:
    """Return the saved panels in use, by name."""
    return store.panels.list()


def get_panel(store: Store, panel_id: int) -> PanelRow:
    """Return a saved panel. Raises ``NotFound``."""
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
    """Save a panel of judges from the registry, new or replacing ``panel_id``.

    ``rules`` are the aggregation rules by scale. An archived judge stays in the panel with the
    settings that it has there. Without a ``setup`` the panel keeps its own.

    Raises:
        InputError: no judge, a rule that does not fit its scale, or a name that is taken.
        NotFound: a judge that is neither in the registry nor in the panel.
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
        name_taken = former is None or former.name != name
        name_taken = name_taken and name in {row.name for row in store.panels.list()}
        panel = _checked_panel(data, name, name_exists=name_taken)
        row = store.panels.save(panel, now=clock.now())
        if former is not None and former.name != name:
            store.panels.archive(former.id, now=clock.now())
    return row


def _checked_panel(data: dict[str, Any], name: str, *, name_exists: bool) -> Panel:
    problems = list[Problem]()
    if not name:
        problems.append(Problem("is empty.", "Give the panel a name.", ("name",)))
    if name_exists:
        problems.append(Problem("is already another panel's.", "Choose another name.", ("name",)))
    try:
        panel = build_model(Panel, {**data, "name": name or "Panel"}, "panel")
    except InputError as error:
        problems += error.problems
        raise InputError("This panel cannot be saved.", tuple(problems)) from None
    if problems:
        raise InputError("This panel cannot be saved.", tuple(problems))
    return panel


@allowed("set judges")
def archive_panel(store: Store, panel_id: int) -> None:
    """Archive a panel. Runs keep their copies."""
    store.panels.archive(panel_id, now=clock.now())
