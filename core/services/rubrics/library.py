"""The rubric library: lists, versions, unsaved drafts, saving, and files.

Text is read and written through ``core.formats``; a saved version never changes.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from core import clock
from core.domain.base import nouns_in
from core.domain.library import RubricRow, RubricVersion, RubricVersionInfo
from core.domain.rubric import Rubric
from core.errors import Conflict, InputError, NotFound
from core.formats.rubrics.rubric_file import dump_rubric, parse_rubric
from core.formats.source.parsed import Parsed
from core.formats.source.yaml_reader import comment_lines
from core.services.access.allowing import allowed
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import complete_draft, draft_from, draft_payload, rubric_from
from core.settings import SAMPLES
from core.store.store import Store
from core.text.names import fold


def _unchecked(noun: type[BaseModel] | None, data: Any) -> Any:
    """Return plain data as that noun, unchecked: only for writing a file."""
    if isinstance(data, list):
        return tuple(_unchecked(noun, part) for part in data)
    if noun is None or not isinstance(data, dict):
        return data
    nested = {f.alias or name: nouns_in(f.annotation) for name, f in noun.model_fields.items()}
    parts = {k: _unchecked(next(iter(nested.get(k, ())), None), v) for k, v in data.items()}
    return noun.model_construct(None, **parts)


Format = Literal["yaml", "json"]
_DRAFTS = "rubric/"
#: Separates a rubric's id from the tab, if several tabs have unsaved work on it.
BESIDE = "~"
#: The key prefix, before a draft's name, of data that follows the draft when it is saved.
WORKBENCH = "workbench/"


@dataclass(frozen=True, slots=True)
class KeptDraft:
    """A draft stored beyond its tab. ``text`` is YAML that is not a valid rubric yet.

    ``browser`` and ``author`` say who changed it last; empty if unknown.
    """

    name: str
    draft: RubricDraft
    text: str | None
    updated: str
    browser: str = ""
    author: str = ""


def rubric_rows(store: Store, *, search: str = "", archived: bool = False) -> list[RubricRow]:
    """Return the rubrics with every word of ``search`` in the name, last changed first."""
    terms = fold(search).split()
    rows = store.rubrics.list(archived=archived)
    return [row for row in rows if all(word in fold(row.name) for word in terms)]


def latest_version(store: Store, rubric_id: int) -> RubricVersion:
    """Return the newest version of a rubric; ``NotFound`` if there is none."""
    return store.rubrics.latest(rubric_id)


def latest_number(store: Store, rubric_id: int) -> int:
    """Return the number of a rubric's newest version."""
    return store.rubrics.latest_number(rubric_id)


def version_by_id(store: Store, version_id: int) -> RubricVersion:
    """Return one version of a rubric, for reading."""
    return store.rubrics.version(version_id)


def version_by_number(store: Store, rubric_id: int, number: int) -> RubricVersion:
    """Return the version of a rubric with that number, or raise ``NotFound``."""
    matches = [info for info in store.rubrics.versions(rubric_id) if info.number == number]
    if not matches:
        raise NotFound(f"There is no version {number} of this rubric.")
    return store.rubrics.version(matches[0].id)


def version_history(store: Store, rubric_id: int) -> list[RubricVersionInfo]:
    """Return the versions of a rubric, newest first."""
    return store.rubrics.versions(rubric_id)


@allowed("write")
def archive(store: Store, rubric_id: int) -> None:
    """Archive a rubric; its versions and runs stay."""
    store.rubrics.archive(rubric_id, now=clock.now())


@allowed("write")
def restore(store: Store, rubric_id: int) -> None:
    """Restore an archived rubric."""
    store.rubrics.restore(rubric_id)


@allowed("write")
def duplicate(store: Store, rubric_id: int) -> RubricVersion:
    """Create a new rubric with the content of the newest version, named as a copy."""
    rubric = store.rubrics.latest(rubric_id).rubric
    taken_names = {fold(row.name) for row in store.rubrics.list()}
    stem, number = f"{rubric.name[:180]} copy", 2
    name = stem
    while fold(name) in taken_names:
        name, number = f"{stem} {number}", number + 1
    twin = Rubric.model_validate({**rubric.model_dump(by_alias=True), "name": name})
    return store.rubrics.create(twin, now=clock.now(), note=f"Copied from {rubric.name!r}")


def new_name() -> str:
    """Return a name for storing a draft of a new rubric, e.g. ``new-1a2b3c4d``."""
    return f"new-{secrets.token_hex(4)}"


@allowed("draft")
def keep(
    store: Store,
    name: str,
    draft: RubricDraft,
    text: str | None = None,
    *,
    browser: str = "",
    author: str = "",
) -> None:
    """Store unsaved work. ``name`` is the rubric's id as text, or one from ``new_name``."""
    content = {"draft": draft, "text": text, "browser": browser, "author": author}
    store.drafts.save(_DRAFTS + name, content, now=clock.now())


@allowed("draft")
def keep_beside(
    store: Store,
    name: str,
    draft: RubricDraft,
    text: str | None,
    *,
    last_seen: str | None,
    tab: str,
    **who: str,
) -> KeptDraft:
    """Store unsaved work under ``name``, or under a name of this tab if another tab has work there.

    ``last_seen`` is when the draft under ``name`` was last changed, as far as this tab knows. If
    another tab changed it since, that draft stays, and this one gets its own name.
    """
    with store.write():
        stored = unsaved_work(store, name)
        if stored is not None and stored.updated != last_seen:
            name = f"{name.partition(BESIDE)[0]}{BESIDE}{tab}"
        keep(store, name, draft, text, **who)
        saved = unsaved_work(store, name)
    assert saved is not None, "it was kept just now"
    return saved


def kept_drafts_of(store: Store, name: str) -> list[KeptDraft]:
    """Return all unsaved work on the same rubric, last changed first.

    On a shared server it is the current user's own; without a login it is everyone's.
    """
    stem = name.partition(BESIDE)[0]
    return [draft for draft in all_kept_drafts(store) if draft.name.partition(BESIDE)[0] == stem]


def own_unsaved_work(store: Store, name: str, browser: str) -> KeptDraft | None:
    """Return the unsaved work under a draft's name, or on a rubric the newest by this browser."""
    if not name.isdecimal():
        return unsaved_work(store, name)
    return next((d for d in kept_drafts_of(store, name) if d.browser in ("", browser)), None)


def other_editors(store: Store, name: str) -> list[tuple[str, str]]:
    """Return the members who edit the same rubric, and when each last did, without their text."""
    return store.drafts.other_drafts(_DRAFTS + name.partition(BESIDE)[0])


def unsaved_work(store: Store, name: str) -> KeptDraft | None:
    """Return the unsaved work under that name, or ``None``."""
    row = store.drafts.get(_DRAFTS + name)
    return None if row is None else _stored_draft(name, row.content, row.updated)


def all_kept_drafts(store: Store) -> list[KeptDraft]:
    """Return all unsaved work on rubrics, last changed first."""
    rows = store.drafts.list(_DRAFTS)
    drafts = [
        _stored_draft(row.key.removeprefix(_DRAFTS), row.content, row.updated) for row in rows
    ]
    return sorted(drafts, key=lambda draft: draft.updated, reverse=True)


@allowed("draft")
def discard(store: Store, name: str) -> None:
    """Delete unsaved work."""
    store.drafts.delete(_DRAFTS + name)


def _stored_draft(name: str, content: Any, updated: str) -> KeptDraft:
    editor = [str(content.get(part, "")) for part in ("browser", "author")]
    return KeptDraft(name, complete_draft(content["draft"]), content["text"], updated, *editor)


def draft_of(store: Store, rubric_id: int) -> RubricDraft:
    """Return a new draft of a rubric's newest version."""
    newest = store.rubrics.latest(rubric_id)
    return draft_from(newest.rubric, rubric_id=rubric_id, parent=newest.number)


@allowed("write")
def save(
    store: Store, name: str, draft: RubricDraft, *, note: str = "", author: str = ""
) -> RubricVersion:
    """Save the draft as a new rubric, or as the next version; delete its stored copy.

    A new rubric takes over the draft's workbench.

    Raises:
        InputError: the draft is invalid; lists every problem.
        Conflict: another person saved a version since the draft was opened. Nothing is overwritten.
    """
    rubric = rubric_from(draft)
    if draft["rubric_id"] is None:
        saved = store.rubrics.create(rubric, now=clock.now(), author=author, note=note.strip())
    else:
        saved = store.rubrics.add_version(
            draft["rubric_id"],
            rubric,
            parent=draft["parent"] or 0,
            now=clock.now(),
            author=author,
            note=note.strip(),
        )
    discard(store, name)
    if not name.isdecimal():
        _move_workbench(store, name, str(saved.rubric_id))
    return saved


def _move_workbench(store: Store, old: str, new: str) -> None:
    with store.write():
        workbench = store.drafts.get(WORKBENCH + old)
        if workbench is None or old == new:
            return
        store.drafts.save(WORKBENCH + new, workbench.content, now=clock.now())
        store.drafts.delete(WORKBENCH + old)


def rebase_on_version(store: Store, draft: RubricDraft, number: int) -> RubricDraft:
    """Return the draft, ready to be saved after that version, with which it was compared.

    Raises:
        Conflict: a newer version was saved since and has not been compared yet.
    """
    if draft["rubric_id"] is None:
        return draft
    latest = store.rubrics.latest(draft["rubric_id"]).number
    if latest != number:
        raise Conflict(
            f"Version {latest} was saved while you were looking at version {number}. Nothing was "
            "overwritten: look at what it changed, and choose again."
        )
    return {**draft, "parent": number}


def detached_draft(draft: RubricDraft) -> RubricDraft:
    """Return the draft, ready to be saved as a separate rubric."""
    return {**draft, "rubric_id": None, "parent": None, "base": None}


def read_rubric(text: str | bytes, name: str) -> Parsed[Rubric]:
    """Return the rubric in a YAML or JSON text, with notices; raise ``InputError`` with lines."""
    if not text.strip():
        raise InputError("There is nothing to read.", where=name)
    return parse_rubric(text, name)


def lost_comments(text: str) -> str:
    """Return a warning about comments in a YAML text, which a rubric cannot keep; empty without
    any.

    >>> lost_comments("name: x  # mine")[:25]
    'Line 1 holds a comment. C'
    """
    lines = comment_lines(text)
    if not lines:
        return ""
    line_list, unlisted = ", ".join(map(str, lines[:6])), len(lines) - 6
    place = f"Lines {line_list}{f' and {unlisted} more' if unlisted > 0 else ''} hold comments."
    if len(lines) == 1:
        place = f"Line {line_list} holds a comment."
    return (
        f"{place} Comments are not part of the rubric: a saved version does not keep them, and the "
        "form leaves them out. What must stay goes under description, guidelines or meta."
    )


def rubric_file_text(rubric: Rubric, format: Format) -> str:
    """Return the rubric as a file of that format."""
    return dump_rubric(rubric, format)


def draft_file_text(draft: RubricDraft, format: Format = "yaml") -> str:
    """Return the draft as a file's text, even if it is invalid."""
    try:
        return dump_rubric(rubric_from(draft), format)
    except InputError:
        return dump_rubric(_unchecked(Rubric, draft_payload(draft)), format)


def file_name(rubric_name: str, format: Format) -> str:
    """Return a safe file name for a rubric.

    >>> file_name("Essays: draft/2", "yaml")
    'essays-draft-2.yaml'
    """
    plain = "".join(c if c.isalnum() else " " for c in rubric_name.casefold())
    return ("-".join(plain.split())[:80] or "rubric") + f".{format}"


def all_samples() -> dict[str, Rubric]:
    """Return the rubrics that come with the program, by file, in the order of their names; empty if
    not installed.
    """
    files = sorted(SAMPLES.glob("*.yaml"))
    rubrics = {f.name: parse_rubric(f.read_bytes(), f.name).value for f in files}
    return dict(sorted(rubrics.items(), key=lambda sample: fold(sample[1].name)))
