"""Which worker runs which tests: a file stays together, and every other one drives no browser.

A file's fixtures are then made once, not once in every worker, and so is the import of litellm. Who
drives a browser waits half of the time; were all workers to do that at once, the cores would idle.
So every other one begins with the other files, and whoever runs out of its own kind takes of what
is left. Files that take long come first: begun last, one of them would keep a single worker busy
while all others are done.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xdist.scheduler import LoadScopeScheduling

BROWSER = "tests/browser/"
#: Those that take 5 to 25 seconds on a quiet machine, most of which some of them only wait.
LONG = {
    *("tests/browser/test_authoring_browser.py", "tests/browser/test_editor_hands.py"),
    *("tests/browser/test_first_sight.py", "tests/browser/test_grade_journey.py"),
    *("tests/browser/test_headers.py", "tests/browser/test_journey.py"),
    *("tests/browser/test_reviewing.py", "tests/browser/test_team.py"),
    *("tests/browser/test_reviewing_blind.py", "tests/browser/test_settling_in_the_grid.py"),
    *("tests/cli/test_every_format.py", "tests/cli/test_export_on_terminal.py"),
    *("tests/cli/test_terminal.py", "tests/judging/asking/test_storm_wire.py"),
    *("tests/pages/imports/test_every_format.py", "tests/pages/run/test_page.py"),
    *("tests/pages/test_pictures.py", "tests/pages/test_read_only.py"),
    *("tests/pages/review_findings/test_page.py", "tests/services/runs/test_worker.py"),
    *("tests/services/runs/test_batch_doors.py", "tests/services/runs/test_kill.py"),
    *("tests/pages/agreement/test_views.py", "tests/rubric_studio/test_package.py"),
    *("tests/services/imports/test_shared_data.py", "tests/services/imports/test_strangers.py"),
    *("tests/browser/test_working.py", "tests/services/access/test_endpoints.py"),
    *("tests/services/rubrics/test_every_field.py", "tests/services/runs/test_cluster.py"),
    *("tests/services/runs/test_flip_check.py", "tests/services/runs/test_hanging_checks.py"),
    *("tests/services/runs/test_keeper.py", "tests/services/runs/test_poison_run.py"),
    *("tests/services/runs/test_signals.py", "tests/test_architecture.py", "tests/test_readme.py"),
}
#: Files whose tests import litellm, which takes a process two seconds and more: one worker has all.
LITELLM = [
    "tests/judging/asking/test_storm_wire.py",
    *("tests/judging/asking/test_asking_wire.py", "tests/judging/asking/test_judge_wire.py"),
    *("tests/judging/asking/test_option_chances.py", "tests/judging/test_allowance.py"),
    *("tests/judging/providers/test_anthropic.py", "tests/judging/providers/test_choice.py"),
    *("tests/judging/providers/test_dangerous_replies.py", "tests/judging/providers/test_plain.py"),
    "tests/judging/providers/test_failures_wire.py",
    *("tests/judging/providers/test_providers_wire.py", "tests/judging/asking/test_slow_server.py"),
    "tests/judging/providers/test_cancelled.py",
    *("tests/services/runs/test_counted_calls.py", "tests/services/runs/test_planted_key.py"),
    "tests/services/runs/test_planted_params.py",
]

#: Files whose tests measure the same folders, which takes seconds: one worker measures each once.
MEASURED = ["tests/services/imports/test_shared_data.py", "tests/metrics/test_expected.py"]


class FileScheduling(LoadScopeScheduling):
    """What `--dist loadgroup` does here."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        return next((group[0] for group in (LITELLM, MEASURED) if file in group), file)

    def _assign_work_unit(self, node: Any) -> None:
        browser = self.nodes.index(node) % 2 > 0
        self.workqueue.move_to_end(next_file(self.workqueue, browser=browser), last=False)
        super()._assign_work_unit(node)


def next_file(waiting: Iterable[str], *, browser: bool) -> str:
    """The first that drives a browser, or that does not, long ones before others.

    Where there is none of that kind, of the other.
    """
    return min(waiting, key=lambda file: (file.startswith(BROWSER) != browser, file not in LONG))
