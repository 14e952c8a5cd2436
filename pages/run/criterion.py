"""One criterion of an item: the verdict, its label, every vote, and who settled it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from core.domain.votes import Verdict
from core.services.results import grid, item_view
from core.services.results.item_view import CriterionView, VoteView
from core.services.review.audit_trail import CellDecision
from core.text import numbers as fmt
from core.text.names import visible
from pages.run.filters import ITEM_OPEN
from pages.ui import routes, state
from pages.ui.grid.cells import HeadCell, ShownCell, share_tone, shown_cell
from pages.ui.items import (
    FAILURE_WORDS,
    STANDINGS,
    answer_label,
    standing_tags,
    verdict_chips,
    vote_card,
)
from pages.ui.resources import store
from pages.ui.text import clamped_html, esc, label, one_line
from pages.ui.trial.votes import show_call
from pages.ui.widgets import draw_row, tag


def show(
    view: CriterionView,
    text: str,
    *,
    over: bool,
    decided: Callable[[], object] | None = None,
    judge: str = "",
    rubric: int | None = None,
    brief: bool = False,
) -> None:
    """Draw a criterion's verdict and every vote on it.

    Quotes are looked up in the submission `text`. `over`: no more questions will be asked, so
    unasked ones were not needed. `decided` draws who settled it, if people did. `judge` is the
    judge whose answers are shown; empty for all. `rubric` is the id of the rubric in which the
    weight is changed. If `brief`, long texts are cut and open on a click, so that several votes are
    visible at once.
    """
    criterion = view.criterion
    with st.container(border=True, gap="xsmall" if brief else "small"):
        weight = f"weight {fmt.weight(criterion.weight)}"
        if rubric is not None:
            url = routes.link_address(routes.RUBRICS.url, {state.RUBRIC: rubric})
            weight = f'<a href="{esc(url)}" target="_self">{weight}</a>'
        requirement = f'<div class="rs-prose rs-quiet">{esc(criterion.requirement)}</div>'
        st.html(
            f'<div class="rs-row"><b>{esc(criterion.name)}</b>'
            f'<span class="rs-quiet rs-leads">{weight} · {esc(criterion.scale)}</span></div>'
            f"{clamped_html(requirement) if brief else requirement}"
        )
        _show_verdict(view, settled=decided is not None, brief=brief)
        if decided is not None:
            decided()
        if judge:
            view = replace(view, votes=tuple(v for v in view.votes if v.cell.judge == judge))
        if brief:
            _votes_in_brief(view, text)
            draw_row([_certainty_html(view)])
        else:
            for together in _vote_groups(view):
                _show_votes(view, together, text)
        _show_unasked(view, over=over)


def _show_votes(view: CriterionView, votes: list[VoteView], text: str) -> None:
    """Draw answers side by side: as one element, which is faster, if none can be opened."""
    if all(vote.call_id is None for vote in votes):
        st.html(f'<div class="rs-cards">{"".join(_vote_html(view, v, text) for v in votes)}</div>')
        return
    with st.grid(2, min_column_width=235):
        for vote in votes:
            with st.container(gap="xsmall"):
                st.html(_vote_html(view, vote, text))
                _show_call(vote)


def _votes_in_brief(view: CriterionView, text: str) -> None:
    """Draw all answers below each other, and below them what was sent and received."""
    together = [vote for group in _vote_groups(view) for vote in group]
    cards = "".join(_vote_html(view, vote, text, brief=True) for vote in together)
    st.html(f'<div class="rs-cards rs-brief">{cards}</div>')
    for vote in together:
        which = answer_label(vote)
        judge_words = f"{one_line(vote.cell.judge, 40)}{f', {which}' if which else ''}"
        _show_call(vote, f"{judge_words}: prompt, reply and cost")


def _vote_groups(view: CriterionView) -> list[list[VoteView]]:
    """Return the answers as they are laid out: one in the reversed order next to its twin."""
    pairs, without_twin = dict[tuple[str, int], list[VoteView]](), list[VoteView]()
    for vote in view.votes:
        if vote.result is not None:
            number = vote.cell.replicate if vote.repeats is None else vote.repeats
            pairs.setdefault((vote.cell.judge, number), []).append(vote)
    groups = list[list[VoteView]]()
    for pair in pairs.values():
        if len(pair) > 1:
            groups.append(pair)
        else:
            without_twin += pair
    return [without_twin, *groups] if without_twin else groups


def _show_unasked(view: CriterionView, *, over: bool) -> None:
    """Draw a line on judges that were not asked."""
    names = dict.fromkeys(v.cell.judge for v in view.votes if v.result is None)
    if names:
        state_text = "Not needed" if over else "Not asked yet"
        draw_row([_quiet_html(f"{state_text}: {', '.join(names)}")])


def _show_verdict(view: CriterionView, *, settled: bool, brief: bool) -> None:
    verdict = view.verdict
    if verdict is None:
        draw_row(
            [
                tag("No verdict", "warn"),
                _quiet_html("No judge has given a vote here."),
                *_label_tags(view),
            ]
        )
        return
    outside = [tag("Abstained")] if verdict.abstained and verdict.option is None else []
    # The votes show all options; the label of a settled cell is what people settled, so a match
    # proves nothing.
    label_tags = [] if settled else _label_tags(view)
    draw_row(
        [
            "<b>Verdict</b>",
            *outside,
            *verdict_chips(view.criterion, verdict, alone=True),
            *label_tags,
        ]
    )
    if order := _order_tag(view):
        draw_row(order)
    if not brief:
        draw_row([_certainty_html(view)])
    if verdict.warning:
        st.warning(label(verdict.warning))


def _order_tag(view: CriterionView) -> list[str]:
    """Return a tag if answers depend on the order in which options were shown."""
    return [tag("answers depend on the order", "warn")] if view.flipped_pairs else []


def _certainty_html(view: CriterionView) -> str:
    """Return in HTML how certain the verdict is, if that is defined; the figures as a tooltip."""
    verdict = view.verdict
    if verdict is None:
        return ""
    parts = [fmt.plural(verdict.votes, "vote")]
    if verdict.abstentions:
        parts.append(fmt.plural(verdict.abstentions, "abstention"))
    if verdict.failures:
        parts.append(fmt.plural(verdict.failures, "failure"))
    if verdict.votes > 1:
        parts.append(_how_united(verdict))
        rule = "people" if verdict.rule == "adjudicated" else verdict.rule.replace("_", " ")
        settled_how = (
            "a tie, in which the worse answer counts" if verdict.tie else f"settled by {rule}"
        )
        parts.append(settled_how)
    if verdict.continuous is not None and (verdict.votes > 1 or verdict.rule == "soft_mean"):
        rule = verdict.rule.replace("_", " ")
        parts.append(f"{rule} before snapping {fmt.score(verdict.continuous)}")
    if verdict.coverage is not None and verdict.coverage < 1:
        parts.append(f"coverage {fmt.percent(verdict.coverage)}")
    return (
        f'<span title="{esc(_certainty_figures(verdict))}">{_quiet_html(" · ".join(parts))}</span>'
    )


def _certainty_figures(verdict: Verdict) -> str:
    """Return the figures behind `_how_united`, for a tooltip."""
    figures = {"agreement": verdict.agreement, "margin": verdict.margin, "entropy": verdict.entropy}
    return " · ".join(f"{name} {fmt.score(value)}" for name, value in figures.items())


def _how_united(verdict: Verdict) -> str:
    """Return in words how far the votes agree."""
    if verdict.agreement == 1:
        return "all agree"
    if verdict.margin == 0:
        return "the votes are split evenly"
    return f"{fmt.percent(verdict.agreement)} of the votes for this verdict"


def _label_tags(view: CriterionView) -> list[str]:
    if view.truth_label is None:
        return []
    label_text = f"the label is {view.truth_label}"
    if view.truth is None:
        return [tag(f"{label_text}, which is not an option of this criterion", "warn")]
    verdict = view.verdict
    if verdict is None:
        marks = [tag(label_text)]
    elif verdict.abstained:
        marks = [tag(f"◦ abstained; {label_text}")]
    elif verdict.option == view.truth:
        marks = [tag(f"✓ right: {label_text}", "good")]
    else:
        marks = [tag(f"✕ wrong: {label_text}", "bad")]
    reason = view.truth_reason
    return [*marks, _quiet_html(f"The label's reason: {reason}")] if reason else marks


def _vote_html(view: CriterionView, vote: VoteView, text: str, *, brief: bool = False) -> str:
    result = vote.result
    if result is None:
        return ""
    marks = _vote_mark(view, vote) + standing_tags(vote) + _earlier_attempts(vote)
    which = answer_label(vote)
    return vote_card(view.criterion, result, which=which, text=text, marks=marks, brief=brief)


def _vote_mark(view: CriterionView, vote: VoteView) -> str:
    if view.truth is None or vote.vote is None or vote.vote.abstained:
        return ""
    right = vote.vote.option == view.truth
    return tag("✓ as labelled", "good") if right else tag("✕ differs from the label", "bad")


def _earlier_attempts(vote: VoteView) -> str:
    """Return HTML of earlier attempts that failed."""
    kinds = [FAILURE_WORDS.get(f.kind, f.kind) for f in vote.attempts if not f.open]
    return _quiet_html(f"failed earlier: {', '.join(kinds)}") if kinds else ""


def _show_call(vote: VoteView, words: str = "Prompt, reply and cost") -> None:
    """Draw the prompt and the raw reply, loaded only when they are opened."""
    result = vote.vote or vote.failure
    if result is None or result.call_id is None:
        return
    part = st.expander(
        label(words),
        key=state.key(ITEM_OPEN, "call", result.call_id, *vote.cell[1:]),
        on_change="rerun",
        type="compact",
    )
    if not part.open:
        return
    call = item_view.call_of(store(), result)
    if call is not None:
        with part:
            show_call(call)


def _quiet_html(text: str) -> str:
    return f'<span class="rs-quiet rs-num">{esc(text)}</span>'


def settlement(run_id: int, item_id: str, criterion: str, decision: CellDecision) -> None:
    """Draw one line with names, day, how they settled it, and the verdict of the votes."""
    settled = decision.settled
    active = settled.state == "active"
    people = ", ".join(settled.people)
    mark = (
        tag(f"settled by {people}", "info") if active else tag(f"{settled.state}: {people}", "warn")
    )
    option = "cannot assess" if settled.uncertain else settled.label or ""
    gave = (
        "the votes gave no verdict"
        if decision.voted is None
        else f"the votes gave {decision.voted}"
    )
    parts = [f"as {option}", fmt.day_of(decision.when), decision.how, gave]
    draw_row([mark, f'<span class="rs-quiet">{esc(" · ".join(parts))}</span>'])
    if settled.note:
        st.html(f'<div class="rs-quote">{esc(settled.note)}</div>')
    routes.draw_link(
        routes.RECORD,
        "Timeline",
        {state.RUN: run_id, state.ITEM: item_id, state.CRITERION: criterion},
        icon="history",
    )


# The criteria of an item by its judges.


def criterion_rows(views: Sequence[CriterionView]) -> tuple[list[HeadCell], list[list[ShownCell]]]:
    """Return a row per criterion: its label, its verdict, and every judge's answer."""
    judges = list(dict.fromkeys(vote.cell.judge for view in views for vote in view.votes))
    labelled = any(view.truth_label is not None for view in views)
    names = ["Criterion", *(["Label"] if labelled else []), "Verdict", *judges]
    return [HeadCell(one_line(name, 60)) for name in names], [
        [
            ShownCell(one_line(view.criterion.name, 60), opens=json.dumps([view.criterion.name])),
            *([_label_cell(view)] if labelled else []),
            _settled_cell(view),
            *(_judge_answers(view, judge) for judge in judges),
        ]
        for view in views
    ]


def _label_cell(view: CriterionView) -> ShownCell:
    if view.truth_label is None:
        return ShownCell("")
    value = None if view.truth is None else view.criterion.values[view.truth]
    verdict = view.verdict
    decided = verdict is not None and verdict.option is not None and not verdict.abstained
    sign = "" if not decided or verdict is None else "✓" if verdict.option == view.truth else "✗"
    comparison = {"✓": ", like the verdict", "✗": ", unlike the verdict", "": ""}[sign]
    label_text = one_line(view.truth_label, 40)
    tells = f"{visible(view.criterion.name)}, label: {label_text}{comparison}"
    opens = json.dumps([view.criterion.name])
    return ShownCell(
        label_text, share_tone(grid.earned_share(view.criterion, value)), sign, tells, opens
    )


def _settled_cell(view: CriterionView) -> ShownCell:
    failures = sum(vote.failure is not None for vote in view.votes)
    name = view.criterion.name
    cell = grid.grid_cell(view.criterion, view.verdict, failures)
    return shown_cell(cell, json.dumps([name]), place=f"{name}, verdict")


def _judge_answers(view: CriterionView, judge: str) -> ShownCell:
    """Return a judge's answers to a criterion: the option once, or each if they differ."""
    votes = [v for v in view.votes if v.cell.judge == judge and v.result is not None]
    if not votes:
        return ShownCell("")
    answers = list(dict.fromkeys(map(_answer_text, votes)))
    chosen = votes[0].vote.option if votes[0].vote else None
    value = None if chosen is None else view.criterion.values[chosen]
    role_words = STANDINGS[votes[0].standing]
    signs = [*(["≠"] if len(answers) > 1 else []), *(["·"] if role_words else [])]
    text = " / ".join(answers)
    more = f", {role_words}" if role_words else ""
    name = view.criterion.name
    return ShownCell(
        text,
        share_tone(grid.earned_share(view.criterion, value)),
        " ".join(signs),
        f"{visible(judge)}, {visible(name)}: {text}{more}",
        json.dumps([name, judge]),
    )


def _answer_text(vote: VoteView) -> str:
    if vote.vote is None:
        kind = vote.failure.kind if vote.failure else ""
        return f"✕ {FAILURE_WORDS.get(kind, kind)}"
    return "abstained" if vote.vote.abstained else one_line(vote.label or "", 40)
