"""What is wrong with the draft, what the rubric check says of it, and what its newest run says."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from core.domain.runs import RunRow
from core.errors import Problem
from core.identity import content_hash
from core.lint.check import rule_of
from core.lint.language import unread_words
from core.lint.rules import LintFinding, LintRule
from core.services.diagnostics import diagnosis
from core.services.diagnostics.diagnosis import CriterionFinding, Heard, Says
from core.services.rubrics.drafts import locate, payload, problems_of
from core.services.rubrics.issues import (
    check_draft,
    dismiss,
    is_dismissed,
    mended,
    recall,
    unread_draft,
)
from core.text import numbers as fmt
from pages.ui import drafts, routes, state
from pages.ui.drafts import RUBRIC_ACT
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import Tone, problem_list, shown_errors, tag

#: So many findings are shown in full beside the form; the criteria show their own.
SHOWN = 12


class Placed(NamedTuple):
    """A finding and the card it belongs to: a criterion's or a gate's uid, or none."""

    finding: LintFinding
    uid: str | None
    dismissed: bool

    @property
    def serious(self) -> bool:
        """Whether its rule is a serious one."""
        return rule_of(self.finding).severity == "serious"


def found(name: str) -> list[Placed]:
    """What to mend in the draft, dismissed ones among them."""
    draft = drafts.draft(name)
    about = (content_hash(payload(draft)),)
    findings = remembered("rubric_check", about, lambda: check_draft(draft, with_dismissed=True))
    return [Placed(f, locate(draft, f.path)[0], is_dismissed(draft, f)) for f in findings]


def _unread(name: str) -> tuple[str, ...]:
    """The criteria whose wording no check reads, as they are not in English."""
    draft = drafts.draft(name)
    about = (content_hash(payload(draft)),)
    return remembered("rubric_unread", about, lambda: unread_draft(draft))


def mark(placed: list[Placed], uid: str) -> str:
    """The HTML of the tag on a closed criterion that has something to mend; else empty."""
    mine = [one for one in placed if one.uid == uid and not one.dismissed]
    tone: Tone = "warn" if any(one.serious for one in mine) else "neutral"
    return tag(f"{len(mine)} to fix", tone) if mine else ""


def show_beside(name: str, uid: str) -> None:
    """What to mend in the open criterion."""
    for one in found(name):
        if one.uid == uid and not one.dismissed:
            _show(name, one, "card")


def show_all(name: str) -> None:
    """The summary: what to mend anywhere, then what was dismissed."""
    placed = found(name)
    live = [one for one in placed if not one.dismissed]
    if not drafts.draft(name)["criteria"]:
        return
    unread = _unread(name)
    whole = len(unread) < len(drafts.draft(name)["criteria"])
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


def _words(rule: LintRule, one: Placed, subject: str) -> str:
    return (
        '<div class="rs-row">'
        f"{tag(rule.severity, 'warn' if one.serious else 'neutral')}<b>{esc(rule.title)}</b>"
        f'<span class="rs-quiet">{subject}</span></div>'
        f'<div style="overflow-wrap:anywhere">{esc(one.finding.sentence)}</div>'
        f'<div class="rs-quiet">{esc(one.finding.mend)}</div>'
        f'<details class="rs-quiet"><summary>Why it matters</summary>{esc(rule.why)}<br>'
        f"<i>{esc(rule.source)}</i></details>"
    )


def _acts(name: str, one: Placed, where: str) -> None:
    with st.container(horizontal=True, gap="small"):
        if one.finding.edit is not None:
            _button(name, one, where, "mend", one.finding.edit.words, "auto_fix_high")
        if where == "side" and one.uid is not None and one.uid != drafts.open_card(name):
            _button(name, one, where, "open", "Open", "arrow_forward")
        _button(name, one, where, "dismiss", "Dismiss", "close")


def _subject(name: str, one: Placed) -> str:
    draft, at = drafts.draft(name), one.finding.criterion
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
        draft = drafts.draft(name)
        if act == "open":
            drafts.keep_open(name, one.uid)
        elif act == "dismiss":
            drafts.change(name, dismiss(draft, one.finding))
        elif act == "recall":
            drafts.change(name, recall(draft, one.finding))
        elif one.finding.edit is not None:
            drafts.change(name, mended(draft, one.finding.edit), redraw=True)


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


def what_runs_say_beside(name: str, uid: str) -> None:
    """What the data say of the open criterion; nothing where they say nothing."""
    said = _said(name)
    if said is None:
        return
    criterion = next(c for c in drafts.draft(name)["criteria"] if c["uid"] == uid)
    mine = diagnosis.of_criterion(said.heard.findings, criterion["name"])
    why = said.heard.unknown.get(criterion["name"], "")
    if not mine and not why:
        return
    changed = diagnosis.asked_otherwise(store(), said.run, drafts.draft(name), uid)
    _sentences([(None, one) for one in mine], changed=changed, unknown=_unknown(why))
    _link(said.run)


def what_runs_say(name: str) -> None:
    """What the data say of any criterion."""
    said = _said(name)
    if said is None:
        return
    run, heard = said.run, said.heard
    names = {c["name"] for c in drafts.draft(name)["criteria"]}
    kept = [one for one in heard.findings if one.criterion in names]
    about = f"{run.name}, {fmt.plural(run.items, 'item')}, version {run.rubric_number}"
    st.html(
        '<div class="rs-section">What the newest run says</div>'
        f'<div class="rs-quiet">{esc(one_line(about, 120))}</div>{_passed(said)}'
    )
    if kept:
        _sentences([(one.criterion, one) for one in kept], changed=False)
    elif heard.answers:
        st.html('<div class="rs-quiet">Nothing is surely wrong with a criterion.</div>')
    unknown = [
        f"{one_line(n, 60)}: {_unknown(why)}" for n, why in heard.unknown.items() if n in names
    ]
    if unknown:
        same = set(heard.unknown.values())
        lines = unknown if heard.answers or len(same) > 1 else [_unknown(same.pop())]
        st.html("".join(f'<div class="rs-quiet">{esc(line)}</div>' for line in lines))
    _link(run)


def _unknown(why: str) -> str:
    return f"Agreement unknown: {why}." if why else ""


def _passed(said: Says) -> str:
    """That a newer run cannot answer, and why this one is asked."""
    if said.passed is None:
        return ""
    words = f"A newer run, {one_line(said.passed.name, 60)}, cannot tell of agreement: {said.why}."
    return f'<div class="rs-quiet">{esc(words)}</div>'


def _said(name: str) -> Says | None:
    rubric_id = drafts.draft(name)["rubric_id"]
    return None if rubric_id is None else diagnosis.newest_answer(store(), rubric_id, _heard)


def _heard(run: RunRow) -> Heard:
    about = (run.id, run.votes, run.failures_open)
    return remembered("rubric_heard", about, lambda: diagnosis.heard(store(), run.id))


def _sentences(
    found: list[tuple[str | None, CriterionFinding]], *, changed: bool, unknown: str = ""
) -> None:
    lines = ""
    for subject, one in found:
        head = f"<b>{esc(one_line(subject, 60))}</b> " if subject else ""
        weight = tag("serious" if one.serious else "slight", "warn" if one.serious else "neutral")
        lines += f'<div class="rs-row">{weight}<span>{head}{esc(one.sentence)}</span></div>'
    note = (
        '<div class="rs-quiet">The criterion has changed since that run asked it.</div>'
        if changed
        else ""
    )
    if unknown:
        lines += f'<div class="rs-quiet">{esc(unknown)}</div>'
    st.html(f'<div class="rs-card"><b>From the votes</b>{lines}{note}</div>')


def _link(run: RunRow) -> None:
    routes.link(routes.AGREEMENT, label(f"Evidence: {run.name}", 60), {state.RUN: run.id})


PROBLEMS_SHOWN = 12


def show_problems(name: str) -> None:
    """The problems of the draft (or of the typed YAML), each with a way to its card."""
    refused = drafts.refused_text(name)
    if refused is not None:
        st.error(label(f"The YAML is not applied yet. {refused.message}"))
        problem_list(refused.problems)
        return
    draft = drafts.draft(name)
    problems = problems_of(draft)
    if not problems:
        _can_be_saved(sum(one.serious for one in found(name) if not one.dismissed))
        return
    count = f"{len(problems)} thing{'s' * (len(problems) > 1)} to fix before saving"
    st.warning(count, icon=":material/build:")
    for place, problem in enumerate(problems[:PROBLEMS_SHOWN]):
        _problem(name, place, problem)
    if len(problems) > PROBLEMS_SHOWN:
        st.caption(f"and {len(problems) - PROBLEMS_SHOWN} more")


def _can_be_saved(serious: int) -> None:
    """The head of the check; green only where nothing serious stands below it."""
    if serious:
        words = f"Nothing to fix before saving, but {fmt.plural(serious, 'serious finding')} below."
        st.warning(words, icon=":material/warning:")
    else:
        st.success("Nothing to fix before saving: it can be used.", icon=":material/check:")


def _problem(name: str, place: int, problem: Problem) -> None:
    uid, _ = locate(drafts.draft(name), problem.path)
    target = uid or _about_card(problem)
    with st.container(horizontal=True, vertical_alignment="center"):
        problem_list([_named(name, problem, uid)])
        if target is not None and target != drafts.open_card(name):
            st.button(
                "Open",
                key=state.key(RUBRIC_ACT, name, "problem", place),
                type="tertiary",
                icon=":material/arrow_forward:",
                on_click=drafts.keep_open,
                args=(name, target),
            )


def _about_card(problem: Problem) -> str | None:
    if problem.path[:1] == ("decision",):
        return drafts.DECISION
    if problem.path[:2] == ("scoring", "length_penalty"):
        return drafts.PENALTY
    heads = ("name", "description", "guidelines", "scoring")
    return drafts.ABOUT if problem.path and problem.path[0] in heads else None


def _named(name: str, problem: Problem, uid: str | None) -> Problem:
    """The problem with the criterion's name instead of its number, where it has one."""
    criterion = next((c for c in drafts.draft(name)["criteria"] if c["uid"] == uid), None)
    if criterion is None or not criterion["name"].strip():
        return problem
    return Problem(problem.message, problem.mend, (criterion["name"], *problem.path[2:]))
