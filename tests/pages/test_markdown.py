"""Nobody's text is read as Markdown: a picture in it would be fetched, a link shown as ours."""

from __future__ import annotations

import ast

from tests.pages.markdown_walk import PAGES, Walk

#: What the walk cannot follow, looked at by a person: tables and sentences in the code (words,
#: says, help), ids and counts, dates, names of roles and rules. None of them is written by a user
#: or a model. Whoever adds one here has looked where it comes from; else wrap it in `label`.
LOOKED_AT: dict[str, set[str]] = {
    "author/_datasets/importing.py": {
        "what",
    },
    "author/_datasets/items.py": {
        "words",
    },
    "author/_datasets/parting.py": {
        "part.capitalize()",
    },
    "author/_help/common.py": {
        "words",
    },
    "author/_help/drafting.py": {
        "drafting.EXAMPLES",
    },
    "author/_rubric/answers.py": {
        "words",
    },
    "author/_rubric/checking.py": {
        "count",
    },
    "author/_rubric/checks.py": {
        "words",
    },
    "author/_rubric/conflict.py": {
        "words",
    },
    "author/_rubric/form.py": {
        "words",
    },
    "author/_rubric/rules.py": {
        "says",
        "words",
    },
    "author/_rubric/runs_card.py": {
        "behind",
    },
    "author/_rubric/spread.py": {
        "run.rubric_number",
    },
    "author/_rubric/spread_acts.py": {
        "last.from_number",
    },
    "author/_rubric/trying.py": {
        "penalty.count",
        "words",
    },
    "author/_workbench/asking.py": {
        "words",
    },
    "author/_workbench/one_row.py": {
        "words",
    },
    "grade/_contests/chosen.py": {
        "words",
    },
    "grade/_contests/designing.py": {
        "overall().requirement",
    },
    "grade/_import/form.py": {
        "name",
        "says",
        "words",
    },
    "grade/_import/found.py": {
        "preview.run",
    },
    "grade/_import/result.py": {
        "run",
    },
    "grade/_judges/editing.py": {
        "one.label",
        "one.says",
        "says",
    },
    "grade/_judges/panel_editing.py": {
        "list(words.values())",
    },
    "grade/_run/items.py": {
        "words",
    },
    "grade/_run/status.py": {
        "grading.lost_words(lost)",
    },
    "grade/_runs/outlook.py": {
        "estimate.twins.in_words()",
    },
    "grade/_runs/planning.py": {
        "count",
        "learning.labelled",
        "what",
        "what.capitalize()",
    },
    "grade/_runs/sweeping.py": {
        "help",
        "name",
    },
    "grade/_spot/comparing.py": {
        "words",
    },
    "grade/_spot/form.py": {
        "words",
    },
    "grade/_spot/judges.py": {
        "used",
    },
    "grade/_spot/submission.py": {
        "number",
    },
    "measure/_agreement/ceiling.py": {
        "few(len(chosen.sheet.items))",
    },
    "measure/_agreement/closeup.py": {
        "few(close.n)",
    },
    "measure/_agreement/findings.py": {
        "_caption(found.findings[int(one)])",
        "found.promise",
    },
    "measure/_agreement/overview.py": {
        "small",
    },
    "measure/_agreement/scores.py": {
        "few(pair.n)",
    },
    "measure/_compare/overview.py": {
        "' and run '.join(map(str, going))",
    },
    "measure/_report/overview.py": {
        "made.made",
    },
    "review/_arena/answers.py": {
        "words",
    },
    "review/_arena/screen.py": {
        "run_id",
    },
    "review/_item/cards.py": {
        "words",
    },
    "review/_queues/listing.py": {
        "run",
    },
    "review/_queues/settings_form.py": {
        "help",
        "words",
    },
    "review/_record/away.py": {
        "help",
        "words",
    },
    "ui/asking.py": {
        "examples_from",
        "head",
        "says",
        "words.FEW_SHOT_SAYS",
        "words.LAYOUT_SAYS",
    },
    "ui/grades.py": {
        "words",
    },
    "ui/identity.py": {
        "who.role",
    },
    "ui/seating.py": {
        "says",
        "when",
        "words.CASCADE_SAYS",
        "words.CONFIDENCE_SAYS",
        "words.EARLY_STOP_SAYS",
        "words.SHADOW_SAYS",
    },
    "ui/widgets.py": {
        "caption",
        "title",
    },
}


def test_every_text_that_a_widget_reads_as_markdown_is_ours_or_went_through_label() -> None:
    walk = Walk()
    found: dict[str, set[str]] = {}
    for place, text, within in walk.sinks():
        for doubt in walk.doubts(text, within):
            found.setdefault(place, set()).add(ast.unparse(doubt))
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
