"""Nobody's text is read as Markdown: a picture in it would be fetched, a link shown as ours."""

from __future__ import annotations

import ast

from core.text.parser import parsed
from tests.pages.ui.markdown_walk import PAGES, Walk

#: What the walk cannot follow, looked at by a person: tables and sentences in the code (caption,
#: words, says, help), ids and counts, dates, names of roles and rules. None of them is written by a
#: user or a model. Before adding one here, check where it comes from; else wrap it in `label`.
LOOKED_AT = {
    # Roles and addresses: what is in a member's row was checked to be an address.
    ("pages/members/people.py", "access.new_members"),
    ("pages/judges/checks.py", "number"),
    ("pages/judges/try_out.py", "caption"),
    ("pages/datasets/importing.py", "tool"),
    ("pages/datasets/importing.py", "description"),
    ("pages/datasets/splitting.py", "part.capitalize()"),
    ("pages/rubric/page.py", "rubric_draft.EXAMPLES"),
    ("pages/rubric/editor.py", "effect_words"),
    ("pages/rubric/checks.py", "count"),
    ("pages/rubric/checks.py", "caption"),
    ("pages/rubric/versions/history.py", "caption"),
    ("pages/rubric/form/form.py", "caption"),
    ("pages/rubric/form/rules.py", "description"),
    ("pages/rubric/form/rules.py", "caption"),
    ("pages/rubric/versions/graded_runs.py", "behind"),
    ("pages/rubric/versions/graded_runs.py", "run.rubric_number"),
    ("pages/rubric/versions/applying.py", "last.from_number"),
    ("pages/rubric/preview.py", "penalty.count"),
    ("pages/rubric/preview.py", "caption"),
    ("pages/rubric/workbench/asking.py", "caption"),
    ("pages/pairwise/questions.py", "overall_question().requirement"),
    ("pages/imports/page.py", "name"),
    ("pages/imports/page.py", "caption"),
    ("pages/imports/reading.py", "preview.run"),
    ("pages/imports/page.py", "run"),
    ("pages/judges/judge.py", "judge_field.label"),
    ("pages/judges/judge.py", "judge_field.says"),
    ("pages/judges/judge.py", "caption"),
    ("pages/judges/panel.py", "list(rules.values())"),
    ("pages/review_findings/all_cells.py", "unseen.draw"),  # a count
    ("pages/run/open_cell.py", "title"),
    ("pages/run/grid.py", "text"),
    ("pages/ui/run_status.py", "lifecycle.lost_calls_words(lost_calls)"),
    ("pages/runs/choosing.py", "noun"),
    ("pages/ui/run_form.py", "estimate.twins.in_words()"),
    ("pages/runs/page.py", "count"),
    ("pages/runs/page.py", "labelled"),
    ("pages/spot/result.py", "caption"),
    ("pages/spot/page.py", "caption"),
    ("pages/spot/page.py", "used"),
    ("pages/spot/submission.py", "number"),
    ("pages/agreement/raters.py", "few_items_warning(len(chosen.sheet.items))"),
    ("pages/agreement/confusion.py", "few_items_warning(close.n)"),
    ("pages/agreement/findings.py", "_chart_caption(examination.evidence[int(place)])"),
    ("pages/agreement/findings.py", "diagnosis.summary"),
    ("pages/agreement/page.py", "small"),
    ("pages/agreement/criteria.py", "few_items_warning(pair.n)"),
    # What a share of equal answers is called: one of two words in the code.
    ("pages/agreement/criteria.py", "same"),
    ("pages/agreement/criteria.py", "same.lower()"),
    ("pages/ui/blocks/drawn.py", "block.first"),
    ("pages/report/page.py", "paper.made"),
    ("pages/arena/answers.py", "caption"),
    ("pages/arena/page.py", "run_id"),
    ("pages/grade/own.py", "sitting.done"),  # a count
    ("pages/grade/own.py", "words[kind]"),
    ("pages/grade/own.py", "HELP.get(kind, DRAWN)"),  # three texts in the code
    ("pages/report/back.py", "result"),  # counts
    ("pages/ui/run_form.py", "cost_estimate.BRIEF_SUITS"),
    ("pages/review_item/cards.py", "key"),
    ("pages/review_item/cards.py", "caption"),
    ("pages/queues/page.py", "run"),
    ("pages/queues/making.py", "help"),
    ("pages/queues/making.py", "caption"),
    ("pages/ui/asking.py", "says"),
    ("pages/ui/asking.py", "caption"),
    ("pages/ui/asking.py", "help_text"),
    ("pages/ui/asking.py", "words.FEW_SHOT_SAYS"),
    ("pages/ui/asking.py", "words.INSTRUCTIONS_SAYS"),
    ("pages/ui/asking.py", "words.LAYOUT_SAYS"),
    ("pages/ui/identity.py", "person.role"),
    ("pages/ui/identity.py", "user.role"),
    ("pages/ui/asking.py", "condition"),
    ("pages/ui/asking.py", "words.CASCADE_SAYS"),
    ("pages/ui/asking.py", "words.CONFIDENCE_SAYS"),
    ("pages/ui/asking.py", "words.EARLY_STOP_SAYS"),
    ("pages/ui/asking.py", "words.SHADOW_SAYS"),
    ("pages/ui/widgets.py", "caption"),
    ("pages/ui/widgets.py", "title"),
}


def test_every_text_that_a_widget_reads_as_markdown_is_ours_or_went_through_label() -> None:
    walk = Walk()
    found = {
        (place, ast.unparse(doubt))
        for place, text, within in walk.sinks()
        for doubt in walk.doubts(text, within)
    }
    assert found == LOOKED_AT


def test_the_walk_sees_a_text_of_somebody_else_through_names_and_calls() -> None:
    bad = """
def show(item):
    for name, text in item.context.items():
        _folded(words(name), text)
    st.caption(f"{len(item.tags)} tags of {item.name}")
def _folded(words, text):
    with st.expander(words, help="ours"):
        st.caption(label(text))
"""
    walk = Walk()
    tree = parsed(ast.parse, bad)
    walk.trees = {PAGES / "bad.py": tree}
    walk.functions, walk.calls, walk.within = {}, {}, {}
    walk.read(tree)
    unsafe = [ast.unparse(d) for _, t, at in walk.sinks() for d in walk.doubts(t, at)]
    assert unsafe == ["item.name", "words"]
