"""The server answers before what only pages of figures need is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: What is there once the app is, and once it is warm.
CODE = """
import sys
import app

heavy = ("pandas", "numpy", "scipy", "plotly.graph_objs._figure", "sklearn", "litellm")
print([name for name in heavy if name in sys.modules])
app.warm()
print([name for name in heavy if name in sys.modules])
"""


def said_by(code: str) -> str:
    """What a new process prints that runs this code."""
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return found.stdout.strip()


def test_what_figures_stand_on_is_imported_after_the_server_can_answer() -> None:
    found = said_by(CODE)
    cold, warm = found.splitlines()[-2:]
    assert cold == "[]"
    assert warm == "['pandas', 'numpy', 'scipy', 'plotly.graph_objs._figure']"


def test_a_rerun_leaves_the_path_alone_that_other_threads_import_from() -> None:
    code = (
        "import sys, app\n"
        "from streamlit.runtime.scriptrunner.exec_code import modified_sys_path\n"
        "before = list(sys.path)\n"
        "with modified_sys_path(str(app.FRAME)):\n"
        "    print(sys.path == before)\n"
    )
    found = said_by(code)
    assert found == "True"


def test_a_run_that_ends_waits_while_the_next_one_of_its_page_writes() -> None:
    # Two runs of one page, and one of another; each has what Streamlit gives it.
    code = (
        "import app\n"
        "from streamlit.runtime.state import SafeSessionState, SessionState\n"
        "app.take_turns()\n"
        "page, other = SessionState(), SessionState()\n"
        "old, new, third = (SafeSessionState(p, yield_callback=print) "
        "for p in (page, page, other))\n"
        "print(old._lock is new._lock, old._lock is third._lock)\n"
    )
    found = said_by(code)
    assert found == "True False"


def test_a_run_that_is_to_stop_first_takes_over_all_that_a_person_did() -> None:
    # What Streamlit has: a runner that stops where it is told to, and callbacks that write.
    code = (
        "import app\n"
        "from streamlit.runtime.state import SafeSessionState, SessionState\n"
        "class Page(SessionState):\n"
        "    def on_script_will_rerun(self, *args, **more):\n"
        "        safe['typed'] = 'words'\n"
        "class Runner:\n"
        "    _execing = True\n"
        "    def look(self):\n"
        "        if self._execing:\n"
        "            raise SystemExit('cut off')\n"
        "app.take_turns()\n"
        "page, runner = Page(), Runner()\n"
        "safe = SafeSessionState(page, runner.look)\n"
        "safe.on_script_will_rerun(None)\n"
        "print(page['typed'], runner._execing)\n"
    )
    found = said_by(code)
    assert found == "words True"
