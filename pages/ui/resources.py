"""The only `st.cache_*` of the pages: one store per process, and slow results."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import streamlit as st

from core.domain.access import LOCAL, VISITOR, Actor, Verb, Workspace, allow
from core.domain.library import ItemFilter
from core.domain.rubric import Rubric
from core.errors import InputError, NotAllowed
from core.formats.datasets.mapping import ColumnMapping
from core.formats.tables.table import Table
from core.services.access import blindness, members
from core.services.datasets import catalog
from core.services.datasets.catalog import Checked
from core.services.guided import dropped, texts
from core.services.guided.dropped import Place, Recognised
from core.services.guided.texts import File
from core.services.imports import import_files
from core.services.rubrics import library
from core.services.runs import server
from core.settings import Settings, load_settings
from core.text import numbers as fmt
from pages.ui import state
from pages.ui.state import claims
from pages.ui.text import esc, one_line

if TYPE_CHECKING:
    from core.store.store import Store


ValueT = TypeVar("ValueT")
FileT = TypeVar("FileT", bytes, str)


def store() -> Store:
    """Return the store of this tab's data file, acting for the current user.

    It is opened once per process. Pages pass it to services and never use it directly.
    """
    return _open_store(str(current_settings().db)).acting(actor())


def actor() -> Actor:
    """Return the current user, checked each time: a member's role may have changed or ended."""
    settings = current_settings()
    if settings.access is not None:
        return members.actor(_open_store(str(settings.db)), settings.access, claims())
    is_local = server.from_this_machine(st.context.headers, st.context.ip_address)
    return LOCAL if is_local else VISITOR


def disabled_without(*verbs: Verb, user: Actor | None = None) -> dict[str, Any]:
    """Return the arguments of a widget that needs one of these rights: disabled if all are missing.

    The services reject people without the right; this shows it before they invest any effort.
    ``user`` is the current user, if just checked.
    """
    user = user or actor()
    try:
        allow(user, next((verb for verb in verbs if user.may(verb)), verbs[0]))
    except NotAllowed as refused:
        return {"disabled": True, "help": str(refused)}
    return {}


# Workspaces: separate teams on one server, each with a data file of its own.
#
# A tab is in one workspace, named in every address. Its session, caches and links belong to that
# workspace's file; a tab that changes the workspace forgets all of it.


def current_settings() -> Settings:
    """Return this tab's settings: those of its workspace, if there are several.

    Raises:
        NotFound: the tab is in no workspace.
    """
    settings = load_settings()
    return settings.scoped(str(state.get(state.INSIDE))) if settings.workspaces else settings


def workspaces() -> tuple[Workspace, ...]:
    """Return the workspaces that the current user may enter."""
    settings = load_settings()
    return tuple(w for w in settings.workspaces if _actor_in(settings.scoped(w.name)).role)


def _actor_in(settings: Settings) -> Actor:
    assert settings.access is not None
    return members.actor(_open_store(str(settings.db)), settings.access, claims(), join=False)


def enter_workspace() -> Actor:
    """Enter the workspace in the address and return the current user; called once per script run.

    People who are not its members do not learn whether it exists.
    """
    settings = load_settings()
    if not settings.workspaces:
        return actor()
    requested, before = state.address(state.WORKSPACE), state.get(state.INSIDE)
    names = [space.name for space in workspaces()]
    name = requested or before or next(iter(names), "")
    if name not in names:
        state.drop_everything()
        user = _actor_in(settings.each()[0])
        refused = "You have no access to a workspace with that name." if names else user.refused
        return Actor(user.name, refused=refused)
    if name != before:
        if before:
            state.drop_everything()
        state.put(state.INSIDE, name)
    if name != requested:
        state.set_address(**{state.WORKSPACE: name})
    return actor()


def sign_out() -> None:
    """End every sign-in of the current user, in all workspaces."""
    settings = load_settings()
    for within in settings.each():
        if settings.access is not None and (not within.workspace or _actor_in(within).role):
            assert within.access is not None
            opened = _open_store(str(within.db))
            members.sign_out(opened.acting(members.actor(opened, within.access, claims())))


def require_seen(*run_ids: int) -> None:
    """Raise an error if this person is to review one of these runs blind; call it first."""
    for run_id in run_ids:
        blindness.require_open(store(), run_id)


def make_later(make: Callable[[Store], FileT]) -> Callable[[], FileT]:
    """Return a function that makes a file on request, with the user's rights at that time.

    Streamlit calls it outside of any page, where the current user is unknown.
    """
    settings, claimed, owner, user = current_settings(), claims(), state.file_owner(), actor()
    opened = _open_store(str(settings.db))

    def make_file() -> FileT:
        state.OWNER.set(owner)
        now = user if settings.access is None else members.actor(opened, settings.access, claimed)
        return make(opened.acting(now))

    return make_file


@st.cache_resource(show_spinner=False, max_entries=64)
def _open_store(db: str) -> Store:
    from core.services import open_store

    return open_store(replace(load_settings(), db=Path(db)))


def remembered(name: str, key: tuple[object, ...], make: Callable[[], ValueT]) -> ValueT:
    """Return `make()`, or a copy of its earlier result for the same `name` and `key`.

    `key` holds plain values that change whenever the result would, e.g. a run's id with its
    counts of votes and failures. An exception is not cached.
    """
    return cast("ValueT", _remembered(str(current_settings().db), name, key, make))


@st.cache_data(show_spinner=False, max_entries=256)
def _remembered(db: str, name: str, key: tuple[object, ...], _make: Callable[[], object]) -> object:
    return _make()


def shared_value(name: str, key: tuple[object, ...], make: Callable[[], ValueT]) -> ValueT:
    """Return what `remembered` would, but the shared object itself, which no caller may change.

    It is for values whose copy would take longer than the page (0.9 s for 90,000 votes).
    """
    return cast("ValueT", _shared(str(current_settings().db), name, key, make))


@st.cache_resource(show_spinner=False, max_entries=16)
def _shared(db: str, name: str, key: tuple[object, ...], _make: Callable[[], object]) -> object:
    return _make()


# Cached work of the Datasets page: a file read, a mapping checked, counts of a version.
#
# Versions never change, so their counts stay valid. An imported file belongs to one session, which
# keeps only the latest.


class Upload(Protocol):
    """The result of `st.file_uploader`."""

    name: str
    file_id: str

    def getvalue(self) -> bytes:
        """Return the file's content."""
        ...


class DatasetFile:
    """A file or a pasted text, with a key that changes with its content."""

    def __init__(self, content: Upload | str, name: str) -> None:
        self.content, self.name = content, name
        if isinstance(content, str):
            self.key = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:16]
        else:
            self.key = content.file_id

    def data(self) -> bytes | str:
        """Return the content."""
        return self.content if isinstance(self.content, str) else self.content.getvalue()


def table_in(source: DatasetFile, sheet: str | None = None) -> Table | InputError:
    """Return the file's rows (of a workbook: one sheet's), or why it is unreadable."""
    return _table_in(source.key, source.name, sheet, source)


@st.cache_resource(max_entries=2, scope="session", show_spinner="Reading the file …")
def _table_in(key: str, name: str, sheet: str | None, _source: DatasetFile) -> Table | InputError:
    try:
        return catalog.read_source(_source.data(), name, sheet)
    except InputError as error:
        # Cached like a result, so that a bad file is not read again on every rerun.
        return error


def tool_items(source: DatasetFile) -> tuple[str, Checked] | None:
    """Return the tool's name and the items of a file with another tool's results, else ``None``."""
    return _tool_items(source.key, source)


@st.cache_resource(max_entries=1, scope="session", show_spinner="Reading the file …")
def _tool_items(key: str, _source: DatasetFile) -> tuple[str, Checked] | None:
    return import_files.tool_items(_source.data(), _source.name)


def recognised_files(files: tuple[File, ...]) -> tuple[Recognised, ...]:
    """Return what the dropped files are."""
    return _recognised_files(_file_keys(files), files)


@st.cache_resource(max_entries=2, scope="session", show_spinner="Looking at the file …")
def _recognised_files(keys: str, _files: tuple[File, ...]) -> tuple[Recognised, ...]:
    return dropped.recognise(_files)


def table_of_texts(files: tuple[File, ...], *how: str | None) -> Table | InputError:
    """Return the texts in files as a table, or the error; ``how`` is sheet and way."""
    return _as_table(_file_keys(files), how, files)


@st.cache_resource(max_entries=2, scope="session", show_spinner="Reading the texts …")
def _as_table(keys: str, how: tuple[Any, ...], _files: tuple[File, ...]) -> Table | InputError:
    try:
        return texts.read(_files, *how)
    except InputError as error:
        # Cached like a result, so that a bad file is not read again on every rerun.
        return error


def _file_keys(files: tuple[File, ...]) -> str:
    digest = hashlib.sha256()
    for file in files:
        for part in (file.name.encode("utf-8", "replace"), file.data):
            digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def rubric(version_id: int | None) -> Rubric | None:
    """Return the rubric that checks labels; ``None`` without a version."""
    return None if version_id is None else library.version_by_id(store(), version_id).rubric


def check_rows(source: str, rows: Table, mapping: ColumnMapping, version_id: int | None) -> Checked:
    """Check the rows under that mapping and rubric version; ``source`` is their key."""
    return _check_rows(source, mapping.model_dump_json(), version_id, rows)


@st.cache_resource(max_entries=1, scope="session", show_spinner="Checking every row …")
def _check_rows(key: str, mapping: str, version_id: int | None, _rows: Table) -> Checked:
    return catalog.check(_rows, ColumnMapping.model_validate_json(mapping), rubric(version_id))


def forget_file() -> None:
    """Discard the imported file."""
    _table_in.clear()
    _tool_items.clear()
    _check_rows.clear()


def item_count(version_id: int, where: ItemFilter) -> int:
    """Return how many items of a version pass the filter."""
    parts = (where.search, where.labelled, where.system, where.split)
    return _item_count(str(store().path), version_id, parts, where)


@st.cache_data(max_entries=500, show_spinner=False)
def _item_count(db: str, version_id: int, parts: tuple[object, ...], _where: ItemFilter) -> int:
    return catalog.count_items(store(), version_id, _where)


def systems_of(version_id: int) -> list[str]:
    """Return the systems of a version's items."""
    return _systems_of(str(store().path), version_id)


@st.cache_data(max_entries=100, show_spinner=False)
def _systems_of(db: str, version_id: int) -> list[str]:
    return catalog.systems_of_version(store(), version_id)


def label_counts(version_id: int) -> dict[str, dict[str, int]]:
    """Return how often each label was given in a version, by criterion."""
    return _label_counts(str(store().path), version_id)


@st.cache_data(max_entries=100, show_spinner=False)
def _label_counts(db: str, version_id: int) -> dict[str, dict[str, int]]:
    return catalog.label_counts(store(), version_id)


# Files on their way from one screen to another: dropped once, used on the other screen.
#
# They are held until another file replaces them or their result is saved, even across a reload:
# then they come from the user's drafts.

HELD = "held"
HELD_ACT = "held_act"
#: The most files in one upload; further ones are left out.
MOST = 2000


class HeldFile:
    """A file that was dropped elsewhere, in the form that `st.file_uploader` returns."""

    def __init__(self, file: File) -> None:
        self.name = file.name
        self._data = file.data
        self.file_id = f"held-{hashlib.sha256(file.data).hexdigest()[:20]}"

    def getvalue(self) -> bytes:
        """Return its content."""
        return self._data


def dropped_files(uploads: Sequence[Any]) -> tuple[File, ...]:
    """Return the uploads of `st.file_uploader` as files."""
    return tuple(File(str(upload.name), upload.getvalue()) for upload in uploads[:MOST])


def hold_files(place: Place, files: Sequence[File]) -> None:
    """Hold files for the screen that uses them; without files, clear those held."""
    state.put(state.key(HELD, place), [(file.name, file.data) for file in files])
    if actor().may("draft"):
        dropped.keep_files(store(), place, files)


def held_files(place: Place) -> tuple[File, ...]:
    """Return the files held for that screen."""
    key = state.key(HELD, place)
    if state.get(key) is None:
        state.put(key, [(file.name, file.data) for file in dropped.kept_files(store(), place)])
    return tuple(File(*file) for file in state.get(key))


def held_upload(place: Place) -> HeldFile | None:
    """Return the first file held for that screen, or `None`; draw a button to choose another."""
    files = held_files(place)
    if not files:
        return None
    draw_held_files(place, files)
    return HeldFile(files[0])


def draw_held_files(
    place: Place, files: Sequence[File], other_caption: str = "Another file"
) -> None:
    """Draw the held files' names, and a way to choose others."""
    name = files[0].name if len(files) == 1 else fmt.plural(len(files), "file")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.html(f"<b>{esc(one_line(name, 90))}</b>", width="content")
        st.button(
            other_caption,
            key=state.key(HELD_ACT, place),
            type="tertiary",
            icon=":material/swap_horiz:",
            on_click=hold_files,
            args=(place, ()),
        )
