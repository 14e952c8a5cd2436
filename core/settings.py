"""Settings from environment variables.

``RUBRIC_STUDIO_DB``      the data file (default: ``rubric-studio/studio.db`` in the data folder)
``RUBRIC_STUDIO_RUNNER``  where runs are executed: ``process``, ``thread`` or ``none``
``RUBRIC_STUDIO_HOSTS``   further names of the app, comma-separated (`--allow-host`)
``RUBRIC_STUDIO_CONFIG``  the configuration of a server for a team (TOML; ``docs/access.md``);
                          if it names workspaces, their data files are used
``RUBRIC_STUDIO_OPEN``    ``1``: other machines may open an app without sign-in
``RUBRIC_STUDIO_CACHE``   most megabytes of cached answers in a data file (default: 1000)
``RUBRIC_STUDIO_CLUSTER`` a Dask cluster to ask models on: ``tcp://HOST:PORT`` or ``local:N``
``RUBRIC_STUDIO_LOG``     ``json``: a server logs lines of JSON (default: ``text``)
``RUBRIC_STUDIO_LOG_LEVEL``      the least level: ``debug``, ``info``, ``warning``, ``error``
``RUBRIC_STUDIO_METRICS_TOKEN``  the token that permits reading ``/metrics``
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Literal, cast, get_args

from core.domain.access import TeamAccess, Workspace
from core.errors import InputError, NotFound
from core.team_configuration import team_access

RunnerPlace = Literal["process", "thread", "none"]
MEGABYTE = 1_000_000
LogLevel = Literal["debug", "info", "warning", "error"]

#: The folder that contains `core` and `pages`: a checkout's root, or the installed `rubric_studio`.
ROOT = Path(__file__).resolve().parents[1]
_INSTALLED = ROOT / "files"
#: Whether this is a checkout, and the folder of the app's entry, Streamlit's settings, samples and
#: documents. A wheel has them within `rubric_studio` (`setup.py`).
CHECKOUT = not (_INSTALLED / "app.py").is_file()
FILES = ROOT if CHECKOUT else _INSTALLED
SAMPLES = FILES / "sample_rubrics"


@dataclass(frozen=True)
class Settings:
    """Where the data file is, where runs are executed, and who may use the app.

    ``access`` is ``None`` without sign-in (local mode); ``open``: other machines may connect even
    so. ``workspace`` is the workspace of these settings, if a server has several.
    """

    db: Path
    runner: RunnerPlace = "process"
    hosts: tuple[str, ...] = ()
    access: TeamAccess | None = None
    open: bool = False
    json_log: LogLevel | None = None
    metrics_token: str = field(default="", repr=False)
    workspace: Workspace | None = None
    cache_bytes: int = 1000 * MEGABYTE
    cluster: str = ""

    @property
    def workspaces(self) -> tuple[Workspace, ...]:
        """Return the workspaces of this server; empty if it has a single data file."""
        return () if self.access is None else self.access.workspaces

    def scoped(self, name: str) -> Settings:
        """Return the settings for one workspace; raises ``NotFound``."""
        for workspace in self.workspaces:
            if workspace.name == name:
                assert self.access is not None
                return replace(
                    self,
                    db=workspace.data,
                    access=self.access.scoped(workspace),
                    workspace=workspace,
                )
        raise NotFound(f"There is no workspace {name!r}.")

    def only(self, name: str = "") -> Settings:
        """Return the settings of the data file that applies without a page.

        Raises:
            InputError: there are several workspaces and none is named, or the name is unknown.
        """
        names = [workspace.name for workspace in self.workspaces]
        if name and name not in names:
            has = f"has {', '.join(names)}" if names else "has no workspaces"
            raise InputError(f"There is no workspace {name!r}: this server {has}.")
        if not name and len(names) > 1:
            raise InputError(
                f"This server has several workspaces: {', '.join(names)}. Name one with "
                "--workspace, or a data file with --db."
            )
        return self.scoped(name or names[0]) if names else self

    def each(self) -> tuple[Settings, ...]:
        """Return the settings for every data file of this server."""
        return tuple(self.scoped(workspace.name) for workspace in self.workspaces) or (self,)


#: The environment variables that settings read.
_NAMES = (
    *(f"RUBRIC_STUDIO_{name}" for name in ("DB", "RUNNER", "HOSTS", "OPEN", "CACHE", "CLUSTER")),
    *(f"RUBRIC_STUDIO_{name}" for name in ("LOG", "LOG_LEVEL", "METRICS_TOKEN")),
    *("XDG_DATA_HOME", "HOME"),
)


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Return settings from the environment. Raises ``InputError`` for an invalid value."""
    env = os.environ if environ is None else environ
    access = team_access(env.get("RUBRIC_STUDIO_CONFIG", ""))
    settings = _settings(tuple(env.get(name) for name in _NAMES), access)
    if settings.db.is_absolute():
        return settings
    return replace(settings, db=settings.db.expanduser().absolute())


@lru_cache(maxsize=16)
def _settings(values: tuple[str | None, ...], access: TeamAccess | None) -> Settings:
    # Cached, because a page asks thirty times per rerun.
    env = {name: value for name, value in zip(_NAMES, values, strict=True) if value is not None}
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
        _json_log(env),
        env.get("RUBRIC_STUDIO_METRICS_TOKEN", "").strip(),
        cache_bytes=_cache_bytes(env.get("RUBRIC_STUDIO_CACHE", "")),
        cluster=env.get("RUBRIC_STUDIO_CLUSTER", "").strip(),
    )


def _cache_bytes(text: str) -> int:
    if not re.fullmatch(r"\d{0,9}", text.strip()):
        raise InputError(f"RUBRIC_STUDIO_CACHE is {text!r}; give megabytes as a whole number.")
    return int(text.strip() or 1000) * MEGABYTE


def _json_log(env: Mapping[str, str]) -> LogLevel | None:
    form = env.get("RUBRIC_STUDIO_LOG", "") or "text"
    level = (env.get("RUBRIC_STUDIO_LOG_LEVEL", "") or "info").lower()
    if form not in ("text", "json"):
        raise InputError(f"RUBRIC_STUDIO_LOG is {form!r}; use 'text' or 'json'.")
    if level not in get_args(LogLevel):
        levels = ", ".join(get_args(LogLevel))
        raise InputError(f"RUBRIC_STUDIO_LOG_LEVEL is {level!r}; use one of {levels}.")
    return cast("LogLevel", level) if form == "json" else None


def user_data_file(environ: Mapping[str, str] | None = None) -> Path:
    """Return the data file in the program's own folder, whichever file is in use."""
    path = _data_folder(os.environ if environ is None else environ)
    return path.expanduser().absolute()


def pace_folder() -> Path:
    """Return the folder in which a user's processes coordinate calls to providers."""
    return user_data_file().parent / "pace"


def own_python(module: str, *arguments: str) -> list[str]:
    """Return a command that runs a module with Python, importing nothing from its folder (`-P`)."""
    return [sys.executable, "-P", "-m", module, *arguments]


def own_environment() -> dict[str, str]:
    """Return this process's environment; a checkout puts itself first on the import path."""
    inherited = os.environ.get("PYTHONPATH", "")
    paths = [*([str(ROOT)] if CHECKOUT else []), *([inherited] if inherited else [])]
    return {**os.environ, **({"PYTHONPATH": os.pathsep.join(paths)} if paths else {})}


def allowed_file() -> Path:
    """Return the file of this user's permissions (`services/access/permits`)."""
    home = os.environ.get("HOME", "~")
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path(home) / ".config")
    return folder.expanduser().absolute() / "rubric-studio" / "allowed.json"


def _data_folder(env: Mapping[str, str]) -> Path:
    folder = Path(env.get("XDG_DATA_HOME") or Path(env.get("HOME", "~")) / ".local" / "share")
    return folder / "rubric-studio" / "studio.db"
