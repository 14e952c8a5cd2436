"""The gate for continuous integration: `check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import common
from core.cli.common import FiniteRange, db_option, json_option, open_to_read

if TYPE_CHECKING:
    from core.services.gate.bounds import GateRequest
    from core.services.gate.checking import GateReport

_file = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("source")
@click.option(
    "--min",
    "least",
    multiple=True,
    metavar="NAME=VALUE",
    help="A figure and what it must reach, e.g. accuracy=0.8. May be given several times.",
)
@click.option("--max", "most", multiple=True, metavar="NAME=VALUE", help="What it must not exceed.")
@click.option(
    "--min-n",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Fewer labelled observations are not enough to tell.",
)
@click.option(
    "--min-decided",
    type=FiniteRange(0, 1),
    default=0.5,
    show_default=True,
    metavar="SHARE",
    help="A smaller share of cells with a verdict is not enough to tell.",
)
@click.option("--lower", is_flag=True, help="Test the interval's end on the bad side.")
@click.option("--per-criterion", is_flag=True, help="Short names are figures of each criterion.")
@click.option(
    "--reference",
    metavar="RATER|human|gold",
    help="Compared with people, the labels or one rater (default: labels, else people).",
)
@click.option("--baseline", type=_file, help="A kept baseline: figures must not have fallen.")
@click.option(
    "--max-drop",
    type=FiniteRange(0),
    default=0.0,
    show_default=True,
    metavar="VALUE",
    help=(
        "How far a figure may fall against the baseline. A drop that is not significantly larger "
        "passes."
    ),
)
@click.option(
    "--watch",
    is_flag=True,
    help="Keep in the baseline how often it was looked at; a drop then fails as seldom over all "
    "looks as over one.",
)
@click.option("--write-baseline", "target", type=_file, help="Keep today's figures here.")
@click.option("--junit", type=_file, help="Write the checks as JUnit XML here.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@db_option
@json_option
def check(
    source: str,
    db: Path | None,
    as_json: bool,
    target: Path | None,
    junit: Path | None,
    **options: Any,
) -> None:
    """Check that the agreement of SOURCE is good enough, for CI.

    Checks that figures reach their thresholds and have not fallen below a saved baseline.

    SOURCE is a run's number, or a folder in the common layout; no judge is called. A NAME is a path
    into `metrics --json`, joined with dots (criteria.*.panel.vs_gold.accuracy), or short for the
    panel's figure against the reference: accuracy and mean_kappa over all criteria, with
    --per-criterion any of a criterion's; or right, before and decided of the trust statement. A
    figure that is undefined, or rests on too few observations, fails.

    Exit status: 0 all hold, 1 something does not, 2 the input is wrong.
    """
    from core.services.gate import checking

    with common.plain_errors(as_json):
        request = _gate_request(options, anything=target is not None)
        gated = checking.check_source(lambda: open_to_read(db), source, request, common.print_note)
        if junit is not None:
            _write(junit, checking.as_junit(gated))
        if target is not None:
            _write_baseline(target, gated)
        if request.watch and request.baseline is not None:
            _write(Path(request.named), checking.with_check_counted(request.baseline).encode())
        common.print_result(gated.data(), lambda _: checking.as_text(gated), as_json)
    sys.exit(common.DONE if gated.ok else common.NOT_ALL)


def _gate_request(options: dict[str, Any], anything: bool) -> GateRequest:
    from core.errors import InputError
    from core.formats.folder import read_bytes
    from core.formats.source.parsed import MAX_DATASET_BYTES
    from core.services.gate.bounds import GateRequest, parse_bound

    bounds = [parse_bound(bound, "min") for bound in options["least"]]
    bounds += [parse_bound(bound, "max") for bound in options["most"]]
    file: Path | None = options["baseline"]
    if not bounds and file is None and not anything:
        raise InputError("Nothing is asked. Use --min, --max, --baseline or --write-baseline.")
    if options["watch"] and file is None:
        raise InputError("--watch goes with --baseline FILE, which keeps how often it was asked.")
    text = None
    if file is not None:
        text = read_bytes(file, MAX_DATASET_BYTES).decode("utf-8", "replace")
    return GateRequest(
        bounds=tuple(bounds),
        reference=options["reference"],
        per_criterion=options["per_criterion"],
        baseline=text,
        named=str(file),
        max_drop=options["max_drop"],
        watch=options["watch"],
        seed=options["seed"],
        min_n=options["min_n"],
        min_decided=options["min_decided"],
        lower=options["lower"],
    )


def _write_baseline(target: Path, gated: GateReport) -> None:
    """Write the baseline; overwrites an existing file only if that is a baseline."""
    from core.errors import InputError
    from core.services.gate.checking import is_baseline

    try:
        old = target.read_text(encoding="utf-8", errors="replace") if target.exists() else None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", (), str(target)) from None
    if old is not None and not is_baseline(old):
        raise InputError("is there already, and is no baseline. Name another.", (), str(target))
    _write(target, gated.baseline().encode())


def _write(path: Path, data: bytes) -> None:
    common.write_files({path: data}, force=True)
