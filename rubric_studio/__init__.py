"""Rubric Studio's public face: ``python -m rubric_studio``, ``import rubric_studio as rs``.

Installed, the program lies in this package. In a checkout it lies beside it, as ``core`` and
``pages``: names that others use, too, so it is looked up whose is found before it is imported.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

_HOME = Path(__file__).resolve().parent.parent
_OWN = [name for name in ("core", "pages") if not (_HOME / "rubric_studio" / name).is_dir()]


def require_own_packages() -> None:
    """Say which of our packages is hidden by something of the same name, and what to do.

    Raises:
        ImportError: one sentence, with the file that is found in its place.
    """
    for name in _OWN:
        found = find_spec(name)
        places = [] if found is None else [*(found.submodule_search_locations or ())]
        if _HOME / name in map(_resolved, places):
            continue
        other = "nothing" if found is None else found.origin or ", ".join(places)
        raise ImportError(
            f"Rubric Studio's package `{name}` is hidden: Python finds {other} first. Rename that, "
            "start Python in another folder, or take its folder off PYTHONPATH.",
            name=name,
        )


def _resolved(place: str) -> Path:
    return Path(place).resolve()


def forget_the_current_folder() -> None:
    """Take the folder that ``python -m`` puts first off the path, unless the program lies there."""
    if not sys.flags.safe_path and sys.path and _resolved(sys.path[0]) == Path.cwd() != _HOME:
        del sys.path[0]


#: What `import rubric_studio as rs` offers, and where it is; imported when it is first asked for.
_FACE = {
    **dict.fromkeys(
        ("grade", "agrade", "resume", "import_votes", "compare", "runs"), "rubric_studio.grading"
    ),
    **dict.fromkeys(("Run", "Comparison"), "rubric_studio.results"),
    **dict.fromkeys(("Judge", "Panel", "check"), "rubric_studio.judges"),
    **dict.fromkeys(("load_rubric", "load_dataset"), "rubric_studio.sources"),
    **dict.fromkeys(("InputError", "NotFound"), "core.errors"),
}
__all__ = [
    "Comparison",
    "InputError",
    "Judge",
    "NotFound",
    "Panel",
    "Run",
    "__version__",
    "agrade",
    "check",
    "compare",
    "grade",
    "import_votes",
    "load_dataset",
    "load_rubric",
    "resume",
    "runs",
]

if TYPE_CHECKING:
    from core.errors import InputError, NotFound
    from rubric_studio.grading import agrade, compare, grade, import_votes, resume, runs
    from rubric_studio.judges import Judge, Panel, check
    from rubric_studio.results import Comparison, Run
    from rubric_studio.sources import load_dataset, load_rubric

    __version__: str
else:

    def __getattr__(name: str) -> Any:
        """A name of the Python API; loads what it stands on."""
        if name == "__version__":
            try:
                return version("rubric-studio")
            except PackageNotFoundError:
                return "unknown"
        if name not in _FACE:
            raise AttributeError(f"module 'rubric_studio' has no attribute {name!r}")
        require_own_packages()
        return getattr(import_module(_FACE[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
