"""Nobody's text is read as Markdown: a picture in it would be fetched, a link shown as ours."""

from __future__ import annotations

import ast

from tests.pages.markdown_walk import PAGES, Walk

#: What the walk cannot follow, looked at by a person: tables and sentences in the code (words,
#: says, help), ids and counts, dates, names of roles and rules. None of them is written by a user
#: or a model. Whoever adds one here has looked where it comes from; else wrap it in `label`.
LOOKED_AT = {
    ("pages/author/_datasets/importing.py", "what"),
    ("pages/author/_datasets/items.py", "words"),
    ("pages/author/_datasets/parting.py", "part.capitalize()"),
    ("pages/author/_help/common.py", "words"),
    ("pages/author/_help/drafting.py", "drafting.EXAMPLES"),
    ("pages/author/_rubric/answers.py", "words"),
    ("pages/author/_rubric/checking.py", "count"),
    ("pages/author/_rubric/checks.py", "words"),
    ("pages/author/_rubric/conflict.py", "words"),
    ("pages/author/_rubric/form.py", "words"),
    ("pages/author/_rubric/rules.py", "says"),
    ("pages/author/_rubric/rules.py", "words"),
    ("pages/author/_rubric/runs_card.py", "behind"),
    ("pages/author/_rubric/spread.py", "run.rubric_number"),
    ("pages/author/_rubric/spread_acts.py", "last.from_number"),
    ("pages/author/_rubric/trying.py", "penalty.count"),
    ("pages/author/_rubric/trying.py", "words"),
    ("pages/author/_workbench/asking.py", "words"),
    ("pages/author/_workbench/one_row.py", "words"),
    ("pages/grade/_contests/chosen.py", "words"),
    ("pages/grade/_contests/designing.py", "overall().requirement"),
    ("pages/grade/_import/form.py", "name"),
    ("pages/grade/_import/form.py", "says"),
    ("pages/grade/_import/form.py", "words"),
    ("pages/grade/_import/found.py", "preview.run"),
    ("pages/grade/_import/result.py", "run"),
    ("pages/grade/_judges/editing.py", "one.label"),
    ("pages/grade/_judges/editing.py", "one.says"),
    ("pages/grade/_judges/editing.py", "says"),
    ("pages/grade/_judges/panel_editing.py", "list(words.values())"),
    ("pages/grade/_run/items.py", "words"),
    ("pages/grade/_run/status.py", "grading.lost_words(lost)"),
    ("pages/grade/_runs/judging.py", "what"),
    ("pages/grade/_runs/judging.py", "what.capitalize()"),
    ("pages/grade/_runs/outlook.py", "estimate.twins.in_words()"),
    ("pages/grade/_runs/planning.py", "count"),
    ("pages/grade/_runs/planning.py", "learning.labelled"),
    ("pages/grade/_runs/sweeping.py", "help"),
    ("pages/grade/_runs/sweeping.py", "name"),
    ("pages/grade/_spot/comparing.py", "words"),
    ("pages/grade/_spot/form.py", "words"),
    ("pages/grade/_spot/judges.py", "used"),
    ("pages/grade/_spot/submission.py", "number"),
    ("pages/measure/_agreement/ceiling.py", "few(len(chosen.sheet.items))"),
    ("pages/measure/_agreement/closeup.py", "few(close.n)"),
    ("pages/measure/_agreement/findings.py", "_caption(found.findings[int(one)])"),
    ("pages/measure/_agreement/findings.py", "found.promise"),
    ("pages/measure/_agreement/overview.py", "small"),
    ("pages/measure/_agreement/scores.py", "few(pair.n)"),
    ("pages/measure/_compare/overview.py", "' and run '.join(map(str, going))"),
    ("pages/measure/_report/overview.py", "made.made"),
    ("pages/review/_arena/answers.py", "words"),
    ("pages/review/_arena/screen.py", "run_id"),
    ("pages/review/_item/cards.py", "words"),
    ("pages/review/_queues/listing.py", "run"),
    ("pages/review/_queues/settings_form.py", "help"),
    ("pages/review/_queues/settings_form.py", "words"),
    ("pages/review/_record/away.py", "help"),
    ("pages/review/_record/away.py", "words"),
    ("pages/ui/asking.py", "examples_from"),
    ("pages/ui/asking.py", "head"),
    ("pages/ui/asking.py", "says"),
    ("pages/ui/asking.py", "words.FEW_SHOT_SAYS"),
    ("pages/ui/asking.py", "words.LAYOUT_SAYS"),
    ("pages/ui/grades.py", "words"),
    ("pages/ui/identity.py", "who.role"),
    ("pages/ui/seating.py", "says"),
    ("pages/ui/seating.py", "when"),
    ("pages/ui/seating.py", "words.CASCADE_SAYS"),
    ("pages/ui/seating.py", "words.CONFIDENCE_SAYS"),
    ("pages/ui/seating.py", "words.EARLY_STOP_SAYS"),
    ("pages/ui/seating.py", "words.SHADOW_SAYS"),
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
    tree = ast.parse(bad)
    walk.trees = {PAGES / "bad.py": tree}
    walk.functions, walk.calls, walk.within = {}, {}, {}
    walk.read(tree)
    unsafe = [ast.unparse(d) for _, t, at in walk.sinks() for d in walk.doubts(t, at)]
    assert unsafe == ["item.name", "words"]
