"""``rubric-studio`` and ``python -m rubric_studio``: the command line, whatever folder it is in."""

from __future__ import annotations

import sys

from rubric_studio import forget_the_current_folder, require_own_packages


def main() -> None:
    """Run a command; a hidden package is one sentence and status 2."""
    try:
        require_own_packages()
    except ImportError as error:
        sys.stderr.write(f"rubric-studio: {error}\n")
        sys.exit(2)
    from core.cli import main as command

    command(prog_name="rubric-studio")


if __name__ == "__main__":
    forget_the_current_folder()
    main()
