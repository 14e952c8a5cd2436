"""Per criterion the verdict and who said what; a vote in full, with what was sent."""

from __future__ import annotations

import json

import streamlit as st

from core.domain.rubric import Criterion
from core.domain.votes import Call
from core.services.results import item_view
from core.services.results.item_view import CriterionView, ItemView, VoteView, unvoted
from core.text import numbers as fmt
from pages.ui import state
from pages.ui.items import FAILURE_WORDS, standing_tags, verdict_chips, vote_card, which_answer
from pages.ui.resources import store
from pages.ui.text import esc, label, raw
from pages.ui.widgets import row, tag

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


def show_vote(criterion: Criterion, view: VoteView, *, active: bool) -> None:
    """The vote as a card; below it a switch for prompt and reply."""
    result = view.result
    if result is None:
        words = "being asked" if active else "not asked"
        st.html(f'<span class="rs-quiet">{esc(view.cell.judge)}: {words}</span>')
        return
    call = item_view.call_of(store(), result)
    marks = standing_tags(view)
    st.html(vote_card(criterion, result, call, which=which_answer(view), marks=marks))
    if view.vote is None and len(view.attempts) > 1:
        st.caption(f"Asked {len(view.attempts)} times.")
    if call is not None:
        key = state.key(SPOT_CALL, result.run_id, *view.cell)
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


SPOT_OPEN = "spot_open"


def show(view: ItemView, *, active: bool) -> None:
    """All criteria, in the rubric's order."""
    points = (
        {part.name: part.points for part in view.trace.criteria if part.counted}
        if (view.trace)
        else {}
    )
    for criterion in view.criteria:
        with st.container(border=True):
            _criterion(view, criterion, points.get(criterion.criterion.name), active)


def _criterion(
    view: ItemView, criterion: CriterionView, points: float | None, active: bool
) -> None:
    noun, verdict = criterion.criterion, criterion.verdict
    earned = (
        "" if points is None else f"{fmt.number(points or 0.0)} of {fmt.number(noun.weight)} points"
    )
    weight = earned or f"weight {fmt.weight(noun.weight)}"
    quiet = f'<span class="rs-quiet rs-num">{esc(weight)}</span>'
    row([f"<b>{esc(noun.name)}</b>", quiet, *_settled(criterion, active)])
    row(verdict_chips(noun, verdict))
    row([_mark(criterion, vote, active) for vote in criterion.votes])
    key = state.key(SPOT_OPEN, view.run.id, noun.name)
    with st.expander(_why(criterion), key=key, on_change="rerun") as opened:
        if opened.open:
            for vote in criterion.votes:
                show_vote(noun, vote, active=active)


def _why(criterion: CriterionView) -> str:
    asked = len(criterion.votes)
    return "Reason and evidence" if asked == 1 else f"{asked} votes: reasons and evidence"


def _settled(criterion: CriterionView, active: bool) -> list[str]:
    """How the verdict came about, as tags; empty while nothing is there to settle."""
    verdict = criterion.verdict
    if verdict is None:
        return [tag("waiting", "neutral") if active else tag("✕ No verdict", "bad")]
    parts = list[str]()
    if verdict.abstained:
        parts.append(tag("Abstained: every judge did", "warn"))
    elif verdict.votes == 1:
        parts.append(tag("1 vote", "neutral"))
    elif unvoted(verdict):
        parts.append(tag(f"chosen by none of {verdict.votes} votes", "warn"))
    else:
        agreed = round((verdict.agreement or 0.0) * verdict.votes)
        words = f"{agreed} of {verdict.votes} votes agree"
        parts.append(tag(words, "good" if agreed == verdict.votes else "warn"))
    if verdict.abstentions and not verdict.abstained:
        parts.append(tag(fmt.plural(verdict.abstentions, "abstention"), "neutral"))
    if verdict.tie:
        parts.append(tag("Tie: the worse option counts", "warn"))
    if verdict.warning:
        parts.append(tag(verdict.warning, "warn"))
    if criterion.apart:
        parts.append(tag("answers differ by order", "warn"))
    if criterion.truth_label is not None:
        parts.append(_truth(criterion))
    return parts


def _truth(criterion: CriterionView) -> str:
    verdict, said = criterion.verdict, criterion.truth_label or ""
    if verdict is None or verdict.abstained or criterion.truth is None:
        return tag(f"label: {said}", "info")
    right = verdict.option == criterion.truth
    return tag(f"{'✓' if right else '✕'} label: {said}", "good" if right else "bad")


def _mark(criterion: CriterionView, view: VoteView, active: bool) -> str:
    """One cell in a few words: who, and what came of asking."""
    cell = view.cell
    which = which_answer(view)
    who = cell.judge + (f", {which}" if which else "")
    if view.vote is not None:
        if view.vote.abstained:
            off = view.vote.detail.get("switched_off")
            return tag(f"{who}: {'switched off' if off else 'abstained'}", "neutral")
        verdict = criterion.verdict
        differs = verdict is not None and verdict.option != view.vote.option
        return tag(f"{who}: {view.label}", "warn" if differs else "neutral")
    if view.failure is not None:
        return tag(f"✕ {who}: {FAILURE_WORDS.get(view.failure.kind, view.failure.kind)}", "bad")
    return tag(f"{who}: {'asking …' if active else 'not asked'}", "neutral")
