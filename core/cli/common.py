"""Shared parts of commands: the data file, results on stdout, the rest on stderr, safe writing."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from errno import EPIPE
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from core.domain.access import Actor
from core.errors import InputError, RubricStudioError
from core.settings import Settings, load_settings
from core.text.names import visible

if TYPE_CHECKING:
    from core.store.store import Store


def db_option(command: Any) -> Any:
    """Add the options for the data file: its path, or a workspace in the configuration."""
    db = click.option(
        "--db",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The data file (default: the app's own; see `where`).",
    )
    workspace = click.option(
        "--workspace",
        metavar="NAME",
        expose_value=False,
        callback=_in_workspace,
        help="The workspace of a server that has several (docs/access.md).",
    )
    return db(workspace(command))


_WORKSPACE = "core.cli.workspace"


def _in_workspace(context: click.Context, _: click.Parameter, name: str | None) -> None:
    context.meta[_WORKSPACE] = name or ""


json_option: Callable[[Any], Any] = click.option(
    "--json", "as_json", is_flag=True, help="Result as JSON on stdout."
)


address_option: Callable[[Any], Any] = click.option(
    "--api-base",
    multiple=True,
    metavar="URL",
    callback=lambda _context, _option, given: " ".join(given),
    help="Address of an OpenAI-compatible server. Several, given one by one, share the calls: they "
    "serve the same model.",
)
sheet_option: Callable[[Any], Any] = click.option(
    "--sheet",
    metavar="NAME",
    help="The sheet of a workbook (.xlsx, .ods) that is meant, where several have rows.",
)


class FiniteRange(click.FloatRange):
    """A range without infinity and NaN, which click accepts in every range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; refuse anything else like a number outside the range."""
        number: float = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value} is no finite number.", param, ctx)
        return number


def resample_options(default: int) -> Callable[[Any], Any]:
    """Add the options for the number of resamples behind intervals, and their seed."""
    bootstrap = click.option(
        "--bootstrap",
        type=click.IntRange(0, 1_000_000),
        default=default,
        show_default=True,
        metavar="N",
        help="Resamples of the items that intervals are made of; 0 for none.",
    )
    seed = click.option(
        "--seed",
        type=click.IntRange(0),
        default=0,
        show_default=True,
        help="Decides the resamples.",
    )
    return lambda command: bootstrap(seed(command))


level_option: Callable[[Any], Any] = click.option(
    "--level",
    type=FiniteRange(0.5, 0.999),
    default=0.95,
    show_default=True,
    help="How often an interval shall hold the true value; what figures decide stays at 95%.",
)
interval_option: Callable[[Any], Any] = click.option(
    "--interval",
    "method",
    type=click.Choice(["auto", "percentile", "bca", "basic"]),
    default="auto",
    show_default=True,
    help="How intervals are made; auto: whichever holds best (docs/semantics.md).",
)


def settings_for(db: Path | None, *, every: bool = False) -> Settings:
    """Return the settings with the data file of ``--db`` or ``--workspace``, or ``every`` one."""
    settings = load_settings()
    context = click.get_current_context(silent=True)
    name = "" if context is None else context.meta.get(_WORKSPACE, "")
    if db is None:
        return settings if every and not name else settings.only(name)
    if name:
        raise InputError("Name a data file with --db or a workspace with --workspace, not both.")
    return replace(settings, db=db.expanduser().absolute())


def open_db(db: Path | None) -> Store:
    """Return the store, created if needed, closed when the command ends."""
    return open_as(settings_for(db))


def open_as(settings: Settings) -> Store:
    """Return the store of these settings, closed when the command ends."""
    from core.services import open_store

    store = open_store(settings)
    if store.read_only:
        print_note(f"{store.path} can only be read here: nobody may write it elsewhere meanwhile.")
    if settings.access is not None:
        from getpass import getuser

        # The audit record of a team server includes the admin's actions in a terminal.
        store = store.acting(Actor(getuser(), "admin", "local"))
    context = click.get_current_context(silent=True)
    if context is not None:
        context.call_on_close(store.close)
    return store


@contextmanager
def open_to_plan(db: Path | None, only_estimate: bool) -> Iterator[Store]:
    """Yield the store for a planning command; ``only_estimate`` discards all changes."""
    if not only_estimate:
        yield open_db(db)
        return
    store = open_to_read(db)
    with store.rehearsal():
        yield store


def open_to_read(db: Path | None) -> Store:
    """Return the store for a command that only reads.

    Without a data file, return an empty temporary store, because reading must create neither a file
    nor a folder.
    """
    settings = settings_for(db)
    if not settings.db.exists():
        folder = click.get_current_context().with_resource(TemporaryDirectory())
        settings = replace(settings, db=Path(folder) / settings.db.name)
    return open_as(settings)


# Results go to stdout, everything else to stderr; errors that a user can fix end with status 2.

DONE, NOT_ALL, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130


def print_json(value: Any) -> None:
    """Print a JSON document on stdout."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    print_file(text.translate(_FURTHER_CONTROLS))


#: Control characters of terminals that JSON may contain unescaped, with their escapes.
_FURTHER_CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}


def print_text(text: str) -> None:
    """Print text on stdout, with control characters made visible."""
    _write_stdout(f"{visible(text)}\n")


def print_file(content: str | bytes) -> None:
    """Print a file on stdout unchanged, in UTF-8; on a terminal print it like ``tell``."""
    raw = content if isinstance(content, bytes) else content.encode(errors="backslashreplace")
    terminal = sys.stdout is not None and sys.stdout.isatty()
    _write_stdout(visible(raw.decode("utf-8-sig", "replace")) if terminal else raw)


def _write_stdout(content: str | bytes) -> None:
    try:
        _write_text(content)
    except OSError as error:
        if error.errno == EPIPE:
            raise  # The reader closed the pipe; click then ends the command quietly.
        raise InputError(f"cannot be written: {error.strerror}.", (), "standard output") from None


def _write_stderr(text: str) -> None:
    # A closed or full stderr must not stop the work.
    with suppress(OSError):
        _write_text(text, err=True)


def _write_text(content: str | bytes, *, err: bool = False) -> None:
    """Write text in the stream's encoding; characters it lacks become escapes."""
    try:
        click.echo(content, nl=False, err=err)
    except UnicodeEncodeError as lacking:
        text = lacking.object.encode(lacking.encoding, "backslashreplace")
        click.echo(text, nl=False, err=err)


def read_stdin() -> bytes:
    """Read all of standard input."""
    if sys.stdin is None:
        raise InputError("is closed. Pipe a file into it, or name one.", (), "standard input")
    return sys.stdin.buffer.read()


def print_result(
    data: dict[str, Any], as_text: Callable[[dict[str, Any]], str], as_json: bool
) -> None:
    """Print a result on stdout, as JSON or in words."""
    if as_json:
        print_json(data)
    else:
        print_text(as_text(data))


def print_error(text: str) -> None:
    """Print an error on stderr, even with ``--quiet``."""
    _write_stderr(f"{visible(text)}\n")


def print_message(text: str) -> None:
    """Print a message on stderr."""
    if not _is_quiet():
        print_error(text)


def _is_quiet() -> bool:
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().meta.get(_QUIET))


def _set_quiet(context: click.Context, _: click.Parameter, quiet: bool) -> None:
    if quiet:
        context.find_root().meta[_QUIET] = True


_QUIET = "core.cli.quiet"
quiet_option = click.Option(
    ["--quiet"],
    is_flag=True,
    expose_value=False,
    callback=_set_quiet,
    help="Nothing but errors on stderr: no progress, no notes.",
)


def print_note(text: str) -> None:
    """Print a remark about the input on stderr."""
    print_message(f"note: {text}")


@contextmanager
def plain_errors(as_json: bool = False) -> Iterator[None]:
    """Print user errors as a message with status 2; exit with status 130 on Ctrl-C and the like."""
    try:
        with _signals_end_like_ctrl_c():
            yield
    except RubricStudioError as error:
        if as_json:
            detail = error.to_dict() if isinstance(error, InputError) else {"error": str(error)}
            with suppress(InputError):
                print_json(detail)
        print_error(f"rubric-studio: {error}")
        sys.exit(WRONG_INPUT)
    except KeyboardInterrupt:
        print_message("\nInterrupted. What was finished is kept.")
        sys.exit(INTERRUPTED)


@contextmanager
def _signals_end_like_ctrl_c() -> Iterator[None]:
    """Treat SIGTERM and SIGHUP as Ctrl-C within the block, unless they are ignored (`nohup`)."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handled = [
        number
        for number in (getattr(signal, name) for name in names)
        if threading.current_thread() is threading.main_thread()
        and signal.getsignal(number) is signal.SIG_DFL
    ]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for number in handled:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def table(rows: list[list[str]], heads: list[str]) -> str:
    """Return a table with columns padded by spaces; the caller formats numbers."""
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in [heads, *rows]
    ]
    return "\n".join(lines)


class ProgressBar:
    """A line on stderr: redrawn on a terminal, printed rarely on other outputs."""

    def __init__(self) -> None:
        self._terminal = sys.stderr is not None and sys.stderr.isatty()
        self._quiet = _is_quiet()
        self._last, self._looks = "", 0

    def show(self, text: str) -> None:
        """Replace the shown text with ``text``."""
        if self._quiet:
            return
        self._looks, text = self._looks + 1, visible(text)
        if self._terminal:
            _write_stderr("\r" + text.ljust(len(self._last)))
        elif self._looks % 20 == 1:
            _write_stderr(f"{text}\n")
        self._last = text

    def end(self) -> None:
        """End the line."""
        if self._terminal and self._last:
            _write_stderr("\n")


# Files written by commands never overwrite others, unless forced.

#: Option: omit the byte order mark by which Excel recognises UTF-8 in CSV files.
no_bom = click.option(
    "--no-bom",
    "mark",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Leave out the mark by which Excel knows UTF-8 at the beginning of CSV files.",
)


def write_files(files: dict[Path, bytes], force: bool) -> None:
    """Write all files, or none if a file exists and ``force`` is not set."""
    from core.formats.folder import write_bytes

    existing = [path for path in files if path.exists()]
    if existing and not force:
        raise InputError("is there already. Name another, or use --force.", (), str(existing[0]))
    for path, data in files.items():
        write_bytes(path, data)
        print_message(f"Written: {path}")


cluster_option = click.option(
    "--cluster",
    default="",
    metavar="tcp://HOST:PORT|local:N",
    help="Ask models on a Dask cluster, or by this many processes of this machine.",
)


def require_cluster(where: str) -> None:
    """Refuse an invalid cluster before anything is created."""
    if where:
        from core.services.runs.cluster import joining

        joining.require_cluster(where)
