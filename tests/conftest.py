"""What holds for every test: how long Hypothesis looks, how many workers there are, and so on."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Generator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from tests.thorough import leave_to_thorough

# How fast the machine is must not decide whether a test passes.
settings.register_profile("thorough", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("thorough"), max_examples=16)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_configure(config: pytest.Config) -> None:
    """Tests have a data folder of their own, and nothing of the settings of whoever runs them.

    A shell that runs them in the background has Ctrl-C ignored, and every program they start would
    ignore it as well.

    What is imported until all are collected is no garbage: a sixth of that time went to looking.
    """
    gc.set_threshold(200_000, 50, 100)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = tempfile.TemporaryDirectory(prefix="rubric-studio-tests")
    config.add_cleanup(folder.cleanup)
    os.environ["XDG_DATA_HOME"] = os.environ["XDG_CONFIG_HOME"] = folder.name
    for name in ("DB", "CONFIG", "CLUSTER", "RUNNER", "HOSTS", "OPEN", "CACHE"):
        os.environ.pop(f"RUBRIC_STUDIO_{name}", None)


def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores: whoever drives a browser waits for half of the time."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else 3


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `--dist loadgroup` the files are shared out as `tests/scheduling.py` says."""
    if config.getoption("dist") != "loadgroup":
        return None
    from tests.scheduling import FileScheduling

    return FileScheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Each worker begins to import the tests at another place, and finds the rest compiled.

    In a fresh clone all of them would compile the same file at the same time, one after the other.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    here = Path(__file__).parent
    files = [path.relative_to(here.parent) for path in sorted(here.glob("**/test_*.py"))]
    first = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    for file in files[first:] + files[:first]:
        with suppress(Exception):  # the collection meets it again, and says so
            import_module(".".join(file.with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[Any], list[Any]]:
    """Examples stand in the docstrings of the program; a test's are not looked for."""
    found = yield
    return [one for one in found if not isinstance(one, DoctestModule)]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that drive a browser come first, one after the other: they share it and a server."""
    leave_to_thorough(config, items)
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What is imported by now stays: looking for garbage among it took a seventh of the time."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


#: The program that runs the tests. Streamlit puts the script of a page in its place and leaves it
#: there; a process that a later test spawns would run that script first.
MAIN = sys.modules["__main__"]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Every test begins in the program that it was started in."""
    sys.modules["__main__"] = MAIN
