"""The process that computes checks, with requests and answers as lines.

It exits when its input ends. The parent process handles signals and kills it. If the parent is gone
and a check runs forever, the process ends itself, even if a library holds the interpreter lock.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Any

from core.domain.checks import CriterionChecks
from core.judging.checks.answers import CheckError, answer_by_checks

#: The line that reports that the process is ready.
READY = b"ready\n"
#: Seconds after which the process ends itself, and its memory limit in bytes.
LAST, MEMORY = 10.0, 1 << 29
#: The most characters of a reason.
MOST_WHY = 10_000


def json_line(value: Any) -> bytes:
    """Return a value as a line of JSON; lone surrogates are preserved."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def value_of_line(line: bytes) -> Any:
    r"""Return the value of a line.

    >>> value_of_line(json_line(["\ud800", None])) == ["\ud800", None]
    True
    """
    return json.loads(line.decode("utf-8", "surrogatepass"))


def main() -> None:
    """Answer requests until the input ends.

    Each input line holds the checks of some criteria (`checks`), texts of some items (`items`) and
    the pairs to answer (`asks`). Each pair gets one line of output.
    """
    _is_orphaned()
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - no file, but a descriptor
        _write_line(READY)
        for line in sys.stdin.buffer:
            request = value_of_line(line)
            for criterion, item in request["asks"]:
                faulthandler.dump_traceback_later(LAST, exit=True, file=nowhere)
                result = _evaluate_checks(request["checks"][criterion], request["items"][item])
                faulthandler.cancel_dump_traceback_later()
                _write_line(json_line(result))


def _write_line(line: bytes) -> None:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _evaluate_checks(checks: str, texts: dict[str, str]) -> tuple[str | None, str, bool]:
    """Return the option's label, the reason, and whether it is a failure."""
    try:
        label, explanation = answer_by_checks(_parse_checks(checks), texts)
    except CheckError as error:
        return None, str(error), True
    except MemoryError:
        return None, "The check takes too much memory for this text.", True
    except RecursionError:
        return None, "The check is nested too deep, or refers to itself without end.", True
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return None, f"The check cannot be worked out for this text: {reason[:200]}", True
    return label, explanation[:MOST_WHY], False


@lru_cache(maxsize=256)
def _parse_checks(checks: str) -> CriterionChecks:
    return CriterionChecks.model_validate(json.loads(checks))


def _is_orphaned() -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    with suppress(ImportError, ValueError, OSError):  # not every system can limit memory
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        main()
