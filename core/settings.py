"""What the environment decides, read in one place.

``RUBRIC_STUDIO_DB``      the data file (default: ``rubric-studio/studio.db`` in the data folder)
``RUBRIC_STUDIO_RUNNER``  where runs are worked off: ``process``, ``thread`` or ``none``
``RUBRIC_STUDIO_HOSTS``   further names of the app, comma-separated (`--allow-host`)
``RUBRIC_STUDIO_CONFIG``  the configuration of a server for a team (TOML; ``docs/access.md``);
                          where it names workspaces, their data files are used
``RUBRIC_STUDIO_OPEN``    ``1``: other machines may open an app that asks nobody to sign in
``RUBRIC_STUDIO_CACHE``   how many megabytes of answers a data file keeps (default: 1000)
``RUBRIC_STUDIO_CLUSTER`` a Dask cluster to ask models on: ``tcp://HOST:PORT`` or ``local:N``
``RUBRIC_STUDIO_LOG``     ``json``: a server logs lines of JSON (default: ``text``)
``RUBRIC_STUDIO_LOG_LEVEL``      from which level on: ``debug``, ``info``, ``warning``, ``error``
``RUBRIC_STUDIO_METRICS_TOKEN``  who brings it may read ``/metrics``
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

from core.domain.access import (
    MAX_SESSIONS,
    TEAM_ROLES,
    ListedProvider,
    TeamAccess,
    TeamRole,
    Workspace,
)
from core.errors import InputError, NotFound, Problem

RunnerPlace = Literal["process", "thread", "none"]
MEGABYTE = 1_000_000
LogLevel = Literal["debug", "info", "warning", "error"]

#: The folder that `core` and `pages` lie in: a checkout's root, or where packages are installed.
ROOT = Path(__file__).resolve().parents[1]
_INSTALLED = ROOT / "rubric_studio" / "files"
#: Whether this is a checkout, and the folder of what comes along: the app's entry, Streamlit's
#: settings, samples and documents. A wheel brings them within `rubric_studio` (`setup.py`).
CHECKOUT = not _INSTALLED.is_dir()
FILES = ROOT if CHECKOUT else _INSTALLED
SAMPLES = FILES / "sample_rubrics"


@dataclass(frozen=True)
class LogSettings:
    """How a server logs: as text or as lines of JSON, and from which level on."""

    json: bool = False
    level: LogLevel = "info"


@dataclass(frozen=True)
class Settings:
    """Where the data file is, where runs are worked off, and who may come.

    ``access`` is ``None`` where nobody signs in (local mode); ``open``: then also for others than
    this machine. ``workspace`` is the one that these settings are for, if a server has several.
    """

    db: Path
    runner: RunnerPlace = "process"
    hosts: tuple[str, ...] = ()
    access: TeamAccess | None = None
    open: bool = False
    log: LogSettings = LogSettings()
    metrics_token: str = field(default="", repr=False)
    workspace: Workspace | None = None
    cache_bytes: int = 1000 * MEGABYTE
    cluster: str = ""

    @property
    def workspaces(self) -> tuple[Workspace, ...]:
        """The workspaces of this server; none where there is one data file for all."""
        return () if self.access is None else self.access.workspaces

    def within(self, name: str) -> Settings:
        """The settings for one workspace; raises ``NotFound``."""
        for one in self.workspaces:
            if one.name == name:
                assert self.access is not None
                return replace(self, db=one.data, access=self.access.within(one), workspace=one)
        raise NotFound(f"There is no workspace {name!r}.")

    def only(self, name: str = "") -> Settings:
        """The settings for the data file that is meant where no page says it.

        Raises:
            InputError: there are several workspaces and none is named, or none of that name.
        """
        names = [one.name for one in self.workspaces]
        if name and name not in names:
            has = f"has {', '.join(names)}" if names else "has no workspaces"
            raise InputError(f"There is no workspace {name!r}: this server {has}.")
        if not name and len(names) > 1:
            raise InputError(
                f"This server has several workspaces: {', '.join(names)}. Name one with "
                "--workspace, or a data file with --db."
            )
        return self.within(name or names[0]) if names else self

    def each(self) -> tuple[Settings, ...]:
        """The settings for every data file of this server."""
        return tuple(self.within(one.name) for one in self.workspaces) or (self,)


#: What is read of the environment.
_NAMES = (
    *(f"RUBRIC_STUDIO_{name}" for name in ("DB", "RUNNER", "HOSTS", "OPEN", "CACHE", "CLUSTER")),
    *(f"RUBRIC_STUDIO_{name}" for name in ("LOG", "LOG_LEVEL", "METRICS_TOKEN")),
    *("XDG_DATA_HOME", "HOME"),
)


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from the environment; an impossible value is an ``InputError``."""
    env = os.environ if environ is None else environ
    access = team_access(env.get("RUBRIC_STUDIO_CONFIG", ""))
    found = _settings(tuple(env.get(name) for name in _NAMES), access)
    if found.db.is_absolute():
        return found
    return replace(found, db=found.db.expanduser().absolute())


@lru_cache(maxsize=16)
def _settings(said: tuple[str | None, ...], access: TeamAccess | None) -> Settings:
    # Kept, because a page asks thirty times a run.
    env = {name: value for name, value in zip(_NAMES, said, strict=True) if value is not None}
    runner = env.get("RUBRIC_STUDIO_RUNNER", "process")
    if runner not in get_args(RunnerPlace):
        raise InputError(f"RUBRIC_STUDIO_RUNNER is {runner!r}; use 'process', 'thread' or 'none'.")
    hosts = tuple(name for name in env.get("RUBRIC_STUDIO_HOSTS", "").split(",") if name.strip())
    return Settings(
        Path(env["RUBRIC_STUDIO_DB"]) if env.get("RUBRIC_STUDIO_DB") else _data_folder(env),
        cast("RunnerPlace", runner),
        (*hosts, *(access.hosts if access else ())),
        access,
        env.get("RUBRIC_STUDIO_OPEN") == "1",
        _log_settings(env),
        env.get("RUBRIC_STUDIO_METRICS_TOKEN", "").strip(),
        cache_bytes=_cache_bytes(env.get("RUBRIC_STUDIO_CACHE", "")),
        cluster=env.get("RUBRIC_STUDIO_CLUSTER", "").strip(),
    )


def _cache_bytes(text: str) -> int:
    if not re.fullmatch(r"\d{0,9}", text.strip()):
        raise InputError(f"RUBRIC_STUDIO_CACHE is {text!r}; give megabytes as a whole number.")
    return int(text.strip() or 1000) * MEGABYTE


def _log_settings(env: Mapping[str, str]) -> LogSettings:
    form = env.get("RUBRIC_STUDIO_LOG", "") or "text"
    level = (env.get("RUBRIC_STUDIO_LOG_LEVEL", "") or "info").lower()
    if form not in ("text", "json"):
        raise InputError(f"RUBRIC_STUDIO_LOG is {form!r}; use 'text' or 'json'.")
    if level not in get_args(LogLevel):
        known = ", ".join(get_args(LogLevel))
        raise InputError(f"RUBRIC_STUDIO_LOG_LEVEL is {level!r}; use one of {known}.")
    return LogSettings(form == "json", cast("LogLevel", level))


def own_data_file(environ: Mapping[str, str] | None = None) -> Path:
    """The data file in the program's own folder, whichever file is in use."""
    found = _data_folder(os.environ if environ is None else environ)
    return found.expanduser().absolute()


def pace_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where the processes of a person on this machine agree on when a provider may be asked."""
    return own_data_file(environ).parent / "pace"


def own_python(module: str, *arguments: str) -> list[str]:
    """A Python that runs a module and takes none from the folder it is started in (`-P`)."""
    return [sys.executable, "-P", "-m", module, *arguments]


def own_environment() -> dict[str, str]:
    """This process's, in which a checkout finds itself first; what is installed needs no help."""
    inherited = os.environ.get("PYTHONPATH", "")
    paths = [*([str(ROOT)] if CHECKOUT else []), *([inherited] if inherited else [])]
    return {**os.environ, **({"PYTHONPATH": os.pathsep.join(paths)} if paths else {})}


def allowed_file(environ: Mapping[str, str] | None = None) -> Path:
    """What this person has allowed (`services/access/permits`), in their own folder."""
    env = os.environ if environ is None else environ
    folder = Path(env.get("XDG_CONFIG_HOME") or Path(env.get("HOME", "~")) / ".config")
    return folder.expanduser().absolute() / "rubric-studio" / "allowed.json"


def _data_folder(env: Mapping[str, str]) -> Path:
    folder = Path(env.get("XDG_DATA_HOME") or Path(env.get("HOME", "~")) / ".local" / "share")
    return folder / "rubric-studio" / "studio.db"


# The configuration of a server for a team.


def team_access(path: str) -> TeamAccess | None:
    """What the file at ``path`` says (empty: ``None``, no file); read again when it changes.

    Raises:
        InputError: the file cannot be read, or says something that is not known.
    """
    if not path:
        return None
    file = Path(path).expanduser()
    try:
        found = file.stat()
        return _read_access(file, found.st_mtime_ns, found.st_size)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", (), path) from None


@lru_cache(maxsize=4)
def _read_access(file: Path, _changed: int, _size: int) -> TeamAccess:
    import tomllib

    try:
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is not TOML: {error}.", (), str(file)) from None
    reading = _Reading()
    reading.known(given, ("access", "provider", "workspace"), ())
    access = reading.section(given, "access")
    providers = tuple(
        reading.provider(one, ("provider", at))
        for at, one in enumerate(reading.tables(given, "provider"))
    )
    made = reading.access(access, providers)
    made = replace(made, workspaces=reading.workspaces(given, file.absolute().parent, made))
    if reading.problems:
        raise InputError("This configuration cannot be used.", tuple(reading.problems), str(file))
    return made


_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


class _Reading:
    """Reads plain data, and gathers everything that is wrong with it."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def known(self, given: Mapping[str, Any], names: Collection[str], at: tuple[Any, ...]) -> None:
        """Everything there has one of these names."""
        for name in given:
            if name not in names:
                words = f"Use {', '.join(names)}."
                self.problems.append(Problem("is not known here.", words, (*at, name)))

    def section(self, given: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        """A table that must be there."""
        found = given.get(name)
        if not isinstance(found, dict):
            self.problems.append(Problem("is missing.", f"Begin a section [{name}].", (name,)))
            return {}
        return found

    def tables(self, given: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
        """An array of tables."""
        found = given.get(name, [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            self.problems.append(Problem("is no list.", f"Write [[{name}]] for each.", (name,)))
            return []
        return found

    def access(self, given: Mapping[str, Any], providers: tuple[ListedProvider, ...]) -> TeamAccess:
        """The section ``[access]``."""
        at = ("access",)
        names = (
            *("login", "allowed_domains", "allowed_emails", "admins", "new_members"),
            *("require_verified", "session_hours", "hosts", "max_sessions"),
        )
        self.known(given, names, at)
        if given and given.get("login", "required") != "required":
            self.problems.append(
                Problem('must be "required".', "Leave the file away to work alone.", (*at, "login"))
            )
        admins = frozenset(map(str.casefold, self.texts(given, "admins", at)))
        if given and not admins:
            self.problems.append(
                Problem("names nobody.", "Give at least one e-mail address.", (*at, "admins"))
            )
        hours = self.number(given, "session_hours", at)
        return TeamAccess(
            admins=admins,
            domains=frozenset(map(str.casefold, self.texts(given, "allowed_domains", at))),
            emails=frozenset(map(str.casefold, self.texts(given, "allowed_emails", at))),
            new_members=self.role(given.get("new_members", "viewer"), (*at, "new_members")),
            require_verified=self.flag(given, "require_verified", at),
            session_hours=12.0 if hours is None else hours,
            hosts=self.texts(given, "hosts", at),
            max_sessions=int(self.number(given, "max_sessions", at) or MAX_SESSIONS),
            providers=providers,
        )

    def workspaces(
        self, given: Mapping[str, Any], folder: Path, access: TeamAccess
    ) -> tuple[Workspace, ...]:
        """All tables ``[[workspace]]``; no two share a name or a data file."""
        made = list[Workspace]()
        for number, one in enumerate(self.tables(given, "workspace")):
            at = ("workspace", number)
            found = self.workspace(one, folder, access, at)
            if found.name in [other.name for other in made]:
                self.problems.append(Problem("is there twice.", "", (*at, "name")))
            if found.data.resolve() in [other.data.resolve() for other in made]:
                mend = "Give each workspace a file of its own."
                self.problems.append(Problem("is another's data file.", mend, (*at, "data")))
            made.append(found)
        return tuple(made)

    def workspace(
        self, given: Mapping[str, Any], folder: Path, access: TeamAccess, at: tuple[Any, ...]
    ) -> Workspace:
        """One table ``[[workspace]]``; its data file is looked for beside the configuration."""
        self.known(given, ("name", "title", "data", "new_members"), at)
        name, data = self.text(given, "name", at), self.text(given, "data", at)
        if not _NAME.fullmatch(name):
            mend = "Use 1 to 40 small letters, digits and hyphens: it stands in addresses."
            self.problems.append(Problem("is no name of a workspace.", mend, (*at, "name")))
        if not data:
            mend = f'Name its data file, e.g. data = "{name or "team"}.db".'
            self.problems.append(Problem("is missing.", mend, (*at, "data")))
        asked = given.get("new_members", access.new_members)
        role = None if asked == "none" else self.role(asked, (*at, "new_members"))
        title = self.text(given, "title", at) or name
        return Workspace(name, title, (folder / Path(data).expanduser()).absolute(), role)

    def provider(self, given: Mapping[str, Any], at: tuple[Any, ...]) -> ListedProvider:
        """One table ``[[provider]]``."""
        names = ("name", "address", "key_env", "models", "roles", "monthly_usd", "person_usd")
        self.known(given, names, at)
        texts = {name: self.text(given, name, at) for name in ("name", "address", "key_env")}
        models = self.texts(given, "models", at)
        if not texts["name"]:
            self.problems.append(Problem("is missing.", "Give the provider a name.", (*at, "name")))
        if not texts["address"] and not models:
            mend = 'Give its address, or say which models it has (models = ["openai/"]).'
            self.problems.append(Problem("is missing.", mend, (*at, "address")))
        asked = self.texts(given, "roles", at) if "roles" in given else ("author", "lead", "admin")
        return ListedProvider(
            **texts,
            models=models,
            roles=frozenset(self.role(one, (*at, "roles")) for one in asked),
            monthly_usd=self.number(given, "monthly_usd", at),
            person_usd=self.number(given, "person_usd", at),
        )

    def text(self, given: Mapping[str, Any], name: str, at: tuple[Any, ...]) -> str:
        """A text, or an empty one."""
        found = given.get(name, "")
        if isinstance(found, str):
            return found.strip()
        self.problems.append(Problem("is no text.", "Write it in quotes.", (*at, name)))
        return ""

    def texts(self, given: Mapping[str, Any], name: str, at: tuple[Any, ...]) -> tuple[str, ...]:
        """A list of texts, or an empty one."""
        found = given.get(name, [])
        if isinstance(found, list) and all(isinstance(one, str) for one in found):
            return tuple(one.strip() for one in found if one.strip())
        self.problems.append(Problem("is no list of texts.", 'Write ["one", "two"].', (*at, name)))
        return ()

    def flag(self, given: Mapping[str, Any], name: str, at: tuple[Any, ...]) -> bool:
        """True unless it says false."""
        found = given.get(name, True)
        if not isinstance(found, bool):
            self.problems.append(Problem("is neither true nor false.", "", (*at, name)))
        return found is not False

    def number(self, given: Mapping[str, Any], name: str, at: tuple[Any, ...]) -> float | None:
        """A number above 0, or ``None``."""
        found = given.get(name)
        if found is None:
            return None
        if isinstance(found, bool) or not isinstance(found, int | float) or not found > 0:
            self.problems.append(Problem("is no number above 0.", "", (*at, name)))
            return None
        return float(found)

    def role(self, found: object, at: tuple[Any, ...]) -> TeamRole:
        """A role."""
        if found in TEAM_ROLES:
            return found
        words = f"Use one of {', '.join(TEAM_ROLES)}."
        self.problems.append(Problem("is no role.", words, at))
        return "viewer"
