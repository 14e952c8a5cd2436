"""One vote or failure in full, and on demand what was sent and what came back."""

from __future__ import annotations

import json

import streamlit as st

from core.domain.rubric import Criterion
from core.domain.votes import Call
from core.services import viewing
from core.services.viewing import VoteView
from pages.ui import state
from pages.ui.resources import store
from pages.ui.text import esc, label, raw
from pages.ui.votes import FAILURE_WORDS, standing_tags, vote_card, which_answer

SPOT_CALL = "spot_call"

ADVICE = {
    "auth": "The key was refused: check the variable, or the account behind it.",
    "not_found": "Check the model's name and its address on the Judges page.",
    "rate_limit": "Wait a little and ask again, or lower the judge's concurrency.",
    "timeout": "Ask again, or give the judge more time on the Judges page.",
    "connection": "Is the address right and its server running? Then ask again.",
    "server": "The provider had trouble. Ask again.",
    "malformed": "Ask again. If the model often answers so, raise its limit of tokens.",
    "empty": "Ask again. If the model often answers so, raise its limit of tokens.",
    "out_of_range": "Ask again.",
    "refusal": "The model will not judge this. Ask another one.",
    "content_filter": "The provider will not have this judged. Ask another one.",
    "context_length": "Shorten the submission, or choose a model that takes longer ones.",
}


def show(criterion: Criterion, view: VoteView, *, active: bool) -> None:
    """The vote as a card; below it a switch for prompt and reply."""
    result = view.result
    if result is None:
        words = "being asked" if active else "not asked"
        st.html(f'<span class="rs-quiet">{esc(view.cell.judge)}: {words}</span>')
        return
    source = view.vote or view.failure
    call = None if source is None else viewing.call_noun(store(), source)
    marks = standing_tags(view)
    vote_card(criterion, result, call, which=which_answer(view), marks=marks)
    if view.vote is None and len(view.attempts) > 1:
        st.caption(f"Asked {len(view.attempts)} times.")
    if call is not None:
        key = state.key(SPOT_CALL, source.run_id if source else 0, *view.cell)
        if st.toggle("Prompt and reply", key=key):
            _call(call)


def failure_line(kind: str, times: int, judges: tuple[str, ...], message: str) -> str:
    """A kind of failure as our HTML: how often, whose, the newest message, what to do."""
    words = FAILURE_WORDS.get(kind, kind)
    head = f"<b>{times} × {esc(words)}</b> ({esc(', '.join(judges))})"
    advice = ADVICE.get(kind, "")
    tail = f' <span class="rs-quiet">{esc(advice)}</span>' if advice else ""
    return f"{head}: {esc(message)}{tail}"


def _call(call: Call) -> None:
    for segment in call.prompt:
        st.caption(label(segment.role))
        raw(segment.text, height=260 if len(segment.text) > 900 else None)
    if call.thinking:
        st.caption("thinking")
        raw(call.thinking, height=200)
    st.caption("reply, as it came")
    raw(call.reply or "(nothing)")
    ended = f" · ended with {call.finish}" if call.finish else ""
    st.caption(label(f"{call.model or 'model unknown'}{ended}"))
    if call.params:
        raw(json.dumps(call.params, indent=1, ensure_ascii=False, default=str), height=160)
