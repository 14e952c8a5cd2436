"""Problems that would prevent a judge from answering, found before a run is created.

A judge without its key, or with settings that its client cannot send, would fail on every call.
With separate workers (``RUBRIC_STUDIO_RUNNER=none``) only they know the keys.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from core.domain.panel import CODE_KINDS, Judge
from core.domain.secrets import HOW, has_removed_secret, variable_names
from core.errors import InputError, Problem
from core.judging.function_judge import JudgeFunction
from core.judging.local import model_file
from core.judging.providers.base import RESERVED_PARAMS
from core.judging.providers.choice import provider_for
from core.services.judges.registry import env_status, key_status
from core.settings import load_settings
from core.text.names import visible

_OWN = "Use off, low, medium or high instead"

#: Functions of this program, by the name of their judge.
Functions = Mapping[str, JudgeFunction]
NO_FUNCTIONS: Functions = MappingProxyType({})


_NOT_HERE = {
    "function": "is a Python function: only the program that brings it can ask it.",
    "command": "is a program: it is run only for who starts grading at a terminal or from Python.",
}
_ELSEWHERE = {
    "function": "Grade with `rubric_studio` from Python, or take it out of the panel.",
    "command": "Use `rubric-studio grade` or `resume`, or take it out of the panel.",
}


def code_elsewhere(
    judges: Iterable[Judge], functions: Functions = NO_FUNCTIONS
) -> tuple[Problem, ...]:
    """Return a problem for each judge whose code cannot run here, and say where it can."""
    return tuple(
        Problem(_NOT_HERE[judge.kind] + _runner_words(judge), _ELSEWHERE[judge.kind], (judge.name,))
        for judge in judges
        if judge.kind in CODE_KINDS and judge.name not in functions
    )


def _runner_words(judge: Judge) -> str:
    return f" It runs: {visible(shlex.join(judge.command))}" if judge.command else ""


def require_functions(judges: Iterable[Judge], functions: Functions) -> None:
    """Raise ``InputError`` for judges whose code belongs to another program."""
    problems = code_elsewhere(judges, functions)
    if problems:
        raise InputError("These judges cannot be asked here.", problems)


def require_ready(judges: Iterable[Judge], environ: Mapping[str, str] | None = None) -> None:
    """Raise an error for judges that cannot be called with their settings.

    Raises:
        InputError: a key is missing, or a thinking setting cannot be sent; each with its judge.
    """
    problems = [problem for judge in judges for problem in _missing_requirements(judge, environ)]
    if problems:
        raise InputError("These judges cannot be asked.", tuple(problems))


def judge_of_model_file(path: str) -> Judge:
    """Return a judge whose model is a file on this machine.

    Raises:
        InputError: the file is not a model, or llama.cpp is not installed.
    """
    judge = model_file.judge_of_file(path.strip())
    if missing := model_file.missing_requirement(judge):
        raise InputError("This file cannot be a judge.", (Problem(*missing, (judge.name,)),))
    return judge


def _missing_requirements(judge: Judge, environ: Mapping[str, str] | None) -> Iterator[Problem]:
    if judge.offline:
        return
    if (missing := model_file.missing_requirement(judge)) and load_settings(
        environ
    ).runner != "none":
        yield Problem(*missing, (judge.name, "model"))
    name, state = key_status(judge, environ)
    if state == "not set" and load_settings(environ).runner != "none":
        yield Problem(
            "has no key.", f"Put it into the environment variable {name}.", (judge.name, "key_env")
        )
    yield from _problems_in_params(judge, environ)
    budget = judge.thinking
    if not isinstance(budget, int):
        return
    place = (judge.name, "thinking")
    if provider_for(judge) != "litellm":
        message = "is a budget in tokens, for which the OpenAI protocol has no field."
        yield Problem(message, f"{_OWN}, or give the budget in params under its name.", place)
    elif judge.max_tokens is not None and budget >= judge.max_tokens:
        message = f"takes all of max_tokens ({judge.max_tokens:,}) and leaves none for the answer."
        yield Problem(message, "Lower it, or raise max_tokens.", place)


def _problems_in_params(judge: Judge, environ: Mapping[str, str] | None) -> Iterator[Problem]:
    place = (judge.name, "params")
    for name in sorted(RESERVED_PARAMS & judge.params.keys()):
        yield Problem("is set elsewhere.", "Take it out.", (*place, name))
    if has_removed_secret(judge.params):
        yield Problem("lacks a value that was removed: it could be a secret.", HOW, place)
    if load_settings(environ).runner == "none":
        return
    for name, is_set in env_status(variable_names(judge.params), environ).items():
        if not is_set:
            advice = f"Put the value into the environment variable {name}."
            yield Problem("names a variable that is not set.", advice, place)
