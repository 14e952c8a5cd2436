"""From a file to what would be imported, for the command line and the page alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.domain.base import build, near
from core.domain.dataset import Dataset
from core.domain.rubric import Rubric
from core.errors import InputError, Problem
from core.files import (
    SourceKind,
    Table,
    VoteBundle,
    VoteMapping,
    VoteSource,
    guess_vote_mapping,
    kind_of,
    open_bytes,
    open_path,
    parse_dataset,
    read_bundle,
    read_dataset_file,
    read_rubric_file,
    table_of,
)
from core.files.rubric_forms import read_rubrics
from core.services import clock
from core.services.datasets import keep_rubric
from core.services.importing import BroughtIn, Preview, bring_in, preview
from core.store.store import Store

#: Fields of a mapping that ``--map`` may name.
FIELDS = tuple(name for name in VoteMapping.model_fields if name not in ("layout", "columns"))


@dataclass(frozen=True)
class Look:
    """A source that was opened: its shape, and for a table which column is probably what."""

    source: VoteSource
    kind: SourceKind
    table: Table | None = None
    mapping: VoteMapping | None = None


def look(
    source: VoteSource, *, kind: SourceKind | None = None, rubric: Rubric | None = None
) -> Look:
    """What a source seems to be; ``kind`` says it instead. Raises ``InputError``."""
    kind = kind or kind_of(source)
    if kind not in ("long", "wide"):
        return Look(source, kind)
    table = table_of(source)
    mapping = guess_vote_mapping(table, "long" if kind == "long" else "wide", rubric)
    return Look(source, kind, table, mapping)


def guessed(seen: Look, rubric: Rubric | None) -> VoteMapping | None:
    """The mapping of a table, guessed anew with a rubric at hand."""
    if seen.table is None or seen.mapping is None:
        return None
    return guess_vote_mapping(seen.table, seen.mapping.layout, rubric)


def look_at_bytes(data: bytes, name: str, *, rubric: Rubric | None = None) -> Look:
    """The same for a file at hand."""
    return look(open_bytes(data, name), rubric=rubric)


@dataclass(frozen=True)
class CheckedVotes:
    """What a source comes to: votes to import, or every reason why there are none."""

    bundle: VoteBundle | None
    preview: Preview | None = None
    problems: tuple[Problem, ...] = ()


def check(
    store: Store,
    seen: Look,
    mapping: VoteMapping | None,
    *,
    rubric_version: int | None = None,
    dataset_version: int | None = None,
) -> CheckedVotes:
    """The votes under this mapping, on a rubric and a dataset that are kept here, if named."""
    rubric = None if rubric_version is None else store.rubrics.version(rubric_version).rubric
    dataset = None if dataset_version is None else store.datasets.load(dataset_version)
    try:
        bundle = read_bundle(
            seen.source, seen.kind, rubric=rubric, dataset=dataset, mapping=mapping
        )
        return CheckedVotes(bundle, preview(store, bundle))
    except InputError as error:
        return CheckedVotes(None, None, error.problems or (Problem(error.message),))


def import_path(
    store: Store,
    path: Path,
    *,
    rubric: Path | None = None,
    dataset: Path | None = None,
    kind: SourceKind | None = None,
    changes: Sequence[str] = (),
    dry: bool = False,
    data: bytes | None = None,
) -> dict[str, Any]:
    """What ``import --json`` says: what was kept, or with ``dry`` what would be.

    ``changes`` are words like ``item=doc_id`` that change a guessed mapping. A rubric or a dataset
    alone is kept as such; of a table that holds several rubrics, each. ``data`` is what stands in
    the file, where it was not read from ``path`` (standard input).
    """
    read_rubric = read_rubric_file(rubric).value if rubric else None
    read_dataset = read_dataset_file(dataset, read_rubric).value if dataset else None
    source = open_path(path) if data is None else open_bytes(data, path.name)
    seen = look(source, kind=kind, rubric=read_rubric)
    if seen.kind in ("rubric", "dataset"):
        return _noun(store, seen, read_rubric, dry)
    mapping = changed(seen.mapping, changes)
    bundle = read_bundle(
        seen.source, seen.kind, rubric=read_rubric, dataset=read_dataset, mapping=mapping
    )
    expected = preview(store, bundle)
    done = None if dry else bring_in(store, bundle, source=path.name)
    return _report(bundle, expected, done) | {"db": str(store.path)}


def changed(mapping: VoteMapping | None, changes: Sequence[str]) -> VoteMapping | None:
    """A mapping with changes like ``item=doc_id`` or ``kind:gpt=llm``; ``item=`` takes it away.

    Raises:
        InputError: a change that is not understood.
    """
    if not changes:
        return mapping
    if mapping is None:
        raise InputError("--map is for tables; this source names its columns itself.")
    data, kinds = mapping.model_dump(), dict(mapping.kinds)
    for change in changes:
        field, equals, value = change.partition("=")
        if field.startswith("kind:") and equals:
            kinds[field.removeprefix("kind:")] = value  # type: ignore[assignment]
        elif field in FIELDS and equals:
            data[field] = value if value or field == "only" else None
        else:
            mend = near(field, set(FIELDS)) or f"FIELD is one of {', '.join(FIELDS)}."
            raise InputError(f"--map {change!r} is not understood. Write FIELD=COLUMN. {mend}")
    return build(VoteMapping, data | {"kinds": kinds}, "mapping", "--map")


def _noun(store: Store, seen: Look, rubric: Rubric | None, dry: bool) -> dict[str, Any]:
    """A rubric or a dataset alone."""
    (name, data), *_ = seen.source.files.items()
    found: dict[str, Any] = {"kind": seen.kind, "run": None, "dry_run": dry}
    notices: tuple[Problem, ...]
    if seen.kind == "rubric":
        first, *more = rubrics = read_rubrics(data, name)
        notices = tuple(notice for read in rubrics for notice in read.notices)
        if more:
            notices += (Problem(f"The file holds {len(rubrics)} rubrics; each is kept."),)
        found |= {"name": first.value.name, "criteria": len(first.value.criteria)}
        if not dry:
            kept = [keep_rubric(store, read.value, name).id for read in rubrics]
            found |= {"rubric_version": kept[0], "rubric_versions": kept}
    else:
        items: Dataset = (parsed := parse_dataset(data, name, rubric)).value
        notices = parsed.notices
        found |= {"name": items.name, "items": len(items.items)}
        if not dry:
            version = store.datasets.create(items, now=clock.now(), source=name)
            found["dataset_version"] = version.id
    return found | {"notices": _said(notices), "db": str(store.path)}


def _report(bundle: VoteBundle, expected: Preview, done: BroughtIn | None) -> dict[str, Any]:
    return {
        "kind": bundle.format,
        "run": expected.run if done is None else done.run,
        "existed": expected.run is not None if done is None else done.existed,
        "dry_run": done is None,
        "name": bundle.name,
        "rubric_version": None if done is None else done.rubric_version,
        "dataset_version": None if done is None else done.dataset_version,
        "items": expected.items,
        "criteria": expected.criteria,
        "votes": expected.votes,
        "abstentions": expected.abstentions,
        "failures": expected.failures,
        "raters": [
            {
                "name": r.name,
                "kind": r.kind,
                "votes": r.votes,
                "failures": r.failures,
                "weight": r.weight,
                "counts": r.counts,
            }
            for r in expected.raters
        ],
        "mapping": bundle.mapping,
        "notices": _said(bundle.notices),
    }


def _said(notices: Sequence[Problem]) -> list[dict[str, Any]]:
    return [
        {"message": p.message, "mend": p.mend, "place": p.place, "line": p.line} for p in notices
    ]


def as_text(report: Mapping[str, Any]) -> str:
    """What an import did, in a few lines."""
    if report["kind"] in ("rubric", "dataset"):
        version = report.get(f"{report['kind']}_version")
        kept = "would be kept" if report["dry_run"] else f"is kept (version id {version})"
        return f"The {report['kind']} {report['name']!r} {kept}."
    found = (
        f"{report['votes']:,} votes ({report['abstentions']:,} abstentions) and "
        f"{report['failures']:,} empty answers of {len(report['raters']):,} raters on "
        f"{report['items']:,} items, {report['criteria']} criteria"
    )
    run = report["run"]
    if report["dry_run"]:
        there = f" Run {run} holds them already." if report["existed"] else ""
        return f"Would import {found}.{there}"
    if run is None:
        return f"Rubric and dataset of {report['name']!r} are kept; there are no votes, so no run."
    if report["existed"]:
        return f"Run {run} holds these votes already ({found}); nothing was added."
    return f"Run {run}: {found}.\n`rubric-studio metrics {run}` measures them."
