"""In programs that find this first: a judge that hangs in C, deaf to signals, on one cell.

``HANGS_ON`` names it, its parts with blanks between; at that of ``ENDS_ON`` the process is gone.
"""

import os
import re
import signal

from core.domain.votes import AskedOutcome
from core.judging.asking.llm_judge import LLMJudge
from core.judging.protocol import Question

_ask = LLMJudge.ask


async def _hanging(self: LLMJudge, question: Question) -> AskedOutcome:
    cell = " ".join(map(str, question.cell))
    if cell == os.environ.get("HANGS_ON"):
        re.match("(a+)+$", "a" * 64 + "b")
    if cell == os.environ.get("ENDS_ON"):
        os.kill(os.getpid(), signal.SIGKILL)
    return await _ask(self, question)


LLMJudge.ask = _hanging  # type: ignore[method-assign]
