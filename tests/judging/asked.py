"""Questions that the tests of prompts ask, and the criteria and items in them."""

from dataclasses import replace
from typing import Any

from core.domain.dataset import Item, Message, Sections
from core.domain.rubric import Criterion, Option, Rubric
from core.domain.votes import Cell
from core.judging.protocol import Ask, Example, Question

CAPITAL = Criterion(name="capital", requirement="Names the capital of Australia.", weight=7.25)
DEPTH = Criterion(
    name="depth",
    requirement="How fully is the cause explained?",
    scale="ordinal",
    options=(
        Option(label="not at all", description="No cause is given.", value=0.125),
        Option(label="in part", description="A cause is named,\nbut not explained.", value=0.375),
        Option(label="fully", description="The cause is named and explained.", value=0.875),
        Option(label="not applicable", description="There is no cause to give.", na=True),
    ),
)
TONE = Criterion(
    name="tone",
    requirement="Which tone does the answer take?",
    scale="nominal",
    weight=0,
    forced_choice=True,
    options=(Option(label="warm", value=1), Option(label="curt", value=0)),
)
ASPIRIN = Criterion(
    name="aspirin", requirement="Recommends aspirin for a child's fever.", weight=-3.5
)
CHAT = (
    Message(role="user", content="What is the capital of Australia?"),
    Message(role="assistant", content="Canberra."),
)
THOUGHT = Sections(thinking="Sydney? No, Canberra.", output="It is Canberra.")
PLAIN = Item(id="i1", submission="It is Canberra.")


def question(
    criterion: Criterion,
    item: Item = PLAIN,
    *,
    guidelines: str = "",
    order: str = "",
    seed: int = 7,
) -> Question:
    others = () if criterion is TONE else (TONE,)
    rubric = Rubric(guidelines=guidelines, criteria=(criterion, *others))
    positions = tuple(map(int, order)) or tuple(range(len(criterion.choices)))
    cell = Cell(item.id, criterion.name, "judge")
    return Question(cell, item, rubric, criterion, positions, seed)


#: Prompt, reference and all.
FULL = PLAIN.model_copy(
    update={"prompt": "Name the capital of Australia.", "reference": "Canberra (since 1927)"}
)
EXAMPLES = (
    Example(
        FULL.model_copy(update={"id": "e1", "submission": "Sydney."}), "capital", 1, "Wrong city."
    ),
    Example(Item(id="e2", submission=CHAT, prompt="Which city?"), "capital", 0),
    Example(Item(id="e3", submission="It is nice there."), "depth", 3, "No cause is asked for."),
)


def whole(*criteria: Criterion, item: Item = PLAIN, orders: str = "", **more: Any) -> Question:
    """A question that asks all of ``criteria`` at once; ``orders`` has one word for each."""
    rubric = Rubric(guidelines=more.pop("guidelines", ""), criteria=criteria)
    words = orders.split() or ["".join(map(str, range(len(c.choices)))) for c in criteria]
    first, *others = (
        Ask(Cell(item.id, criterion.name, "judge"), criterion, tuple(map(int, word)))
        for criterion, word in zip(criteria, words, strict=True)
    )
    return Question(
        first.cell,
        item,
        rubric,
        first.criterion,
        first.order,
        7,
        tuple(others),
        mode="rubric",
        **more,
    )


#: With passages that the answer was to rest on, and an example that had others.
PASSAGES = FULL.model_copy(
    update={"context": {"passages": "[1] Canberra was chosen in 1908.", "policy": "Cite [n]."}}
)
OTHER_PASSAGES = Example(
    PASSAGES.model_copy(
        update={"id": "e4", "submission": "Bern [1].", "context": {"passages": "[1] Bern."}}
    ),
    "capital",
    1,
)
_FULL = question(CAPITAL, FULL, guidelines="Spelling does not matter.", order="102")
_SHOTS = replace(_FULL, examples=EXAMPLES[:2])
_WHOLE = whole(
    CAPITAL,
    DEPTH,
    ASPIRIN,
    item=FULL,
    orders="102 2013 012",
    guidelines="Spelling does not matter.",
    examples=EXAMPLES,
)
CASES = {
    "binary": question(CAPITAL),
    "binary-shuffled-full": _FULL,
    "ordinal": question(DEPTH, order="2013"),
    "nominal": question(TONE, order="10"),
    "penalty": question(ASPIRIN),
    "chat": question(CAPITAL, Item(id="i1", submission=CHAT)),
    "sections": question(CAPITAL, Item(id="i1", submission=THOUGHT)),
    "context": replace(question(CAPITAL, PASSAGES), examples=(OTHER_PASSAGES,)),
    "criterion-first": replace(_FULL, layout="criterion_first"),
    "examples": _SHOTS,
    "examples-criterion-first": replace(_SHOTS, layout="criterion_first"),
    "rubric": whole(CAPITAL, DEPTH, orders="102 2013"),
    "rubric-examples-full": _WHOLE,
    "rubric-criterion-first": replace(_WHOLE, layout="criterion_first"),
    "two-step": replace(_FULL, mode="two_step"),
    "brief": replace(_FULL, style="brief"),
    "brief-rubric": replace(_WHOLE, style="brief"),
    "brief-two-step": replace(question(DEPTH, order="2013"), mode="two_step", style="brief"),
    "two-step-criterion-first": replace(_SHOTS, mode="two_step", layout="criterion_first"),
}
