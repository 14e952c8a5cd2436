"""The report of an import: as data for `--json`, and in a few lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import Problem
from core.formats.datasets.roles import IGNORED, roles_as_text
from core.formats.source.parsed import ColumnRole
from core.formats.votes.imported import VoteBundle
from core.formats.votes.reading import SourceKind
from core.services.imports.vote_import import ImportedRun, ImportPreview
from core.text.numbers import plural


def roles_data(roles: Sequence[ColumnRole]) -> dict[str, Any]:
    """Return the table of roles, and the parts of the columns that are left out."""
    left_out = [{"column": r.column, "cells": r.filled} for r in roles if r.role == IGNORED]
    return {"roles": [role.data() for role in roles], "dropped": left_out}


def stored_data(kind: SourceKind, name: str, dry: bool) -> dict[str, Any]:
    """Return the report on a rubric or a dataset without votes."""
    report: dict[str, Any] = {"kind": kind, "run": None, "dry_run": dry, "name": name}
    return report | {"items": 0, "criteria": 0, "votes": 0, "raters": [], **roles_data(())}


_OF_RATERS = ("name", "kind", "votes", "failures", "weight", "counts")


def votes_data(
    bundle: VoteBundle, expected: ImportPreview, imported: ImportedRun | None
) -> dict[str, Any]:
    """Return the report on votes that were imported, or would be."""
    return {
        "kind": bundle.format,
        "run": expected.run if imported is None else imported.run,
        "existed": expected.run is not None if imported is None else imported.existed,
        "dry_run": imported is None,
        "name": bundle.name,
        "rubric_version": None if imported is None else imported.rubric_version,
        "dataset_version": None if imported is None else imported.dataset_version,
        "items": expected.items,
        "criteria": expected.criteria,
        "votes": expected.votes,
        "abstentions": expected.abstentions,
        "failures": expected.failures,
        "raters": [{name: getattr(r, name) for name in _OF_RATERS} for r in expected.raters],
        "mapping": bundle.mapping,
        **roles_data(bundle.roles),
        "notices": notices_data(bundle.notices),
    }


def notices_data(notices: Sequence[Problem]) -> list[dict[str, Any]]:
    """Return notices as data."""
    return [
        {"message": p.message, "mend": p.mend, "place": p.place, "line": p.line} for p in notices
    ]


def as_text(report: Mapping[str, Any]) -> str:
    """Return in a few lines what the import did.

    For an import that was only tried, this is what it would do, below the table of roles.
    """
    if report["dry_run"] and report["roles"]:
        roles = roles_as_text([ColumnRole(**role) for role in report["roles"]])
        return f"{roles}\n{_done_in_words(report)}"
    return _done_in_words(report)


def _contents_line(report: Mapping[str, Any]) -> str:
    """Return how many items a dataset has, and its labels by criterion with their numbers."""
    if report["kind"] != "dataset":
        return ""
    labels = [
        f"{role['role'].partition(':')[2]!r} {role['filled']:,}"
        for role in report["roles"]
        if role["role"].startswith("label:")
    ]
    labels_note = f", with labels: {', '.join(labels)}" if labels else ""
    return f" It has {plural(report['items'], 'item')}{labels_note}."


def _done_in_words(report: Mapping[str, Any]) -> str:
    if report["kind"] in ("rubric", "dataset"):
        version = report.get(f"{report['kind']}_version")
        state = "would be kept" if report["dry_run"] else f"is kept (version id {version})"
        return f"The {report['kind']} {report['name']!r} {state}.{_contents_line(report)}"
    contents = (
        f"{report['votes']:,} votes ({report['abstentions']:,} abstentions) and "
        f"{report['failures']:,} empty answers of {len(report['raters']):,} raters on "
        f"{report['items']:,} items, {report['criteria']} criteria"
    )
    run = report["run"]
    if report["dry_run"]:
        existing = f" Run {run} holds them already." if report["existed"] else ""
        return f"Would import {contents}.{existing}"
    if run is None:
        return f"Rubric and dataset of {report['name']!r} are kept; there are no votes, so no run."
    if report["existed"]:
        return f"Run {run} holds these votes already ({contents}); nothing was added."
    return f"Run {run}: {contents}.\n`rubric-studio metrics {run}` measures them."
