"""Per criterion: the verdict, who said what, and every vote with its reason on demand."""

from __future__ import annotations

import streamlit as st

from core.services import numbers as fmt
from core.services.unvoted import unvoted
from core.services.viewing import CriterionView, ItemView, VoteView
from pages.grade._spot import votes
from pages.ui import state
from pages.ui.text import esc
from pages.ui.votes import FAILURE_WORDS, verdict_chips, which_answer
from pages.ui.widgets import row, tag

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
                votes.show(noun, vote, active=active)


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
