"""The rubric check in the editor: what to mend, beside its criterion and all together."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from core.identity import content_hash
from core.services import numbers as fmt
from core.services.checking.checker import rule_of
from core.services.checking.finding import Finding
from core.services.checking.mending import (
    check_draft,
    dismiss,
    is_dismissed,
    mended,
    recall,
    unread_draft,
)
from core.services.checking.rules import Rule
from core.services.checking.tongue import unread_words
from core.services.drafts import locate, payload
from pages.author._rubric import work
from pages.author._rubric.going import RUBRIC_ACT
from pages.ui import state
from pages.ui.resources import remembered
from pages.ui.text import esc, one_line
from pages.ui.widgets import Tone, shown_errors, tag

#: So many findings are shown in full beside the form; the criteria show their own.
SHOWN = 12


class Placed(NamedTuple):
    """A finding and the card it belongs to: a criterion's or a gate's uid, or none."""

    finding: Finding
    uid: str | None
    dismissed: bool

    @property
    def serious(self) -> bool:
        """Whether its rule is a serious one."""
        return rule_of(self.finding).severity == "serious"


def found(name: str) -> list[Placed]:
    """What to mend in the draft, dismissed ones among them."""
    draft = work.draft(name)
    about = (content_hash(payload(draft)),)
    findings = remembered("rubric_check", about, lambda: check_draft(draft, with_dismissed=True))
    return [Placed(f, locate(draft, f.path)[0], is_dismissed(draft, f)) for f in findings]


def _unread(name: str) -> tuple[str, ...]:
    """The criteria whose wording no check reads, as they are not in English."""
    draft = work.draft(name)
    about = (content_hash(payload(draft)),)
    return remembered("rubric_unread", about, lambda: unread_draft(draft))


def mark(placed: list[Placed], uid: str) -> str:
    """The HTML of the tag on a closed criterion that has something to mend; else empty."""
    mine = [one for one in placed if one.uid == uid and not one.dismissed]
    tone: Tone = "warn" if any(one.serious for one in mine) else "neutral"
    return tag(f"{len(mine)} to mend", tone) if mine else ""


def show_beside(name: str, uid: str) -> None:
    """What to mend in the open criterion."""
    for one in found(name):
        if one.uid == uid and not one.dismissed:
            _show(name, one, "card")


def show_all(name: str) -> None:
    """The summary: what to mend anywhere, then what was dismissed."""
    placed = found(name)
    live = [one for one in placed if not one.dismissed]
    if not work.draft(name)["criteria"]:
        return
    unread = _unread(name)
    whole = len(unread) < len(work.draft(name)["criteria"])
    st.html('<div class="rs-section">Rubric check</div>')
    st.html(f'<div class="rs-quiet">{_count(live, whole)}</div>')
    if unread:
        st.html(
            f'<div class="rs-quiet">{esc(unread_words([one_line(u, 40) for u in unread]))}</div>'
        )
    for one in live[:SHOWN]:
        _show(name, one, "side")
    if len(live) > SHOWN:
        st.caption(f"and {len(live) - SHOWN} more, at their criteria")
    _show_dismissed(name, [one for one in placed if one.dismissed])


def _count(live: list[Placed], words_read: bool) -> str:
    serious = sum(one.serious for one in live)
    if not live:
        what = "words, levels, weights or gates" if words_read else "levels, weights or gates"
        return f"No {what} that are known to make judges disagree."
    slight = len(live) - serious
    parts = [f"{serious} serious"] * bool(serious) + [f"{slight} slight"] * bool(slight)
    return f"{fmt.plural(len(live), 'thing')} to look at: {', '.join(parts)}"


def _show(name: str, one: Placed, where: str) -> None:
    rule = rule_of(one.finding)
    subject = _subject(name, one) if where == "side" else ""
    with st.container(border=True, gap="xxsmall"):
        st.html(_words(rule, one, subject))
        _acts(name, one, where)


def _words(rule: Rule, one: Placed, subject: str) -> str:
    return (
        '<div class="rs-row">'
        f"{tag(rule.severity, 'warn' if one.serious else 'neutral')}<b>{esc(rule.title)}</b>"
        f'<span class="rs-quiet">{subject}</span></div>'
        f"<div>{esc(one.finding.sentence)}</div>"
        f'<div class="rs-quiet">{esc(one.finding.mend)}</div>'
        f'<details class="rs-quiet"><summary>Why it matters</summary>{esc(rule.why)}<br>'
        f"<i>{esc(rule.source)}</i></details>"
    )


def _acts(name: str, one: Placed, where: str) -> None:
    with st.container(horizontal=True, gap="small"):
        if one.finding.edit is not None:
            _button(name, one, where, "mend", one.finding.edit.words, "auto_fix_high")
        if where == "side" and one.uid is not None and one.uid != work.open_card(name):
            _button(name, one, where, "open", "Open", "arrow_forward")
        _button(name, one, where, "dismiss", "Dismiss", "close")


def _subject(name: str, one: Placed) -> str:
    draft, at = work.draft(name), one.finding.criterion
    if at is not None:
        return esc(one_line(draft["criteria"][at]["name"], 60))
    if one.finding.gate is not None:
        gate = draft["gates"][one.finding.gate]["gate"]
        return f"gate {esc(one_line(str(gate.get('name', '')), 60))}"
    return "the whole rubric"


def _button(name: str, one: Placed, where: str, act: str, words: str, icon: str) -> None:
    finding = one.finding
    places = [step for path in (finding.path[2:], *finding.also) for step in path]
    st.button(
        words,
        key=state.key(
            RUBRIC_ACT, name, "check", where, act, finding.rule, one.uid or "rubric", *places
        ),
        type="tertiary",
        icon=f":material/{icon}:",
        on_click=_on_act,
        args=(name, act, one),
    )


def _on_act(name: str, act: str, one: Placed) -> None:
    with shown_errors():
        # The draft may have moved on since the button was drawn; then its place means another.
        if one not in found(name):
            return
        draft = work.draft(name)
        if act == "open":
            work.keep_open(name, one.uid)
        elif act == "dismiss":
            work.change(name, dismiss(draft, one.finding))
        elif act == "recall":
            work.change(name, recall(draft, one.finding))
        elif one.finding.edit is not None:
            work.change(name, mended(draft, one.finding.edit), redraw=True)


def _show_dismissed(name: str, dismissed: list[Placed]) -> None:
    if not dismissed:
        return
    with st.expander(f"{len(dismissed)} dismissed; kept with the rubric"):
        for one in dismissed:
            subject = _subject(name, one)
            with st.container(horizontal=True, vertical_alignment="center"):
                st.html(
                    f"{esc(rule_of(one.finding).title)} <span class='rs-quiet'>{subject}</span>"
                )
                _button(name, one, "dismissed", "recall", "Show again", "undo")
