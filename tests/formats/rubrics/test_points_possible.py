"""Rubrics that list criteria and the points possible for each."""

from __future__ import annotations

import pytest

from core.errors import InputError
from core.formats.known import kind_of
from core.formats.rubrics.forms import read_rubrics
from core.formats.votes.sources import open_bytes

LIST = "Criterion,Description,Points\nTask,Keeps to the task,2\nFacts,Tells facts,4\nTotal,,6\n"


def test_whole_points_up_to_those_possible_are_the_levels() -> None:
    for heads in ("Criterion,Description,Points", "Critère,Description,Barème",
                  "Kriterium,Beschreibung,max. Punkte", "Criterio,Descripción,Puntos"):  # fmt: skip
        text = LIST.replace("Criterion,Description,Points", heads)
        (read,) = read_rubrics(text, "a.csv")
        task, facts = read.value.criteria
        assert (task.requirement, task.weight, facts.weight) == ("Keeps to the task", 2, 4)
        # 0 to 4 of 4 points.
        steps = [("0", 0.0), ("1", 0.25), ("2", 0.5), ("3", 0.75), ("4", 1.0)]
        assert [(o.label, o.value) for o in facts.options] == steps
        said = " ".join(map(str, read.notices))
        assert "is left out: “Total”" in said
        assert "No levels are described" in said


def test_many_points_and_percentages_are_weights_of_questions() -> None:
    text = "Criterion,Weight (%)\nTask,60\nFacts,40\n"
    (read,) = read_rubrics(text, "a.csv")
    assert [(c.name, c.scale, c.weight) for c in read.value.criteria] == [
        ("Task", "binary", 60), ("Facts", "binary", 40),
    ]  # fmt: skip
    assert "yes-or-no questions with their weight: 'Task', 'Facts'" in str(read.notices[0])


def test_a_criterion_without_points_is_refused_with_its_line() -> None:
    with pytest.raises(InputError) as error:
        read_rubrics(LIST.replace("facts,4", "facts,some"), "a.csv")
    (problem,) = error.value.problems
    assert (problem.line, "'some'" in problem.message) == (3, True)


@pytest.mark.parametrize("heads", ["Name,Task,Points", "Student,Criterion,Points", "Name,Points"])
def test_marks_of_people_are_no_rubric(heads: str) -> None:
    cells = ",".join("Kim" if head != "Points" else "3" for head in heads.split(","))
    rows = "\n".join(cells.replace("Kim", f"Kim{n}") for n in range(4))
    assert kind_of(open_bytes(f"{heads}\n{rows}\n".encode(), "a.csv")) != "rubric"


def test_points_in_brackets_at_the_end_of_every_cell_are_those_of_the_levels() -> None:
    rows = "Form,Clear (5-6),Vague (2-4),None (0-1)\nTone,Warm (3),Dry (1),Rude (0)\n"
    (read,) = read_rubrics(
        f"Kriterium,voll erfüllt,teilweise erfüllt,nicht erfüllt\n{rows}", "a.csv"
    )
    form, tone = read.value.criteria
    # The most of each span: 1, 4 and 6 of 6 points; 0, 1 and 3 of 3.
    assert [round(o.value or 0, 3) for o in form.options] == [0.167, 0.667, 1]
    assert [round(o.value or 0, 3) for o in tone.options] == [0, 0.333, 1]
    assert [o.description for o in tone.options] == ["Rude", "Dry", "Warm"]
