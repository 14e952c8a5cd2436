"""Golden prompts: the exact bytes of every mode and layout.

``UPDATE_GOLDEN=1 pytest tests/judging/prompts/test_goldens.py`` rewrites the files in
``tests/golden``; read the difference before you commit it, and raise ``PROMPT_VERSION`` if
words changed.
"""

import json
import os

import pytest

from core.domain.votes import Segment
from core.judging.prompts.assembly import (
    assessment_repair,
    build_prompt,
    follow_up_messages,
    repair_message,
    truncated_repair,
)
from core.judging.prompts.layouts import chat_messages
from core.judging.prompts.wording import BRIEF_SYSTEM, SYSTEM
from tests.judging.asked import CASES
from tests.places import GOLDEN


@pytest.mark.parametrize("name", CASES)
def test_a_prompt_is_exactly_its_golden_file(name: str) -> None:
    prompt, question = build_prompt(CASES[name]), CASES[name]
    user = "".join(f"--- {s.role}\n{s.text}\n" for s in prompt.segments[1:])
    if question.mode == "two_step":
        later = follow_up_messages(question, "(the assessment)")
        user += "".join(f"--- {s.role}\n{s.text}\n" for s in later)
    text = f"{prompt.version}\n{user}--- schema\n{json.dumps(prompt.schema)}\n"
    _same_as_golden(f"prompt-{name}.txt", text)


@pytest.mark.parametrize("mode", SYSTEM)
def test_the_system_text_is_its_golden_file_and_the_same_for_every_question(mode: str) -> None:
    _same_as_golden(f"prompt-system-{mode}.txt", SYSTEM[mode])
    cases = [case for case in CASES.values() if case.mode == mode and case.style == "full"]
    assert {build_prompt(case).segments[0] for case in cases} == {Segment("system", SYSTEM[mode])}


@pytest.mark.parametrize("mode", BRIEF_SYSTEM)
def test_the_brief_text_is_its_golden_file_and_a_fifth_of_the_full_one(mode: str) -> None:
    _same_as_golden(f"prompt-system-brief-{mode}.txt", BRIEF_SYSTEM[mode])
    cases = [case for case in CASES.values() if case.mode == mode and case.style == "brief"]
    assert {build_prompt(case).segments[0] for case in cases} == {
        Segment("system", BRIEF_SYSTEM[mode])
    }
    assert 5 * len(BRIEF_SYSTEM[mode]) < len(SYSTEM[mode])
    assert build_prompt(cases[0]).version == "brief/1"


def test_the_repairs_are_their_golden_file() -> None:
    problem = "The reply was empty."
    segments = (
        repair_message(problem, CASES["ordinal"]),
        repair_message(problem, CASES["rubric"]),
        assessment_repair(problem),
        truncated_repair(CASES["ordinal"])[0],
        truncated_repair(CASES["rubric"])[0],
    )
    _same_as_golden("prompt-repairs.txt", "".join(f"{s.role}: {s.text}\n" for s in segments))


@pytest.mark.parametrize("name", CASES)
def test_no_place_in_the_words_is_left_unfilled_and_nothing_ends_in_blank_lines(name: str) -> None:
    for message in chat_messages(build_prompt(CASES[name]).segments):
        assert "{" not in message["content"].partition("# Your repl")[0]
        assert "\n\n\n" not in message["content"]
        assert message["content"] == message["content"].rstrip() or message["role"] == "system"


def _same_as_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_bytes(text.encode())
    assert text.encode() == path.read_bytes()
