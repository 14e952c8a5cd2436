"""Which worker runs which tests: a file stays together, and one worker in three drives no browser.

A file's fixtures are then made once, not once in every worker. Who drives a browser waits half of
the time; were all workers to do that at once, the cores would idle. So one in three begins with the
other files, and whoever runs out of its own kind takes of what is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xdist.scheduler import LoadScopeScheduling

BROWSER = "tests/browser/"


class FileScheduling(LoadScopeScheduling):
    """What `--dist loadgroup` does here."""

    def _split_scope(self, nodeid: str) -> str:
        return nodeid.split("::", 1)[0]

    def _assign_work_unit(self, node: Any) -> None:
        browser = self.nodes.index(node) % 3 > 0
        self.workqueue.move_to_end(next_file(self.workqueue, browser=browser), last=False)
        super()._assign_work_unit(node)


def next_file(waiting: Iterable[str], *, browser: bool) -> str:
    """The first that drives a browser, or that does not; where there is none, the first."""
    files = list(waiting)
    return next((file for file in files if file.startswith(BROWSER) == browser), files[0])
