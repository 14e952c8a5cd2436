"""Each criterion's verdict and judges' answers; an answer in full, with its prompt."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from core.domain.rubric import Criterion
from core.domain.votes import CallRow
from core.scoring.trace import Trace
from core.services.results import item_view
from core.services.results.item_view import CriterionView, ItemView, VoteView, has_unvoted_option
from core.text import numbers as fmt
from pages.ui import state
from pages.ui.items import (
    FAILURE_WORDS,
    answer_label,
    call_facts,
    standing_tags,
    verdict_chips,
    vote_card,
)
from pages.ui.resources import store
from pages.ui.text import draw_raw, esc, label
from pages.ui.widgets import LabelledFigure, draw_row, outcome_tags, partly_tags, show_figures, tag

VOTE_CALL = "vote_call"
VOTE_OPEN = "vote_open"


def show_vote(
    criterion: Criterion, view: VoteView, text: str, *, active: bool = False, marks: str = ""
) -> None:
    """Draw the answer as a card, and below it a switch for prompt and reply.

    Quotes are looked up in the submission `text`; `marks` are further tags of the card.
    """
    result, source = view.result, view.vote or view.failure
    if result is None or source is None:
        caption = "being asked" if active else "not asked"
        st.html(f'<span class="rs-quiet">{esc(view.cell.judge)}: {caption}</span>{marks}')
        return
    call = item_view.call_of(store(), source)
    marks = standing_tags(view) + marks
    st.html(vote_card(criterion, result, call, which=answer_label(view), text=text, marks=marks))
    if view.vote is None and len(view.attempts) > 1:
        st.caption(f"Asked {len(view.attempts)} times.")
    if call is not None:
        key = state.key(VOTE_CALL, source.run_id, *view.cell)
        if st.toggle("Prompt and reply", key=key):
            show_call(call)


def show_call(call: CallRow) -> None:
    """Draw a call's request, its reply, its settings, and its cost."""
    facts = [
        f"{call.model or 'model unknown'}",
        f"{fmt.tokens(call.tokens_in)} in",
        f"{fmt.tokens(call.tokens_out)} out",
        *call_facts(call),
    ]
    if call.tokens_cached:
        facts.append(f"{fmt.tokens(call.tokens_cached)} from the provider's cache")
    if call.finish:
        facts.append(f"ended with {call.finish}")
    draw_row([f'<span class="rs-quiet rs-num">{esc(" · ".join(facts))}</span>'])
    for segment in call.prompt:
        _raw_text(f"Sent ({label(segment.role)})", segment.text)
    if call.thinking:
        _raw_text("Thinking", call.thinking)
    _raw_text("Unprocessed reply", call.reply or "(nothing)")
    _raw_text(
        "Settings of the call", json.dumps(call.params, indent=1, ensure_ascii=False, default=str)
    )


def _raw_text(caption: str, text: str) -> None:
    st.caption(caption)
    draw_raw(text, height=260 if len(text) > 900 else None)


def show_score(
    trace: Trace, score: float | str | None, sentences: Sequence[str], *more: LabelledFigure
) -> None:
    """Draw a score with its figures, its marks and its calculation.

    Without `sentences` the score is not final yet, and missing parts are not listed.
    """
    shown = fmt.score if trace.normalized else fmt.number
    caption = "Score" if sentences else "Score so far"
    values = [LabelledFigure(caption, score if isinstance(score, str) else shown(score))]
    if trace.low is not None and trace.high is not None and trace.low < trace.high:
        values.append(LabelledFigure("Between", f"{shown(trace.low)} and {shown(trace.high)}"))
    values += more
    show_figures(values, columns=len(values))
    marks = [*outcome_tags(trace), *(partly_tags(trace) if sentences else [])]
    if marks:
        draw_row(marks)
    if sentences:
        items = "".join(f"<li>{esc(line)}</li>" for line in sentences)
        st.html(f'<ul class="rs-list">{items}</ul>')


def show_votes(view: ItemView, *, active: bool) -> None:
    """Draw all criteria, in the rubric's order."""
    parts = view.trace.criteria if view.trace else ()
    points = {part.name: part.points for part in parts if part.counted}
    for criterion in view.criteria:
        with st.container(border=True):
            _show_criterion(view, criterion, points.get(criterion.criterion.name), active)


def _show_criterion(
    view: ItemView, criterion: CriterionView, points: float | None, active: bool
) -> None:
    noun, verdict = criterion.criterion, criterion.verdict
    earned = (
        "" if points is None else f"{fmt.number(points or 0.0)} of {fmt.number(noun.weight)} points"
    )
    weight = earned or f"weight {fmt.weight(noun.weight)}"
    quiet = f'<span class="rs-quiet rs-num">{esc(weight)}</span>'
    draw_row([f"<b>{esc(noun.name)}</b>", quiet, *_settled_tags(criterion, active)])
    draw_row(verdict_chips(noun, verdict))
    draw_row([_vote_mark(criterion, vote, active) for vote in criterion.votes])
    key = state.key(VOTE_OPEN, view.run.id, view.item.id, noun.name)
    with st.expander(_reason_words(criterion), key=key, on_change="rerun") as opened:
        if opened.open:
            for vote in criterion.votes:
                show_vote(noun, vote, view.item.text, active=active)


def _reason_words(criterion: CriterionView) -> str:
    count = len(criterion.votes)
    return "Reason and evidence" if count == 1 else f"{count} votes: reasons and evidence"


def _settled_tags(criterion: CriterionView, active: bool) -> list[str]:
    """Return how the verdict was decided, as tags; without one, a tag that says so."""
    verdict = criterion.verdict
    if verdict is None:
        return [tag("waiting", "neutral") if active else tag("✕ No verdict", "bad")]
    parts = list[str]()
    if verdict.abstained:
        parts.append(tag("Abstained: all judges abstained", "warn"))
    elif verdict.votes == 1:
        parts.append(tag("1 vote", "neutral"))
    elif has_unvoted_option(verdict):
        parts.append(tag(f"chosen by none of {verdict.votes} votes", "warn"))
    else:
        agreed = round((verdict.agreement or 0.0) * verdict.votes)
        caption = f"{agreed} of {verdict.votes} votes agree"
        parts.append(tag(caption, "good" if agreed == verdict.votes else "warn"))
    if verdict.abstentions and not verdict.abstained:
        parts.append(tag(fmt.plural(verdict.abstentions, "abstention"), "neutral"))
    if verdict.tie:
        parts.append(tag("Tie: the worse option counts", "warn"))
    if verdict.warning:
        parts.append(tag(verdict.warning, "warn"))
    if criterion.flipped_pairs:
        parts.append(tag("answers depend on the order", "warn"))
    if criterion.truth_label is not None:
        parts.append(_label_words(criterion))
    return parts


def _label_words(criterion: CriterionView) -> str:
    verdict, label_words = criterion.verdict, f"label: {criterion.truth_label}"
    if verdict is None or verdict.abstained or criterion.truth is None:
        return tag(label_words, "info")
    right = verdict.option == criterion.truth
    return tag(f"{'✓' if right else '✕'} {label_words}", "good" if right else "bad")


def _vote_mark(criterion: CriterionView, view: VoteView, active: bool) -> str:
    """Return one cell in short: the judge, and the result."""
    cell = view.cell
    answer_name = answer_label(view)
    judge_words = cell.judge + (f", {answer_name}" if answer_name else "")
    if view.vote is not None:
        if view.vote.abstained:
            switched_off = view.vote.detail.get("switched_off")
            return tag(
                f"{judge_words}: {'switched off' if switched_off else 'abstained'}", "neutral"
            )
        verdict = criterion.verdict
        differs = verdict is not None and verdict.option != view.vote.option
        return tag(f"{judge_words}: {view.label}", "warn" if differs else "neutral")
    if view.failure is not None:
        return tag(
            f"✕ {judge_words}: {FAILURE_WORDS.get(view.failure.kind, view.failure.kind)}", "bad"
        )
    return tag(f"{judge_words}: {'asking …' if active else 'not asked'}", "neutral")
