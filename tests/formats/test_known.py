"""The list of formats: each recognises its own files, and none that another one is surer of."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from core.formats.known import FORMATS, known_in
from core.formats.rubrics.forms import RUBRIC_FORMS, read_rubrics, write_rubric
from core.formats.source.format import Fit, Format, format_of, formats_of
from core.formats.source.opened import Opened
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
    "EvalAssist, test case": "evalassist",
    "BiGGen Bench": "items",
    "Autorubric, dataset": "items",
    "YAML": "yaml",
    "Canvas": "canvas",
    "Moodle": "moodle",
    "Grid, pasted": "grid",
    "Grid, .xlsx": "grid",
    "Grid, .docx": "grid",
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
    known = known_in(Opened(text.encode(), f"plain.{ending}"))
    assert known is not None
    assert known[0].name == form
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
    known = known_in(Opened(test_gradescope.FIRST, "Question 1.csv"))
    assert known is not None
    assert (known[0].title, known[1].reason) == ("Gradescope", "two columns of Gradescope")
