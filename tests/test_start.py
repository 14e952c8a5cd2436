"""What the app is once it is imported, looked at in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
#: What one process finds, one thing after the other: to import the app takes it a second.
CODE = """
import json
import sys
import app

heavy = ("pandas", "numpy", "scipy", "plotly.graph_objs._figure", "sklearn", "litellm")
found = {"cold": [name for name in heavy if name in sys.modules]}

from streamlit.runtime.scriptrunner.exec_code import modified_sys_path
from streamlit.runtime.state import SafeSessionState, SessionState

before = list(sys.path)
with modified_sys_path(str(app.FRAME)):
    found["path"] = sys.path == before

app.take_turns()
# Two runs of one page, and one of another; each has what Streamlit gives it.
page, other = SessionState(), SessionState()
old, new, third = (SafeSessionState(one, yield_callback=print) for one in (page, page, other))
found["locks"] = [old._lock is new._lock, old._lock is third._lock]

# What Streamlit has: a runner that stops where it is told to, and callbacks that write.
class Page(SessionState):
    def on_script_will_rerun(self, *args, **more):
        safe["typed"] = "words"

class Runner:
    _execing = True
    def look(self):
        if self._execing:
            raise SystemExit("cut off")

page, runner = Page(), Runner()
safe = SafeSessionState(page, runner.look)
safe.on_script_will_rerun(None)
found["heard"] = [page["typed"], runner._execing]

app.warm()
found["warm"] = [name for name in heavy if name in sys.modules]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What a new process says of the app that it imported."""
    said = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(said.stdout.splitlines()[-1])
    return answer


def test_what_figures_stand_on_is_imported_after_the_server_can_answer(
    found: dict[str, Any],
) -> None:
    assert found["cold"] == []
    assert found["warm"] == ["pandas", "numpy", "scipy", "plotly.graph_objs._figure"]


def test_a_rerun_leaves_the_path_alone_that_other_threads_import_from(
    found: dict[str, Any],
) -> None:
    assert found["path"] is True


def test_a_run_that_ends_waits_while_the_next_one_of_its_page_writes(found: dict[str, Any]) -> None:
    assert found["locks"] == [True, False]


def test_a_run_that_is_to_stop_first_takes_over_all_that_a_person_did(
    found: dict[str, Any],
) -> None:
    assert found["heard"] == ["words", True]
