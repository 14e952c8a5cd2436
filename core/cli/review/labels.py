"""The command `labels`: declare how a dataset's labels were drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import common
from core.cli.common import db_option, json_option, open_db, open_to_read

if TYPE_CHECKING:
    from core.domain.library import DatasetVersion
    from core.store.store import Store


@click.command()
@click.argument("dataset")
@click.option(
    "--version", "version_number", type=click.IntRange(1), help="Which version (default: newest)."
)
@click.option(
    "--random", "simple_random", is_flag=True,
    help="Declare that they are a simple random sample of all items.",
)  # fmt: skip
@click.option(
    "--chances", "chances_key", default="", metavar="KEY",
    help="Declare that each item was drawn with the chance in this key of its meta.",
)  # fmt: skip
@click.option("--withdraw", is_flag=True, help="Take back what is declared.")
@db_option
@json_option
def labels(
    dataset: str, version_number: int | None, simple_random: bool, chances_key: str, withdraw: bool,
    db: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Declare whether labels of DATASET were drawn at random.

    DATASET is a name or number.

    Randomly drawn labels represent the items without labels: they correct means, systems and runs.
    Labels that a person picked must not be declared.
    """
    from core.errors import InputError
    from core.services.datasets import label_draws

    with common.plain_errors(as_json):
        if simple_random + bool(chances_key) + withdraw > 1:
            raise InputError("Choose one of --random, --chances and --withdraw.")
        declares = simple_random or chances_key
        store = open_db(db) if declares or withdraw else open_to_read(db)
        version = _labelled_version(store, dataset, version_number)
        if withdraw:
            label_draws.withdraw(store, version.id)
        elif declares:
            label_draws.declare(store, version.id, chances_key)
        common.print_result(_report_data(store, version), _report_text, as_json)


def _labelled_version(store: Store, dataset: str, number: int | None) -> DatasetVersion:
    from core.errors import InputError
    from core.services.datasets import catalog

    rows = catalog.list_datasets(store)
    matching = [row for row in rows if dataset in (row.name, str(row.id))]
    if len(matching) != 1:
        examples = ", ".join(f"{row.id}: {row.name}" for row in rows[:10]) or "none"
        problem = "several datasets" if matching else "no dataset"
        raise InputError(f"{dataset!r} names {problem}. There are {examples}.")
    versions = catalog.versions_of(store, matching[0].id)
    for version in versions:
        if number in (None, version.number):
            return version
    raise InputError(f"There is no version {number}; the newest is {versions[0].number}.")


def _report_data(store: Store, version: DatasetVersion) -> dict[str, Any]:
    from core.services.datasets import label_draws
    from core.services.results import fair_sample

    draw = label_draws.declared_draw(store, version.id)
    warning = fair_sample.declaration_contradiction(store, version.id)
    return {
        "dataset": version.name,
        "version": version.number,
        "items": version.items,
        "labelled": version.labelled,
        "declared": None if draw is None else label_draws.draw_data(draw),
        **({"warning": warning} if warning else {}),
    }


def _report_text(report: dict[str, Any]) -> str:
    declared = report["declared"]
    undeclared = "Nothing is declared of how they were drawn." if declared is None else ""
    warning = f" {report['warning']}" if "warning" in report else ""
    return (
        f"{report['dataset']}, version {report['version']}: {report['labelled']:,} of "
        f"{report['items']:,} items have labels. {undeclared or declared['in_words']}{warning}"
    )
