"""autorubric (a requirement of the tests) with the same model, server and answers."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from typing import Any

from core.domain.dataset import Dataset
from core.domain.rubric import Rubric


def peer_figures(rubric: Rubric, data: Dataset, model: str, address: str, how: dict) -> str:
    """Grade with settings of its grader, two calls at once as here, and return its figures."""
    # Else its litellm looks for a newer list of prices on the network first.
    os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True")
    import litellm
    from autorubric import LLMConfig, RubricDataset
    from autorubric import Rubric as Theirs
    from autorubric.eval import evaluate
    from autorubric.graders import CriterionGrader

    litellm.suppress_debug_info = True
    settings = LLMConfig(
        f"openai/{model}", api_base=address, api_key="none", max_parallel_requests=2
    )
    asked = RubricDataset(
        prompt=data.items[0].prompt, rubric=Theirs.from_dict(_criteria(rubric)), name=data.name
    )
    for item in data.items:
        asked.add_item(submission=str(item.submission), description=item.id)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        grader = CriterionGrader(judge_model_config=settings, **how)
        grading = evaluate(asked, grader, show_progress=False, experiments_dir=folder)
        done = asyncio.run(grading)
    seconds = time.monotonic() - began
    cells = len(data.items) * len(rubric.criteria)
    reports = [result.report for result in done.item_results]
    verdicts = [one for report in reports for one in report.report or ()]
    votes = sum(one.error is None for one in verdicts)
    abstentions = sum(report.cannot_assess_count for report in reports)
    used = done.total_token_usage
    tokens = (
        f"{used.prompt_tokens} tokens in, {used.completion_tokens} out" if used else "no tokens"
    )
    lost = "; ".join(sorted({one.error[:60] for one in verdicts if one.error}))
    return (
        f"{votes:3}/{cells} votes, {abstentions} abstentions, {tokens}, {seconds:.0f} s"
        f"{f', lost: {lost}' if lost else ''}"
    )


def _criteria(rubric: Rubric) -> list[dict[str, Any]]:
    return [
        {"name": c.name, "weight": c.weight, "requirement": c.requirement}
        | (
            {}
            if c.scale == "binary"
            else {
                "scale_type": c.scale,
                "options": [
                    {"label": f"{o.label}: {o.description}", "value": o.value} for o in c.options
                ],
            }
        )
        for c in rubric.criteria
    ]
