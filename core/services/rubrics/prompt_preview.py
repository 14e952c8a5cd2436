"""Preview a rubric before any call: its prompt, and its score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core import clock
from core.domain import base
from core.domain.dataset import Item
from core.domain.gates import LengthPenalty, Precheck
from core.domain.library import DatasetRow, ItemFilter
from core.domain.panel import Asking, Judge, Style, instructions_for
from core.domain.rubric import Criterion, Rubric
from core.domain.votes import Cell
from core.errors import InputError
from core.identity import seeded_random
from core.judging.prompts import assembly
from core.judging.prompts.parts import shown_order
from core.judging.protocol import Question
from core.scoring import ItemScore, MeasuredTexts, Texts, explain, measured_texts, score_item
from core.scoring.gates import precheck_findings
from core.scoring.patterns import FoldedText
from core.scoring.points import penalty_for
from core.scoring.trace import PrecheckFinding
from core.services.rubrics.draft_shapes import RubricDraft
from core.services.rubrics.drafts import draft_payload
from core.store.store import Store

#: The judge name that seeds the preview's option order; judges see other orders.
REHEARSAL = "preview"
SAMPLE_ITEM = Item(
    id="sample",
    prompt="Why does ice float on water?",
    submission="Ice floats because it is less dense than liquid water.",
)


def preview_datasets(store: Store) -> list[DatasetRow]:
    """Return the datasets whose items can be previewed."""
    return store.datasets.list()


def first_items(store: Store, version_id: int, *, search: str = "", limit: int = 50) -> list[str]:
    """Return the ids of the first matching items of a dataset version."""
    rows = store.datasets.rows(version_id, ItemFilter(search=search), limit=limit)
    return [row.id for row in rows]


def preview_item(store: Store, version_id: int, item_id: str) -> Item:
    """Return one item with its dataset's prompt and reference filled in."""
    head = store.datasets.version(version_id).head
    return head.resolved(store.datasets.item(version_id, item_id))


def criterion_from(draft: RubricDraft, uid: str) -> Criterion:
    """Return one criterion of a draft, even if others are invalid; raise ``InputError`` if it is
    invalid.
    """
    index = next(i for i, c in enumerate(draft["criteria"]) if c["uid"] == uid)
    return base.build_model(Criterion, draft_payload(draft)["criteria"][index], "criterion")


def own_instructions(store: Store) -> dict[str, str]:
    """Return judges, then panels, that have their own instructions, by name."""
    judges = ((f"judge {row.name}", row.judge.instructions) for row in store.judges.list())
    panels = ((f"panel {row.name}", row.panel.asking.instructions) for row in store.panels.list())
    return {name: text for name, text in (*judges, *panels) if text.strip()}


def preview_prompt(
    criterion: Criterion,
    guidelines: str,
    item: Item,
    *,
    seed: int,
    shuffle: bool = True,
    name: str = "",
    instructions: str = "",
    style: Style = "full",
) -> tuple[tuple[int, ...], assembly.Prompt]:
    """Return exactly what a judge receives, with options shuffled by ``seed``, after their order.

    ``order[shown position]`` is an index into ``choices``.
    ``instructions`` are a judge's or panel's, with placeholders for the rubric's ``name`` and the
    criterion's; ``style`` is a panel's.
    """
    order = shown_order(
        criterion, seed=seed, item=item.id, judge=REHEARSAL, replicate=0, shuffle=shuffle
    )
    rubric = Rubric(guidelines=guidelines, criteria=(criterion,))
    cell = Cell(item.id, criterion.name, REHEARSAL)
    judge = Judge(name=REHEARSAL, model=REHEARSAL, instructions=instructions)
    filled = instructions_for(judge, Asking(), name, [criterion.name])
    asked = (cell, item, rubric, criterion, order, seed)
    question = Question(*asked, instructions=filled, style=style)
    return order, assembly.build_prompt(question)


def simulate_score(
    rubric: Rubric, answers: Mapping[str, int | None], *, length: int = 0, text: str = ""
) -> tuple[ItemScore, tuple[str, ...]]:
    """Return the score of these answers (indices into ``choices``), and sentences that explain it.

    ``length`` is the count for the length penalty; ``text`` is what the pre-checks read.
    """
    checks = measured_texts(rubric, Texts(text)).checks
    result = score_item(rubric, answers, texts=MeasuredTexts(length, checks))
    return result, tuple(explain(result.trace))


def penalty_examples(penalty: Mapping[str, Any]) -> list[tuple[int, float]]:
    """Return a length penalty at five lengths, from its plain data; empty if it is invalid."""
    try:
        policy = base.build_model(LengthPenalty, dict(penalty), "length penalty")
    except InputError:
        return []
    span = policy.max_cap - policy.free_budget
    lengths = sorted({policy.free_budget + span * part // 4 for part in range(5)})
    return [(n, penalty_for(policy, n)) for n in lengths]


def pre_check_matches(check: Mapping[str, Any], text: str) -> list[tuple[PrecheckFinding, str]]:
    """Return a pre-check's findings and excuses in a text, from its plain data.

    Raises ``InputError`` if the pre-check is invalid.
    """
    return precheck_findings(base.build_model(Precheck, dict(check), "pre-check"), FoldedText(text))


def best_answers(rubric: Rubric) -> dict[str, int]:
    """Return the answers with the most points; gates may still lower the score."""
    return {c.name: _best_choice(c) for c in rubric.criteria}


def worst_answers(rubric: Rubric) -> dict[str, int]:
    """Return the answers with the fewest points."""
    return {c.name: c.worst_of(c.scored) for c in rubric.criteria}


def random_answers(rubric: Rubric) -> dict[str, int]:
    """Return a random choice for every criterion, including abstentions."""
    dice = seeded_random("try", clock.draw_seed())
    return {c.name: dice.randrange(len(c.choices)) for c in rubric.criteria}


def _best_choice(criterion: Criterion) -> int:
    sign = 1.0 if criterion.weight >= 0 else -1.0
    return max(criterion.scored, key=lambda i: (sign * (criterion.value_of(i) or 0.0), -i))
