"""Requests to a writing model: fixed wording, then the material in fences.

The same request gives the same bytes. Weights are shown only if the model may change them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from core.domain.dataset import Item
from core.domain.review import Case
from core.domain.rubric import MET, UNMET, Criterion, Rubric
from core.domain.votes import Segment
from core.judging.prompts.assembly import Prompt
from core.judging.prompts.parts import background_texts, code_for, one_line, text_block
from core.judging.prompts.reply_parsing import Schema, ids_of, object_schema
from core.judging.writing import writer as words

Length = Literal["short", "medium", "long"]
PARTS = ("requirement", "option", "label", "weight", "guidelines")
#: The most characters quoted from an example's or a case's text. A remark replaces the rest.
LONGEST_QUOTE = 4000


def draft_writing(task: str, wishes: str, examples: Sequence[tuple[str, str]], seed: int) -> Prompt:
    """Return the request to draft a rubric. ``examples`` are submissions, each with the raters'
    labels in words.
    """
    titled = [("TASK", task), ("WISHES", wishes)]
    for number, (text, labels) in enumerate(examples, start=1):
        titled.append((f"EXAMPLE {number}", _clipped_text(text)))
        titled.append((f"SAID OF EXAMPLE {number}", labels))
    schema = object_schema(
        {
            "name": _TEXT,
            "guidelines": _ANY_TEXT,
            "criteria": _list_schema(_criterion_schema(), minimum=1),
        }
    )
    return _writing_request(words.DRAFT, titled, seed, words.ASK_DRAFT, schema)


def _criterion_schema() -> Schema:
    """Return the schema of a criterion, binary or with its own options."""

    def criterion(scales: list[str], label: Schema, most: int) -> Schema:
        option = object_schema({"label": label, "description": _ANY_TEXT, "value": _SHARE})
        return object_schema(
            {
                "name": _TEXT,
                "requirement": _TEXT,
                "weight": _NUMBER,
                "scale": {"type": "string", "enum": scales},
                "options": {**_list_schema(option, minimum=2), "maxItems": most},
            }
        )

    binary = criterion(["binary"], {"type": "string", "enum": [MET, UNMET]}, 2)
    return {"anyOf": [binary, criterion(["ordinal", "nominal"], _TEXT, 12)]}


def revise_writing(
    rubric: Rubric,
    targets: Sequence[str],
    findings: Mapping[str, Sequence[str]],
    cases: Sequence[Case],
    seed: int,
) -> Prompt:
    """Return the request to fix the criteria named in ``targets``.

    ``findings`` are sentences by criterion name; those under the empty name are about the rubric.
    """
    ids = dict(zip((c.name for c in rubric.criteria), ids_of(len(rubric.criteria)), strict=True))
    titled = [("RUBRIC", rubric_text(rubric, weights=True))]
    lines = [
        f"{ids.get(name, 'rubric')}: {one_line(sentence)}"
        for name, sentences in findings.items()
        for sentence in sentences
    ]
    titled.append(("FINDINGS", "\n".join(lines)))
    for number, case in enumerate((c for c in cases if c.criterion in ids), start=1):
        titled.append((f"CASE {number}", _clipped_text(case.text)))
        titled.append((f"CHOICES IN CASE {number}", _choices_text(case, ids[case.criterion])))
    most = max(len(rubric.criterion(name).options) for name in targets)
    change = object_schema(
        {
            "why": _ANY_TEXT,
            "criterion": {"type": "string", "enum": [*ids.values(), "rubric"]},
            "part": {"type": "string", "enum": list(PARTS)},
            "option": {"type": "integer", "minimum": 0, "maximum": most},
            "to": _TEXT,
        }
    )
    request = words.ASK_REVISE.format(targets=", ".join(ids[name] for name in targets))
    return _writing_request(
        words.REVISE, titled, seed, request, object_schema({"changes": _list_schema(change)})
    )


def generate_writing(
    criterion: Criterion,
    aimed: tuple[int, ...],
    task: str,
    length: Length,
    earlier: Sequence[str],
    place: tuple[int, int],
    seed: int,
) -> Prompt:
    """Return the request for a submission at an option, or between two.

    ``place`` is (number, total) of the submission; ``earlier`` are openings to avoid.
    """
    shown = [f"{index + 1} ({one_line(criterion.choices[index].label)})" for index in aimed]
    facts = {"length": words.LENGTHS[length], "number": place[0], "count": place[1]}
    if len(shown) == 1:
        request = words.ASK_GENERATE.format(option=shown[0], **facts)
    else:
        request = words.ASK_BORDERLINE.format(first=shown[0], second=shown[1], **facts)
    titled = [
        ("CRITERION", criterion_text(criterion)),
        ("TASK", task),
        ("EARLIER", "\n".join(f"- {one_line(text)[:200]}" for text in earlier)),
    ]
    return _writing_request(
        words.GENERATE, titled, seed, request, object_schema({"submission": _TEXT})
    )


def tasks_writing(criterion: Criterion, count: int, seed: int) -> Prompt:
    """Return the request for tasks to which submissions could respond."""
    titled = [("CRITERION", criterion_text(criterion))]
    request = words.ASK_TASKS.format(count=count)
    return _writing_request(
        words.TASKS,
        titled,
        seed,
        request,
        object_schema({"tasks": {**_list_schema(_TEXT, minimum=count), "maxItems": count}}),
    )


def edit_writing(item: Item, rubric: Rubric, name: str, aimed: int, seed: int) -> Prompt:
    """Return the request to change an item, so that choice ``aimed`` applies."""
    ids = dict(zip((c.name for c in rubric.criteria), ids_of(len(rubric.criteria)), strict=True))
    label = one_line(rubric.criterion(name).choices[aimed].label)
    titled = [
        *(pair for pair in background_texts(item) if pair[0] != "REFERENCE"),
        ("SUBMISSION", item.output),
        ("RUBRIC", rubric_text(rubric)),
    ]
    request = words.ASK_EDIT.format(criterion=ids[name], option=f"{aimed + 1} ({label})")
    schema = object_schema({"what": _ANY_TEXT, "submission": _TEXT})
    return _writing_request(words.EDIT, titled, seed, request, schema)


def twin_writing(item: Item, instruction: str, seed: int) -> Prompt:
    """Return the request to rewrite an item with the same meaning."""
    titled = [
        *(pair for pair in background_texts(item) if pair[0] != "REFERENCE"),
        ("SUBMISSION", item.output),
    ]
    request = f"{words.ASK_TWIN[instruction]} Reply with only the JSON object."
    schema = object_schema({"what": _ANY_TEXT, "submission": _TEXT})
    return _writing_request(words.TWIN, titled, seed, request, schema)


def rubric_text(rubric: Rubric, *, weights: bool = False) -> str:
    """Return a rubric as text: ids, requirements, numbered options."""
    parts = [f"Guidelines: {rubric.guidelines.strip()}"] if rubric.guidelines.strip() else []
    ids = ids_of(len(rubric.criteria))
    for id_, criterion in zip(ids, rubric.criteria, strict=True):
        weight = f", weight {criterion.weight:g}" if weights else ""
        head = f"{id_} ({one_line(criterion.name)}{weight})"
        parts.append(f"{head}\n{criterion_text(criterion)}")
    return "\n\n".join(parts)


def criterion_text(criterion: Criterion) -> str:
    """Return a criterion as text: requirement, kind, scale, options from 1."""
    kind = "penalty" if criterion.weight < 0 else "reward"
    lines = [f"Requirement ({kind}, {criterion.scale}): {criterion.requirement.strip()}"]
    for number, option in enumerate(criterion.choices, start=1):
        abstention_mark = " (abstention)" if option.na else ""
        meaning = f": {option.description.strip()}" if option.description.strip() else ""
        lines.append(f"  {number}. {one_line(option.label)}{abstention_mark}{meaning}")
    return "\n".join(lines)


def _choices_text(case: Case, id_: str) -> str:
    lines = [f"Criterion: {id_}", f"People chose: {one_line(case.people)}"]
    lines += [f"Their reason: {one_line(case.why_people)}"] if case.why_people else []
    lines.append(f"Judges chose: {one_line(case.judges)}")
    lines += [f"Their reason: {one_line(case.why_judges)}"] if case.why_judges else []
    return "\n".join(lines)


def _clipped_text(text: str) -> str:
    omitted = len(text) - LONGEST_QUOTE
    return (
        text
        if omitted <= 0
        else f"{text[:LONGEST_QUOTE]}\n[{omitted} more characters are left out]"
    )


def _writing_request(
    system: str, titled: Iterable[tuple[str, str]], seed: int, request: str, schema: Schema
) -> Prompt:
    material = [(title, text) for title, text in titled if text.strip()]
    code = code_for([text for _, text in material], seed)
    blocks = [text_block(title, text, code.nonce) for title, text in material]
    return Prompt(
        (Segment("system", system), Segment("user", "\n\n".join(blocks)), Segment("user", request)),
        schema,
        words.AUTHORING_VERSION,
    )


#: Required texts have at least one character, so that every valid reply is readable.
_TEXT: Schema = {"type": "string", "minLength": 1}
_ANY_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}


def _list_schema(items: Schema, *, minimum: int = 0) -> Schema:
    return {"type": "array", "items": items, **({"minItems": minimum} if minimum else {})}
