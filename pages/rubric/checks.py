"""Problems of the draft, the findings of the rubric check, and findings of the newest run."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from core.domain.runs import RunRow
from core.errors import Problem
from core.identity import content_hash
from core.lint.check import rule_of
from core.lint.language import unchecked_sentence
from core.lint.rules import LintFinding, LintRule
from core.metrics.bias.effects import Finding
from core.services.agreement import conclusion, load_ratings
from core.services.agreement.blocks.headline import undecided_criteria
from core.services.diagnostics import diagnosis
from core.services.diagnostics.diagnosis import RunFindings
from core.services.results import browsing
from core.services.rubrics.drafts import draft_payload, locate_card, problems_of
from core.services.rubrics.issues import (
    check_draft,
    dismiss_finding,
    is_dismissed,
    recall_finding,
    unread_draft,
    with_edit,
)
from core.text import numbers as fmt
from pages.ui import drafts, routes, state
from pages.ui.drafts import RUBRIC_ACT
from pages.ui.resources import remembered, store
from pages.ui.text import esc, label, one_line
from pages.ui.widgets import Tone, problem_list, shown_errors, tag

#: The most findings shown in full next to the form; the criteria show their own.
SHOWN = 12


class PlacedFinding(NamedTuple):
    """A finding and its card: the uid of a criterion or a gate, or none."""

    finding: LintFinding
    uid: str | None
    dismissed: bool

    @property
    def serious(self) -> bool:
        """Return whether its rule is a serious one."""
        return rule_of(self.finding).severity == "serious"


def findings_on(name: str) -> list[PlacedFinding]:
    """Return the findings on the draft, including dismissed ones."""
    draft = drafts.draft(name)
    cache_key = (content_hash(draft_payload(draft)),)
    findings = remembered(
        "rubric_check", cache_key, lambda: check_draft(draft, with_dismissed=True)
    )
    return [
        PlacedFinding(f, locate_card(draft, f.path)[0], is_dismissed(draft, f)) for f in findings
    ]


def _unread_criteria(name: str) -> tuple[str, ...]:
    """Return the criteria that no check reads, because they are not in English."""
    draft = drafts.draft(name)
    cache_key = (content_hash(draft_payload(draft)),)
    return remembered("rubric_unread", cache_key, lambda: unread_draft(draft))


def finding_tag(placed: list[PlacedFinding], uid: str) -> str:
    """Return the HTML tag of a closed criterion with findings; else an empty string."""
    open_findings = [finding for finding in placed if finding.uid == uid and not finding.dismissed]
    tone: Tone = "warn" if any(finding.serious for finding in open_findings) else "neutral"
    return tag(f"{len(open_findings)} to fix", tone) if open_findings else ""


def show_findings_of_card(name: str, uid: str) -> None:
    """Show the open criterion's findings."""
    for finding in findings_on(name):
        if finding.uid == uid and not finding.dismissed:
            _show_finding(name, finding, "card")


def show_all_findings(name: str) -> None:
    """Draw the summary: all open findings, then the dismissed ones."""
    placed = findings_on(name)
    live = [finding for finding in placed if not finding.dismissed]
    if not drafts.draft(name)["criteria"]:
        return
    unread = _unread_criteria(name)
    some_read = len(unread) < len(drafts.draft(name)["criteria"])
    st.html('<div class="rs-section">Rubric check</div>')
    st.html(f'<div class="rs-quiet">{_count_words(live, some_read)}</div>')
    if unread:
        sentence = unchecked_sentence([one_line(name, 40) for name in unread])
        st.html(f'<div class="rs-quiet">{esc(sentence)}</div>')
    for finding in live[:SHOWN]:
        _show_finding(name, finding, "side")
    if len(live) > SHOWN:
        st.caption(f"and {len(live) - SHOWN} more, shown with their criteria")
    _show_dismissed(name, [finding for finding in placed if finding.dismissed])


def _count_words(live: list[PlacedFinding], words_read: bool) -> str:
    serious = sum(finding.serious for finding in live)
    if not live:
        subject = "words, levels, weights or gates" if words_read else "levels, weights or gates"
        return f"Found no {subject} that are known to make judges disagree."
    slight = len(live) - serious
    parts = [f"{serious} serious"] * bool(serious) + [f"{slight} slight"] * bool(slight)
    return f"{fmt.plural(len(live), 'finding')} to review: {', '.join(parts)}"


def _show_finding(name: str, finding: PlacedFinding, place: str) -> None:
    rule = rule_of(finding.finding)
    subject = _finding_subject(name, finding) if place == "side" else ""
    with st.container(border=True, gap="xxsmall"):
        st.html(_finding_words(rule, finding, subject))
        _finding_acts(name, finding, place)


def _finding_words(rule: LintRule, finding: PlacedFinding, subject: str) -> str:
    return (
        '<div class="rs-row">'
        f"{tag(rule.severity, 'warn' if finding.serious else 'neutral')}<b>{esc(rule.title)}</b>"
        f'<span class="rs-quiet">{subject}</span></div>'
        f'<div style="overflow-wrap:anywhere">{esc(finding.finding.sentence)}</div>'
        f'<div class="rs-quiet">{esc(finding.finding.mend)}</div>'
        f'<details class="rs-quiet"><summary>Why it matters</summary>{esc(rule.why)}<br>'
        f"<i>{esc(rule.source)}</i></details>"
    )


def _finding_acts(name: str, finding: PlacedFinding, place: str) -> None:
    with st.container(horizontal=True, gap="small"):
        if finding.finding.edit is not None:
            _finding_button(
                name, finding, place, "mend", finding.finding.edit.words, "auto_fix_high"
            )
        if place == "side" and finding.uid is not None and finding.uid != drafts.open_card(name):
            _finding_button(name, finding, place, "open", "Open", "arrow_forward")
        _finding_button(name, finding, place, "dismiss", "Dismiss", "close")


def _finding_subject(name: str, finding: PlacedFinding) -> str:
    draft, place = drafts.draft(name), finding.finding.criterion
    if place is not None:
        return esc(one_line(draft["criteria"][place]["name"], 60))
    if finding.finding.gate is not None:
        gate = draft["gates"][finding.finding.gate]["gate"]
        return f"gate {esc(one_line(str(gate.get('name', '')), 60))}"
    return "the whole rubric"


def _finding_button(
    name: str, placed: PlacedFinding, place: str, act: str, caption: str, icon: str
) -> None:
    finding = placed.finding
    places = [step for path in (finding.path[2:], *finding.also) for step in path]
    st.button(
        caption,
        key=state.key(
            RUBRIC_ACT, name, "check", place, act, finding.rule, placed.uid or "rubric", *places
        ),
        type="tertiary",
        icon=f":material/{icon}:",
        on_click=_on_act,
        args=(name, act, placed),
    )


def _on_act(name: str, act: str, finding: PlacedFinding) -> None:
    with shown_errors():
        # The draft may have changed since the button was drawn, so that its position means another
        # finding.
        if finding not in findings_on(name):
            return
        draft = drafts.draft(name)
        if act == "open":
            drafts.set_open_card(name, finding.uid)
        elif act == "dismiss":
            drafts.change_draft(name, dismiss_finding(draft, finding.finding))
        elif act == "recall":
            drafts.change_draft(name, recall_finding(draft, finding.finding))
        elif finding.finding.edit is not None:
            drafts.change_draft(name, with_edit(draft, finding.finding.edit), redraw=True)


def _show_dismissed(name: str, dismissed: list[PlacedFinding]) -> None:
    if not dismissed:
        return
    with st.expander(f"{len(dismissed)} dismissed; kept with the rubric"):
        for finding in dismissed:
            subject = _finding_subject(name, finding)
            with st.container(horizontal=True, vertical_alignment="center"):
                st.html(
                    f"{esc(rule_of(finding.finding).title)} <span class='rs-quiet'>{subject}</span>"
                )
                _finding_button(name, finding, "dismissed", "recall", "Show again", "undo")


def show_run_findings_of_card(name: str, uid: str) -> None:
    """Show the data's findings on the open criterion, if any."""
    run_findings = _run_findings(name)
    if run_findings is None:
        return
    criterion = next(c for c in drafts.draft(name)["criteria"] if c["uid"] == uid)
    findings = diagnosis.findings_on_criterion(run_findings.findings, criterion["name"])
    reason = run_findings.unknown.get(criterion["name"], "")
    if not findings and not reason:
        return
    changed = diagnosis.has_changed_question(store(), run_findings.run, drafts.draft(name), uid)
    _show_sentences(
        [(None, finding) for finding in findings], changed=changed, unknown=_unknown_words(reason)
    )
    _link_to_run(run_findings.run)


def show_run_findings(name: str) -> None:
    """Show the data's findings on all criteria."""
    run_findings = _run_findings(name)
    if run_findings is None:
        return
    run = run_findings.run
    names = {c["name"] for c in drafts.draft(name)["criteria"]}
    findings = [finding for finding in run_findings.findings if finding.subject in names]
    details = f"{run.name}, {fmt.plural(run.items, 'item')}, version {run.rubric_number}"
    st.html(
        '<div class="rs-section">Findings of the newest run</div>'
        f'<div class="rs-quiet">{esc(one_line(details, 120))}</div>{_passed_note(run_findings)}'
    )
    if findings:
        _show_sentences([(finding.subject, finding) for finding in findings], changed=False)
    elif run_findings.answers:
        line = f"No criterion is clearly a problem. {_undecided_criteria(run)}".rstrip()
        st.html(f'<div class="rs-quiet">{esc(line)}</div>')
    unknown = [
        f"{one_line(n, 60)}: {_unknown_words(reason)}"
        for n, reason in run_findings.unknown.items()
        if n in names
    ]
    if unknown:
        same = set(run_findings.unknown.values())
        lines = unknown if run_findings.answers or len(same) > 1 else [_unknown_words(same.pop())]
        st.html("".join(f'<div class="rs-quiet">{esc(line)}</div>' for line in lines))
    _link_to_run(run)


def _undecided_criteria(run: RunRow) -> str:
    """Return the criteria that the run's Agreement page calls undecided, with the reason."""
    return remembered(
        "rubric_undecided",
        browsing.results_state(store(), run),
        lambda: undecided_criteria(
            conclusion.conclusion_on(load_ratings.sheet_of_run(store(), run.id))
        ),
    )


def _unknown_words(reason: str) -> str:
    return f"Agreement unknown: {reason}." if reason else ""


def _passed_note(findings: RunFindings) -> str:
    """Return a note that a newer run cannot answer, and why the shown run does."""
    if findings.passed is None:
        return ""
    newer = one_line(findings.passed.name, 60)
    caption = f"A newer run, {newer}, shows nothing about agreement: {findings.why}."
    return f'<div class="rs-quiet">{esc(caption)}</div>'


def _run_findings(name: str) -> RunFindings | None:
    rubric_id = drafts.draft(name)["rubric_id"]
    return (
        None if rubric_id is None else diagnosis.newest_answer(store(), rubric_id, _findings_of_run)
    )


def _findings_of_run(run: RunRow) -> RunFindings:
    cache_key = (run.id, run.votes, run.failures_open)
    return remembered("rubric_heard", cache_key, lambda: diagnosis.run_findings(store(), run.id))


def _show_sentences(
    findings: list[tuple[str | None, Finding]], *, changed: bool, unknown: str = ""
) -> None:
    lines = ""
    for subject, finding in findings:
        head = f"<b>{esc(one_line(subject, 60))}</b> " if subject else ""
        serious = finding.severity == "serious"
        weight = tag("serious" if serious else "slight", "warn" if serious else "neutral")
        lines += f'<div class="rs-row">{weight}<span>{head}{esc(finding.sentence)}</span></div>'
    note = (
        '<div class="rs-quiet">The criterion has changed since that run asked it.</div>'
        if changed
        else ""
    )
    if unknown:
        lines += f'<div class="rs-quiet">{esc(unknown)}</div>'
    st.html(f'<div class="rs-card"><b>From the votes</b>{lines}{note}</div>')


def _link_to_run(run: RunRow) -> None:
    routes.draw_link(routes.AGREEMENT, label(f"Evidence: {run.name}", 60), {state.RUN: run.id})


PROBLEMS_SHOWN = 12


def show_problems(name: str) -> None:
    """Show the problems of the draft or its YAML, each with a link to its card."""
    refused = drafts.refused_text(name)
    if refused is not None:
        st.error(label(f"The YAML is not applied yet. {refused.message}"))
        problem_list(refused.problems)
        return
    draft = drafts.draft(name)
    problems = problems_of(draft)
    if not problems:
        _show_check_heading(
            sum(finding.serious for finding in findings_on(name) if not finding.dismissed)
        )
        return
    count = f"{len(problems)} problem{'s' * (len(problems) > 1)} to fix before saving"
    st.warning(count, icon=":material/build:")
    for place, problem in enumerate(problems[:PROBLEMS_SHOWN]):
        _problem_line(name, place, problem)
    if len(problems) > PROBLEMS_SHOWN:
        st.caption(f"and {len(problems) - PROBLEMS_SHOWN} more")


def _show_check_heading(serious: int) -> None:
    """Draw the heading of the check; it is green only without serious findings below."""
    if serious:
        findings = fmt.plural(serious, "serious finding")
        caption = f"This can be saved. {findings} below."
        st.warning(caption, icon=":material/warning:")
    else:
        st.success("Nothing to fix before saving: the rubric can be used.", icon=":material/check:")


def _problem_line(name: str, place: int, problem: Problem) -> None:
    uid, _ = locate_card(drafts.draft(name), problem.path)
    target = uid or _card_of_problem(problem)
    with st.container(horizontal=True, vertical_alignment="center"):
        problem_list([_with_criterion_name(name, problem, uid)])
        if target is not None and target != drafts.open_card(name):
            st.button(
                "Open",
                key=state.key(RUBRIC_ACT, name, "problem", place),
                type="tertiary",
                icon=":material/arrow_forward:",
                on_click=drafts.set_open_card,
                args=(name, target),
            )


def _card_of_problem(problem: Problem) -> str | None:
    if problem.path[:1] == ("decision",):
        return drafts.DECISION
    if problem.path[:2] == ("scoring", "length_penalty"):
        return drafts.PENALTY
    card_names = ("name", "description", "guidelines", "scoring")
    return drafts.ABOUT if problem.path and problem.path[0] in card_names else None


def _with_criterion_name(name: str, problem: Problem, uid: str | None) -> Problem:
    """Return the problem with the criterion's name instead of its number, if it has a name."""
    criterion = next((c for c in drafts.draft(name)["criteria"] if c["uid"] == uid), None)
    if criterion is None or not criterion["name"].strip():
        return problem
    return Problem(problem.message, problem.mend, (criterion["name"], *problem.path[2:]))
