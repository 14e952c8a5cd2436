"""What of this machine a judge's calls would take where, but for what is usual."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.domain.panel import Judge
from core.judging.keys import Sending, redirecting_settings, secret_destinations
from tests.places import ROOT

AWAY = "https://stranger.example/v1"
AMAZON = {"aws_secret_access_key": {"env": "AWS_SECRET_ACCESS_KEY"}}


def found(environ: dict[str, str] | None = None, **settings: Any) -> list[tuple[str, str]]:
    judge = Judge(**{"name": "j", "model": "m", **settings})
    return [(one.what, one.where) for one in secret_destinations(judge, environ or {})]


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "gpt-4.1-mini", "key_env": "OPENAI_API_KEY"},
        {"model": "claude-haiku-4-5", "key_env": "ANTHROPIC_API_KEY"},
        {"model": "gemini/x", "key_env": "GOOGLE_API_KEY", "params": {"top_k": 3}},
        {"model": "groq/x"},
        {"api_base": "https://api.openai.com/v1", "key_env": "OPENAI_API_KEY"},
        {"api_base": "https://api.x.ai/v1/", "key_env": "XAI_API_KEY"},
        {"api_base": "http://127.0.0.1:8000/v1", "key_env": "HOSTED_VLLM_API_KEY"},
        {"api_base": "http://[::1]:8000/v1", "key_env": "LM_STUDIO_API_KEY"},
        {"api_base": AWAY},
        {"api_base": AWAY, "params": {"anything": "goes into the body"}},
        {"model": "lm_studio/x", "api_base": AWAY},
        {"model": "bedrock/x", "params": AMAZON | {"aws_region_name": "eu-west-1"}},
        {"kind": "classifier", "model": "", "key_env": "OPENAI_API_KEY"},
    ],
)
def test_the_usual_needs_no_question(settings: dict[str, Any]) -> None:
    assert found(**settings) == []


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({"model": "gpt-4.1", "key_env": "AWS_SECRET_ACCESS_KEY"}, ["openai"]),
        ({"model": "gpt-4.1", "key_env": "GROQ_API_KEY"}, ["openai"]),
        # Through the lean door these are asked at OpenAI, whatever they are called.
        ({"model": "gemini/x", "door": "openai", "key_env": "GEMINI_API_KEY"}, ["openai"]),
        ({"model": "mistral-x", "door": "openai", "key_env": "MISTRAL_API_KEY"}, ["openai"]),
        ({"api_base": AWAY, "key_env": "OPENAI_API_KEY"}, [AWAY]),
        # Only the beginning of an address says whose it is, and only whole and by TLS.
        ({"api_base": "https://api.openai.com.evil.example", "key_env": "OPENAI_API_KEY"}, None),
        ({"api_base": "http://api.openai.com/v1", "key_env": "OPENAI_API_KEY"}, None),
        ({"api_base": "https://api.openai.com:444/v1", "key_env": "OPENAI_API_KEY"}, None),
        ({"api_base": "https://evil.example/api.openai.com", "key_env": "OPENAI_API_KEY"}, None),
        ({"api_base": "http://127.0.0.1:8000/v1", "key_env": "OPENAI_API_KEY"}, None),
        ({"api_base": "http://127.0.0.1.evil.example", "key_env": "VLLM_API_KEY"}, None),
        ({"api_base": "http://[::1]/", "replicas": [AWAY], "key_env": "VLLM_API_KEY"}, [AWAY]),
        ({"api_base": AWAY, "params": {"extra_headers": {"X-A": {"env": "A"}}}}, [AWAY]),
    ],
)
def test_all_else_is_named(settings: dict[str, Any], sent: list[str] | None) -> None:
    assert [where for _, where in found(**settings)] == (sent or [settings["api_base"].rstrip("/")])


def test_an_address_of_the_environment_is_this_machines() -> None:
    own = {"AZURE_API_BASE": "https://mine.example/"}
    azure = {"model": "azure/x", "api_base": "https://mine.example", "key_env": "AZURE_API_KEY"}
    assert (found(own, **azure), len(found({}, **azure))) == ([], 1)


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "bedrock/x", "api_base": AWAY},
        {"model": "vertex_ai/x", "api_base": AWAY},
        {"model": "huggingface/https://stranger.example/x"},
        {"model": "bedrock/x", "params": {"aws_sts_endpoint": AWAY}},
        {"model": "bedrock/x", "params": {"aws_region_name": "stranger.example/?"}},
        {"model": "bedrock/x", "params": {"aws_region_name": "os.environ/GITHUB_TOKEN"}},
        {"model": "vertex_ai/x", "params": {"vertex_location": "stranger.example/"}},
        {"model": "gemini/x", "params": {"custom_llm_provider": "bedrock"}},
        {"model": "m", "api_base": AWAY, "door": "litellm", "params": {"azure_scope": AWAY}},
    ],
)
def test_litellms_own_sign_in_is_led_nowhere_unasked(settings: dict[str, Any]) -> None:
    ((what, _),) = found(**settings)
    assert what.startswith("the sign-in of ")
    assert not Sending(what, "").is_variable


def test_no_setting_of_writing_leads_anywhere() -> None:
    judge = Judge(name="j", model="gemini/x", params={"top_p": 0.5, "extra_headers": {"X": "y"}})
    assert redirecting_settings(judge) == []


def test_a_host_is_shown_as_it_is_looked_up() -> None:
    assert Sending("KEY", "https://\u0430pi.openai.com/v1").host == "xn--pi-6kc.openai.com"


def test_a_file_beside_what_is_graded_sets_no_variable(tmp_path: Path) -> None:
    # As in a notebook: there litellm would read a `.env` of the folder one works in.
    (tmp_path / ".env").write_text("OPENAI_API_BASE=https://stranger.example/v1\n")
    look = (
        "import os; from core.judging.providers.litellm_provider import load_litellm\n"
        "load_litellm(); print(os.environ.get('OPENAI_API_BASE', 'not set'))"
    )
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    environ.pop("OPENAI_API_BASE", None)
    done = subprocess.run(
        [sys.executable, "-c", look],
        cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout == "not set\n"
