"""This tab's work on one rubric: its draft, stored after every change.

`name` is the rubric's id as text, or the name of a draft without a rubric. The session holds plain
data only: the draft, the YAML text if it differs from the draft, and the earlier drafts, for undo.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from typing import Any, Literal

from core.errors import Conflict, InputError, NotFound
from core.services.rubrics import draft_criteria, library
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import is_changed, with_rubric
from core.services.versions import score_changes
from pages.ui import state
from pages.ui.browser.browser_id import browser_id
from pages.ui.identity import known_name, login_configured
from pages.ui.resources import store
from pages.ui.widgets import shown_errors

RUBRIC_ACT = "rubric_act"
RUBRICS_PANEL = "rubrics_panel"


def open_rubric(name: str) -> None:
    """Open the editor of a rubric or a draft."""
    state.set_address(**{state.RUBRIC: name, state.VERSION: None})


def start_draft(new_draft: RubricDraft) -> str:
    """Store a new draft and open its editor; return the draft's name."""
    name = library.new_name()
    library.keep(store(), name, new_draft, **draft_owner())
    state.drop(RUBRICS_PANEL)
    open_rubric(name)
    return name


RUBRICS_ACT = "rubrics_act"
RUBRICS_FILE = "rubrics_file"
RUBRICS_TEXT = "rubrics_text"
RUBRICS_REFUSED = "rubrics_refused"
RUBRICS_POINTS = "rubrics_points"
RUBRIC_WORK = "rubric_work"
RUBRIC_TAB = "rubric_tab"
RUBRIC_FIELD = "rubric_field"
RUBRIC_OPEN = "rubric_open"
RUBRIC_VIEW = "rubric_view"
RUBRIC_SIDE = "rubric_side"
RUBRIC_YAML = "rubric_yaml"
RUBRIC_NOTE = "rubric_note"
RUBRIC_CONFLICT = "rubric_conflict"
RUBRIC_NOTICES = "rubric_notices"
RUBRIC_TRY = "rubric_try"
#: The number of the version last saved in this tab, for offering the next steps.
RUBRIC_SAVED = "rubric_saved"
#: The suggested name of a criterion, by its uid.
RUBRIC_SUGGESTED = "rubric_suggested"

#: The uid of the card with the rubric's own fields.
ABOUT = "about"
#: The uids of the cards of the two rules that exist at most once.
DECISION, PENALTY = "decision", "penalty"
#: The most changes that can be undone.
UNDOS = 50
Level = Literal["draft", "scoring", "criterion", "option"]


def load_work(name: str) -> None:
    """Load the work into the session: as last edited in this browser, or from the newest version.

    Raises:
        NotFound: no rubric or draft has that name.
    """
    if state.get(_key(name)) is not None:
        return
    stored = library.own_unsaved_work(store(), name, draft_owner()["browser"])
    if stored is not None:
        _take_over_work(name, stored)
        return
    rubric_id = state.as_id(name)
    if rubric_id is None:
        raise NotFound("This draft was saved or discarded. Open the rubric from the list.")
    state.put(_key(name), _data(library.draft_of(store(), rubric_id), None, None))


def continue_stored_work(name: str, stored: library.KeptDraft) -> None:
    """Callback: continue with unsaved work that another tab or browser stored."""
    forget_draft(name)
    _take_over_work(name, stored)


def _take_over_work(name: str, stored: library.KeptDraft) -> None:
    stored_draft = _data(stored.draft, stored.text, stored.updated)
    state.put(_key(name), {**stored_draft, "as": stored.name})


def _data(draft: RubricDraft, typed: str | None, last_seen: str | None) -> dict[str, Any]:
    """Return the session's data. `last_seen`: when the stored copy was last changed, if known."""
    return {"draft": draft, "text": typed, "past": [], "future": [], "seen": last_seen, "as": None}


def draft_owner() -> dict[str, str]:
    """Return who changes a draft; the drafts of members belong to them in every browser."""
    return {"browser": "" if login_configured() else browser_id(), "author": known_name()}


def work_of_other_tabs(name: str) -> list[library.KeptDraft]:
    """Return unsaved work on the same rubric that this tab did not store."""
    seen = state.get(_key(name))["seen"]
    return [stored for stored in library.kept_drafts_of(store(), name) if stored.updated != seen]


def revert_draft(name: str) -> None:
    """Go back to the last saved version; `undo_change` brings the changes back."""
    change_draft(name, library.draft_of(store(), int(draft(name)["rubric_id"] or 0)), redraw=True)


def draft(name: str) -> RubricDraft:
    """Return the current draft."""
    stored: RubricDraft = state.get(_key(name))["draft"]
    return stored


def typed_text(name: str) -> str | None:
    """Return the YAML as typed, if it differs from the draft's own YAML."""
    typed: str | None = state.get(_key(name))["text"]
    return typed


def is_unsaved(name: str) -> bool:
    """Return whether the draft has changes to save, or the typed YAML is not a rubric."""
    return bool(refused_text(name)) or is_changed(draft(name))


def refused_text(name: str) -> InputError | None:
    """Return why the typed YAML is not a rubric, or `None` if it is (or none was typed)."""
    typed = typed_text(name)
    if typed is None:
        return None
    try:
        library.read_rubric(typed, "rubric.yaml")
    except InputError as error:
        return error
    return None


def change_draft(name: str, changed: RubricDraft, *, redraw: bool = False) -> None:
    """Store a changed draft; `redraw` if fields on screen must show new values."""
    _put_draft(name, changed, None)
    state.drop(RUBRIC_YAML, name)
    if redraw:
        state.drop(RUBRIC_FIELD, name)


def change_text(name: str, typed: str) -> None:
    """Store the YAML as typed; the form follows once it is a valid rubric."""
    current = draft(name)
    # The view shows the text's problems; until they are fixed the form keeps the last valid draft.
    with contextlib.suppress(InputError):
        current = with_rubric(current, library.read_rubric(typed, "rubric.yaml").value)
    _put_draft(name, current, typed)
    state.drop(RUBRIC_FIELD, name)


def can_undo(name: str) -> bool:
    """Return whether this tab has a change to undo."""
    return bool(state.get(_key(name))["past"])


def can_redo(name: str) -> bool:
    """Return whether an undone change can be redone."""
    return bool(state.get(_key(name))["future"])


def undo_change(name: str) -> None:
    """Undo this tab's last change, of any kind."""
    _step_history(name, "past", "future")


def redo_change(name: str) -> None:
    """Redo the change that was undone last."""
    _step_history(name, "future", "past")


def _step_history(name: str, come: str, go: str) -> None:
    with shown_errors():
        work = state.get(_key(name))
        if not work[come]:
            return
        *remaining, (before, typed) = work[come]
        steps = [*work[go], (work["draft"], work["text"])]
        _put_draft(name, before, typed)
        state.put(_key(name), {**state.get(_key(name)), come: remaining, go: steps})
        for family in (RUBRIC_YAML, RUBRIC_FIELD):
            state.drop(family, name)


def drop_text(name: str) -> None:
    """Discard the typed YAML and continue with the draft."""
    change_draft(name, draft(name), redraw=True)


def leave_work(name: str) -> None:
    """Leave the work; a draft without changes to save is discarded."""
    if state.get(_key(name)) is not None and not is_unsaved(name):
        discard_stored_copy(name)
        forget_draft(name)


def forget_draft(name: str) -> None:
    """Discard this draft in this tab."""
    for family in (
        RUBRIC_WORK,
        RUBRIC_FIELD,
        RUBRIC_YAML,
        RUBRIC_OPEN,
        RUBRIC_NOTE,
        RUBRIC_CONFLICT,
        RUBRIC_TRY,
        RUBRIC_NOTICES,
    ):
        state.drop(family, name)


def save_draft(name: str) -> None:
    """Callback: save the draft as a version and continue with it; show a conflict if any."""
    with shown_errors():
        refused = refused_text(name)
        if refused is not None:
            raise refused
        if draft(name)["parent"] is not None and not is_unsaved(name):
            state.flash("Nothing has changed since the last version, so nothing was saved.")
            return
        note = str(state.get(state.key(RUBRIC_NOTE, name)) or "")
        try:
            saved = library.save(
                store(), _own_name(name), draft(name), note=note, author=known_name()
            )
        except Conflict:
            state.put(state.key(RUBRIC_CONFLICT, name), True)
            return
        opened = open_card(name)
        forget_draft(name)
        rubric_name = str(saved.rubric_id)
        open_rubric(rubric_name)
        # The saved rubric is loaded, since a stored draft of that name is another tab's.
        state.put(_key(rubric_name), _data(library.draft_of(store(), saved.rubric_id), None, None))
        set_open_card(rubric_name, opened)
        state.flash(f"Saved as version {saved.number}.")
        state.put(state.key(RUBRIC_SAVED, rubric_name), saved.number)
        if score_changes.runs_on_older_versions(store(), saved.rubric_id):
            # The side "Versions" has the card "Graded runs".
            state.put(state.key(RUBRIC_SIDE, rubric_name), "Versions")


def field_key(name: str, *ids: str) -> str:
    """Return the key of the widget that edits one field."""
    return state.key(RUBRIC_FIELD, name, *ids)


def synced_key(name: str, value: Any, *ids: str) -> str:
    """Return the key of a widget that always shows the draft's value, whatever changed it.

    It is for widgets whose choices or values depend on other fields; their callbacks write the
    draft before the page is drawn again.
    """
    key = field_key(name, *ids)
    state.put(key, value)
    return key


def bound_field(name: str, level: Level, ids: tuple[str, ...], field: str) -> dict[str, Any]:
    """Return the arguments that bind a widget to one field: key, value and callback."""
    holder: Any = draft(name)
    if level == "scoring":
        holder = holder["scoring"]
    for family, uid in zip(("criteria", "options"), ids, strict=False):
        holder = next(part for part in holder[family] if part["uid"] == uid)
    key = field_key(name, *ids, field)
    state.seed(key, holder[field])
    return {"key": key, "on_change": on_field, "args": (name, level, ids, field)}


def widget_arguments(
    name: str, value: Any, uid: str, field: str, on_change: Callable[[str, str, str], None]
) -> dict[str, Any]:
    """Return the arguments that show a value of a rule's card and call `on_change`."""
    key = synced_key(name, value, uid, field)
    return {"key": key, "on_change": on_change, "args": (name, uid, field)}


def open_card(name: str) -> str | None:
    """Return the uid of the one open card, or ``None``."""
    uid: str | None = state.get(state.key(RUBRIC_OPEN, name))
    return uid


def toggle_card(name: str, uid: str | None) -> None:
    """Open a card, or close it if it is open."""
    state.put(state.key(RUBRIC_OPEN, name), None if uid == open_card(name) else uid)


def set_open_card(name: str, uid: str | None) -> None:
    """Open that card (uid), or close all."""
    state.put(state.key(RUBRIC_OPEN, name), uid)


def on_field(name: str, level: Level, ids: tuple[str, ...], field: str) -> None:
    """Callback: store the new value of a widget made with `field(name, *ids, what)`."""
    with shown_errors():
        value: Any = state.get(field_key(name, *ids, field))
        set_value(name, level, ids, field, value)


def set_value(name: str, level: Level, ids: tuple[str, ...], field: str, value: Any) -> None:
    """Set one field of the draft, its scoring, a criterion (`ids`: its uid) or an option."""
    current = draft(name)
    match level:
        case "draft":
            current = draft_criteria.set_field(current, field, value)
        case "scoring":
            current = draft_criteria.set_scoring(current, field, value)
        case "criterion" if field == "requirement":
            current = _with_requirement(name, current, ids[0], value)
        case "criterion":
            current = draft_criteria.set_criterion(current, ids[0], field, value)
        case "option":
            current = draft_criteria.set_option(current, ids[0], ids[1], field, value)
    change_draft(name, current)


def _with_requirement(name: str, current: RubricDraft, uid: str, requirement: str) -> RubricDraft:
    """Return the draft with a new requirement, and with its new name if one was suggested here."""
    key = state.key(RUBRIC_SUGGESTED, name, uid)
    changed = draft_criteria.set_requirement(current, uid, requirement, str(state.get(key) or ""))
    names = [
        {c["uid"]: c["name"] for c in version["criteria"]}.get(uid, "")
        for version in (current, changed)
    ]
    if names[0] != names[1]:
        state.put(key, names[1])
        state.put(field_key(name, uid, "name"), names[1])
    return changed


def _put_draft(name: str, changed: RubricDraft, typed: str | None) -> None:
    before = state.get(_key(name))
    past, future = before["past"], before["future"]
    if (before["draft"], before["text"]) != (changed, typed):
        past, future = [*past, (before["draft"], before["text"])][-UNDOS:], []
    steps = {"past": past, "future": future}
    state.put(_key(name), {**before, "draft": changed, "text": typed, **steps})
    if is_unsaved(name):
        _store_work(name)
    else:
        discard_stored_copy(name)


def _store_work(name: str) -> None:
    """Store this tab's work, separately from another tab's newer copy and never over it."""
    work = state.get(_key(name))
    kept_as = work["as"] or name
    at = {"last_seen": work["seen"], "tab": _tab_id(), **draft_owner()}
    kept_draft = library.keep_beside(store(), kept_as, work["draft"], work["text"], **at)
    state.put(_key(name), {**work, "as": kept_draft.name, "seen": kept_draft.updated})


def discard_stored_copy(name: str) -> None:
    """Discard the stored copy of this tab's work; other tabs' copies stay."""
    library.discard(store(), _own_name(name))


def _own_name(name: str) -> str:
    """Return the name of this tab's stored work, or a name under which nothing is stored."""
    work = state.get(_key(name))
    stored = library.unsaved_work(store(), kept_as(name))
    if stored is None or stored.updated == work["seen"]:
        return kept_as(name)
    return f"{name.partition(library.BESIDE)[0]}{library.BESIDE}{_tab_id()}"


def kept_as(name: str) -> str:
    """Return the name of this tab's stored work."""
    stored_name: str = state.get(_key(name))["as"] or name
    return stored_name


def _tab_id() -> str:
    if not state.get(RUBRIC_TAB):
        state.put(RUBRIC_TAB, secrets.token_hex(4))
    return str(state.get(RUBRIC_TAB))


def _key(name: str) -> str:
    return state.key(RUBRIC_WORK, name)
