"""What would fail on every call is found before a run is made."""

from __future__ import annotations

import pytest

from core.domain.panel import Judge
from core.errors import InputError
from core.services.judges.readiness import require_ready
from core.services.judges.registry import key_status

KEYED = Judge(name="ada", model="m", api_base="http://127.0.0.1:9", key_env="ADA_KEY")


def test_a_key_that_is_not_there_is_named_with_its_judge() -> None:
    with pytest.raises(InputError) as error:
        require_ready([KEYED], {})
    (problem,) = error.value.problems
    assert problem.path == ("ada", "key_env")
    assert "ADA_KEY" in problem.mend
    require_ready([KEYED], {"ADA_KEY": "k"})


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("together_ai/openai/gpt-oss-20b", "TOGETHER_API_KEY"),
        ("openrouter/openai/gpt-4o-mini", "OR_API_KEY"),
        ("azure/gpt-4o", "AZURE_AD_TOKEN"),
        ("claude-haiku-4-5", "ANTHROPIC_AUTH_TOKEN"),
        ("gemini/gemini-2.5-flash", "GOOGLE_API_KEY"),
    ],
)
def test_a_key_is_found_in_whichever_variable_its_door_looks_for_it(model: str, name: str) -> None:
    judge = Judge(name="ada", model=model)
    require_ready([judge], {name: "k"})
    assert key_status(judge, {name: "k"}) == (name, "set")
    with pytest.raises(InputError, match="has no key"):
        require_ready([judge], {})


def test_a_model_file_needs_no_key() -> None:
    assert key_status(Judge(name="ada", model="file:/models/small.gguf")) == ("", "not needed")


def test_where_other_processes_ask_only_they_know_the_keys() -> None:
    require_ready([KEYED], {"RUBRIC_STUDIO_RUNNER": "none"})


def test_every_judge_that_cannot_be_asked_is_named_at_once() -> None:
    budget = KEYED.model_copy(update={"name": "bob", "thinking": 2000})
    greedy = Judge(name="cy", model="anthropic/x", thinking=4000, max_tokens=4000)
    environ = {"ADA_KEY": "k", "ANTHROPIC_API_KEY": "k"}
    with pytest.raises(InputError) as error:
        require_ready([KEYED, budget, greedy], environ)
    assert [p.path for p in error.value.problems] == [("bob", "thinking"), ("cy", "thinking")]
    require_ready([greedy.model_copy(update={"max_tokens": 4001})], environ)
    require_ready([Judge(name="offline", kind="classifier")], {})


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"extra_headers": {"X-Key": {"env": "NO_SUCH_VALUE"}}}, "NO_SUCH_VALUE"),
        ({"extra_headers": {"X-Key": "[removed]"}}, "was removed"),
        ({"stream": True}, "is set elsewhere"),
    ],
)
def test_params_that_no_call_could_be_made_with_are_refused(
    params: dict[str, object], words: str
) -> None:
    judge = Judge(name="ada", model="ada", api_base="http://127.0.0.1:9/v1", params=params)
    with pytest.raises(InputError, match=r"cannot be asked") as refused:
        require_ready([judge], {})
    assert words in str(refused.value)
    require_ready([judge.model_copy(update={"params": {"seed": 1}})], {})
