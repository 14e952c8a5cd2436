"""The list of formats: each recognises its own files, and none that another one is surer of."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from core.formats.known import FORMATS, kind_of
from core.formats.office.workbook_writer import workbook
from core.formats.rubrics.forms import RUBRIC_FORMS, read_rubrics, write_rubric
from core.formats.source.format import Fit, Format, format_of, formats_of
from core.formats.source.opened import Opened
from core.formats.votes.reading import read_bundle
from core.formats.votes.sources import open_bytes
from core.formats.votes.tools.known_tools import tool_of
from tests.formats.brought import BROUGHT, Brought
from tests.formats.rubrics.rubric_tables import PLAIN
from tests.formats.votes import test_gradescope

#: Which format the files of `tests/formats/brought.py` are of; tables of no format are not here.
OF: Mapping[str, str] = {
    "Gradescope, a question": "gradescope",
    "Inspect, eval": "inspect",
    "Inspect, json": "inspect",
    "Inspect, zip": "inspect",
    "promptfoo, JSON": "promptfoo",
    "promptfoo, JSON lines": "promptfoo",
    "promptfoo, its rows": "promptfoo",
    "promptfoo, CSV": "promptfoo",
    "DeepEval": "deepeval",
    "Ragas, JSON": "ragas",
    "Ragas, CSV": "ragas",
    "OpenAI evals": "openai_evals",
    "MT-Bench": "mt_bench",
    "Chatbot Arena": "arena",
    "Langfuse, CSV": "langfuse",
    "Langfuse, JSON": "langfuse",
    "LangSmith": "langsmith",
    "Phoenix": "phoenix",
    "Argilla": "argilla",
    "Label Studio": "label_studio",
    "PaperBench, graded": "paperbench",
    "Label Studio, CSV": "label_studio",
    "Prodigy": "prodigy",
    "Open WebUI": "open_webui",
    "lm-evaluation-harness": "lm_eval",
    "OpenReview": "openreview",
    "EvalAssist, test case": "evalassist",
    "BiGGen Bench": "items",
    "Autorubric, dataset": "items",
    "YAML": "yaml",
    "Canvas": "canvas",
    "Moodle": "moodle",
    "Levels with descriptors": "descriptors",
    "Criteria with levels": "levels",
    "Grid, pasted": "grid",
    "Grid, .xlsx": "grid",
    "Grid, .docx": "grid",
    "Grid, Markdown": "grid",
    "Criteria and points": "possible",
    "unitxt": "unitxt",
    "HealthBench, rubric": "points",
    "PaperBench": "tasks",
    "Prometheus": "prometheus",
    "Ragas, described scores": "prometheus",
    "promptfoo, scoring criteria": "scoring_criteria",
    "OpenAI evals, model-graded": "model_graded",
    "ResearchRubrics": "points",
}


@pytest.mark.parametrize("brought", BROUGHT, ids=lambda one: one.format)
def test_a_file_is_of_its_format_and_no_other_is_as_sure(brought: Brought) -> None:
    known = list(formats_of(FORMATS, Opened(brought.data, brought.file)))
    if brought.format not in OF:
        assert not known
        return
    (first, surest), *others = known
    assert (first.name, brought.format) == (OF[brought.format], brought.format)
    assert brought.door in first.holds
    assert surest.reason
    assert all(fit.score < surest.score for _, fit in others)


def test_every_entry_has_a_file_of_its_own() -> None:
    written = {"csv", "json", "autorubric"}  # files that this product writes, below
    # A dataset with its rubric is recognised as items; it is read where a rubric is asked for.
    assert {known.name for known in FORMATS} - {"rubric_dataset"} == {*OF.values(), *written}
    assert len({known.name for known in FORMATS}) == len(FORMATS)


@pytest.mark.parametrize("form", RUBRIC_FORMS)
def test_a_written_rubric_is_of_the_form_it_was_written_as(form: str) -> None:
    text = write_rubric(PLAIN, form).text  # type: ignore[arg-type]
    ending = {"yaml": "yaml", "json": "json", "autorubric": "json"}.get(form, "csv")
    known = format_of(FORMATS, Opened(text.encode(), f"plain.{ending}"))
    assert known is not None
    assert known.name == form
    assert read_rubrics(text, f"plain.{ending}")[0].value.criteria


def test_a_new_format_is_one_entry() -> None:
    def fits(opened: Opened) -> Fit | None:
        return Fit(3, "its first word") if opened.start.startswith("%MARKS") else None

    marks = Format("marks", "Marks", ("items",), fits, lambda opened: opened.start.split()[1:])
    listed = (marks, *FORMATS)
    opened = Opened("%MARKS a b\n", "x.marks")
    found = format_of(listed, opened)
    assert found is marks
    assert found.read(opened) == ["a", "b"]
    assert format_of(listed, Opened("id,submission\na,x\n", "x.csv")) is None


def test_it_says_by_what_a_file_was_recognised() -> None:
    known, fit = next(formats_of(FORMATS, Opened(test_gradescope.FIRST, "Question 1.csv")))
    assert (known.title, fit.reason) == ("Gradescope", "two columns of Gradescope")


def test_a_sheet_of_votes_under_headings_of_a_grid_is_votes() -> None:
    # "Component" is a heading of grids; what the columns hold are answers, and no levels.
    heads = ["Key", "Summary", "Component", "Reported", "Alba", "Bruno", "Clara", "Agreed severity"]
    rows = [
        [
            f"T-{n}",
            f"Lamp {n} stays dark after the update",
            "Air",
            f"2026-03-0{n}",
            f"S{1 + n % 3}",
            f"S{1 + (n + n % 2) % 3}",
            f"S{1 + n % 3}",
            f"S{1 + n % 3}",
        ]
        for n in range(1, 8)
    ]
    data, _ = workbook({"Triage": [heads, *rows]})
    source = open_bytes(data, "triage.xlsx")
    assert format_of(FORMATS, source.first_file).name == "grid"  # type: ignore[union-attr]
    assert kind_of(source) == "wide"


def test_decimal_commas_are_numbers() -> None:
    table = b"item;rater;score\na;kim;3,5\na;lee;4\nb;kim;2,5\nb;lee;3,5\n"
    bundle = read_bundle(open_bytes(table, "marks.csv"), "long")
    (criterion,) = bundle.rubric.criteria
    assert criterion.scale == "ordinal"
    assert [option.label for option in criterion.options] == ["2.5", "3.5", "4"]


#: What becomes of a field of each tool, whatever its values are.
ROLES = {
    "deepeval": ("metricsData[].reason", "reason"),
    "promptfoo": ("gradingResult.componentResults[].assertion.type", "criterion"),
    "ragas": ("faithfulness", "label"),
    "openai_evals": ("results[].name", "criterion"),
    "mt_bench": ("judge[]", "rater"),
    "arena": ("winner", "label"),
    "langfuse": ("source", "kind"),
    "langsmith": ("key", "criterion"),
    "phoenix": ("annotator_kind", "kind"),
    "lm_eval": ("doc_id", "item"),
    "openreview": ("content.soundness.value", "label"),
}


def test_each_field_of_a_tools_file_has_its_role() -> None:
    found = dict[str, dict[str, str]]()
    for brought in BROUGHT:
        file = Opened.of(brought.data, brought.file)
        if brought.door == "votes" and (tool := tool_of(file)) is not None:
            roles = tool.read(file).roles
            assert all(role.why for role in roles)
            found.setdefault(tool.name, {}).update({r.column: r.role for r in roles})
    for tool_name, (path, role) in ROLES.items():
        assert found[tool_name].get(path) == role, found[tool_name]
    # What is not read is said, too.
    assert found["arena"]["tstamp"] == found["langfuse"]["id"] == "ignored"
