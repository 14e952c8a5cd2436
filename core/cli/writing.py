"""Files that commands write: never over what is there, unless told."""

from __future__ import annotations

from pathlib import Path

import click

from core.cli import output
from core.errors import InputError

#: Whether CSV files begin with the mark by which Excel knows UTF-8.
no_bom = click.option(
    "--no-bom",
    "mark",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Leave out the mark by which Excel knows UTF-8 at the beginning of CSV files.",
)


def write_files(files: dict[Path, bytes], force: bool) -> None:
    """Write them all, or none where one is there already and ``force`` is not given."""
    there = [path for path in files if path.exists()]
    if there and not force:
        raise InputError("is there already. Name another, or use --force.", (), str(there[0]))
    for path, data in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except OSError as error:
            said = error.strerror or str(error)
            raise InputError(f"cannot be written: {said}.", (), str(path)) from None
        output.say(f"Written: {path}")
