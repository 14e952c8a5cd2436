"""A user's program as a judge: the item as JSON in, an option out.

Programs run only for grading from a terminal or from Python, never from a page.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion
from core.judging.function_judge import JudgeFunction

#: The most bytes that a program may print; more is a failure.
MOST_OUTPUT = 1_000_000
_SHOWN = 300


def commands_of(judges: Iterable[Judge]) -> dict[str, JudgeFunction]:
    """Return the command judges as functions, by judge name."""
    return {judge.name: command_function(judge) for judge in judges if judge.kind == "command"}


def command_function(spec: Judge) -> JudgeFunction:
    """Return the judge's program as an async function of an item and a criterion.

    The program prints an option's label, nothing or ``null`` to abstain, or JSON: ``{"option":
    LABEL, "reason": TEXT}``. A nonzero exit status, a timeout, and more than a megabyte of output
    are failures.
    """

    async def ask(item: Item, criterion: Criterion) -> Any:
        return _parsed_output(await _run_program(spec, _question_json(item, criterion)))

    return ask


def _question_json(item: Item, criterion: Criterion) -> bytes:
    question_data = {
        "item": item.model_dump(mode="json", exclude_defaults=True),
        "criterion": criterion.model_dump(mode="json", exclude_defaults=True),
        "options": [option.label for option in criterion.choices],
    }
    return (json.dumps(question_data, ensure_ascii=False) + "\n").encode("utf-8", "replace")


async def _run_program(spec: Judge, question: bytes) -> str:
    pipe = asyncio.subprocess.PIPE
    try:
        program = await asyncio.create_subprocess_exec(
            *spec.command, stdin=pipe, stdout=pipe, stderr=pipe
        )
    except OSError as error:
        raise RuntimeError(f"{spec.command[0]} cannot be started: {error.strerror}.") from None
    try:
        async with asyncio.timeout(spec.timeout):
            output, errors = await program.communicate(question)
    except TimeoutError:
        raise RuntimeError(f"No answer in {spec.timeout:g} s.") from None
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
    if program.returncode:
        message = " ".join(errors.decode("utf-8", "replace").split())[-_SHOWN:]
        raise RuntimeError(f"It ended with status {program.returncode}. {message}".strip())
    if len(output) > MOST_OUTPUT:
        raise RuntimeError(f"It printed {len(output):,} bytes; an option's label is wanted.")
    return output.decode("utf-8", "replace").strip()


def _parsed_output(output: str) -> Any:
    """Return the output as a function's result: a label, ``None``, or a label with a reason."""
    if output in ("", "null"):
        return None
    if not output.startswith("{"):
        return output.splitlines()[0].strip().strip('"') if "\n" not in output else output
    try:
        result = json.loads(output)
    except ValueError:
        return output
    return result.get("option"), str(result.get("reason") or "")
