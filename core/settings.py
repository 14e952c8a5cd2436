"""What the environment decides, read in one place.

``RUBRIC_STUDIO_DB``      the data file (default: ``rubric-studio/studio.db`` in the data folder)
``RUBRIC_STUDIO_RUNNER``  where runs are worked off: ``process``, ``thread`` or ``none``
``RUBRIC_STUDIO_HOSTS``   further names of the app, comma-separated (`--allow-host`)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from core.errors import InputError

RunnerPlace = Literal["process", "thread", "none"]

#: The folder that `core` and `pages` lie in: a checkout's root, or where packages are installed.
ROOT = Path(__file__).resolve().parents[1]
_INSTALLED = ROOT / "rubric_studio" / "files"
#: Whether this is a checkout, and the folder of what comes along: the app's entry, Streamlit's
#: settings, samples and documents. A wheel brings them within `rubric_studio` (`setup.py`).
CHECKOUT = not _INSTALLED.is_dir()
FILES = ROOT if CHECKOUT else _INSTALLED
SAMPLES = FILES / "sample_rubrics"


@dataclass(frozen=True)
class Settings:
    """Where the data file is and where runs are worked off."""

    db: Path
    runner: RunnerPlace = "process"
    hosts: tuple[str, ...] = ()


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from the environment; an impossible value is an ``InputError``."""
    env = os.environ if environ is None else environ
    db = Path(env["RUBRIC_STUDIO_DB"]) if env.get("RUBRIC_STUDIO_DB") else _data_folder(env)
    runner = env.get("RUBRIC_STUDIO_RUNNER", "process")
    if runner not in get_args(RunnerPlace):
        raise InputError(f"RUBRIC_STUDIO_RUNNER is {runner!r}; use 'process', 'thread' or 'none'.")
    hosts = tuple(name for name in env.get("RUBRIC_STUDIO_HOSTS", "").split(",") if name.strip())
    return Settings(db.expanduser().absolute(), cast("RunnerPlace", runner), hosts)


def own_data_file(environ: Mapping[str, str] | None = None) -> Path:
    """The data file in the program's own folder, whichever file is in use."""
    found = _data_folder(os.environ if environ is None else environ)
    return found.expanduser().absolute()


def _data_folder(env: Mapping[str, str]) -> Path:
    base = env.get("XDG_DATA_HOME")
    folder = Path(base) if base else Path(env.get("HOME", "~")) / ".local" / "share"
    return folder / "rubric-studio" / "studio.db"
