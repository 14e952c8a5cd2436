"""The form in this tab: plain data in the session, stored after every change."""

from __future__ import annotations

from functools import partial
from typing import Any

from core.domain.base import build_model
from core.errors import InputError, NotFound, Problem
from core.services.spot import request, spot_check
from core.services.spot.request import SpotRequest, SpotTurn
from pages.ui import state
from pages.ui.resources import store
from pages.ui.trial.texts import Fields, named_contexts, take_value
from pages.ui.widgets import shown_errors

SPOT_FORMER = "spot_former"
SPOT_ACT = "spot_act"
SPOT_REFUSED = "spot_refused"


#: Fields whose widget may hold text that no callback has seen yet.
TYPED = ("text", "thinking", "output", "prompt", "reference")


def load_form() -> None:
    """Load the form into the session: as last edited, or empty."""
    if state.get(state.SPOT_FORM) is None:
        _put_form(request.opened_form(store()))


def current_form() -> SpotRequest:
    """Return the form."""
    return SpotRequest.model_validate(state.get(state.SPOT_FORM))


def _put_form(changed: SpotRequest) -> None:
    state.put(state.SPOT_FORM, changed.model_dump(mode="json"))


def text_of_field(name: str) -> str:
    """Return the value of a text field."""
    return str(getattr(current_form(), name))


def field_key(*ids: str) -> str:
    """Return the key of a field's widget."""
    return state.key(state.SPOT_FIELD, *ids)


def change_form(changed: SpotRequest, *, redraw: bool = False) -> None:
    """Store a changed form; `redraw` if widgets on screen must show new values."""
    _put_form(changed)
    request.keep(store(), changed)
    if redraw:
        state.drop(state.SPOT_FIELD)


def set_fields(**values: Any) -> None:
    """Set fields by name."""
    change_form(build_model(SpotRequest, {**dict(current_form()), **values}, "form"))


def _set_field(name: str, value: Any) -> None:
    if name in TYPED and text_of_field(name).strip() and not value:
        # Cleared, or lost by a change of page: either way it can be restored.
        state.put(SPOT_FORMER, state.get(state.SPOT_FORM))
    set_fields(**{name: value})


FIELDS = Fields(field_key, lambda name: getattr(current_form(), name), _set_field)
#: Callback: the widget of the named field has a new value.
on_field = partial(take_value, FIELDS)


def on_turn(uid: str, part: str) -> None:
    """Callback: a message's role or content has a new value."""
    with shown_errors():
        set_fields(turns=tuple(_changed_turn(t, uid, part) for t in current_form().turns))


def _changed_turn(turn: SpotTurn, uid: str, part: str) -> SpotTurn:
    if turn.uid != uid:
        return turn
    return turn.model_copy(update={part: state.get(field_key("turn", uid, part)) or ""})


def sync_fields() -> None:
    """Store the text fields' values, whether a callback has seen them or not."""
    changed: dict[str, Any] = {}
    for name in TYPED:
        typed = state.get(field_key(name))
        if isinstance(typed, str) and typed:
            changed[name] = typed
    context = {
        n: state.get(field_key("context", n)) or text for n, text in named_contexts(FIELDS).items()
    }
    turns = current_form().turns
    for part in ("role", "content"):
        turns = tuple(
            _changed_turn(t, t.uid, part) if state.get(field_key("turn", t.uid, part)) else t
            for t in turns
        )
    set_fields(**changed, context=context, turns=turns)


def take_over_check(run_id: int) -> None:
    """Fill the form with an earlier check's inputs; the former values can be restored."""
    sync_fields()
    state.put(SPOT_FORMER, state.get(state.SPOT_FORM))
    change_form(spot_check.request_of(store(), run_id, current_form()), redraw=True)


def restore_form() -> None:
    """Restore the form's values from before `take_over_check`."""
    former = state.get(SPOT_FORMER)
    state.drop(SPOT_FORMER)
    if former is not None:
        change_form(SpotRequest.model_validate(former), redraw=True)


def keep_refusal(error: InputError | NotFound) -> None:
    """Keep the reason of an error, to be shown next to the button."""
    problems = error.problems if isinstance(error, InputError) else ()
    message = error.message if isinstance(error, InputError) else str(error)
    plain = [{"message": p.message, "mend": p.mend, "place": p.place} for p in problems]
    state.put(SPOT_REFUSED, {"message": message, "problems": plain})


def last_refusal() -> InputError | None:
    """Return why the form was last rejected, or `None`."""
    refused = state.get(SPOT_REFUSED)
    if refused is None:
        return None
    problems = tuple(
        Problem(p["message"], p["mend"], (p["place"],) if p["place"] else ())
        for p in refused["problems"]
    )
    return InputError(refused["message"], problems)
