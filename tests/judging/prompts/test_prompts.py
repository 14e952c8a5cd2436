"""Prompts: what is shown and what never is. The exact bytes are held in ``test_goldens``."""

import json
from itertools import pairwise

from core.domain.dataset import Label
from core.domain.rubric import Rubric
from core.domain.votes import Cell
from core.judging.prompts.assembly import build_prompt, repair_message
from core.judging.prompts.layouts import chat_messages
from core.judging.prompts.reply_parsing import reply_schema
from core.judging.protocol import Question
from tests.judging.asked import ASPIRIN, CAPITAL, DEPTH, PLAIN, TONE, question


def test_weights_values_labels_names_and_other_criteria_are_never_shown() -> None:
    item = PLAIN.model_copy(
        update={
            "id": "secret-id",
            "labels": {"depth": Label(label="fully", reason="secret-reason")},
            "system": "secret-system",
            "description": "secret-description",
            "tags": ("secret-tag",),
            "meta": {"k": "secret-meta"},
        }
    )
    shown = "\n".join(s.text for s in build_prompt(question(DEPTH, item)).segments)
    for hidden in ("secret", "0.125", "0.375", "0.875", "Which tone", "depth"):
        assert hidden not in shown


def test_options_are_numbered_in_the_shown_order() -> None:
    text = build_prompt(question(DEPTH, order="2013")).segments[2].text
    lines = [line for line in text.splitlines() if line[:1].isdigit()]
    assert lines == [
        "1. fully: The cause is named and explained.",
        "2. not at all: No cause is given.",
        "3. in part: A cause is named,",  # its second line is indented, so it is no option
        "4. not applicable (abstention): There is no cause to give.",
    ]


def test_the_sign_of_the_weight_is_all_that_is_shown_of_it() -> None:
    light, heavy = (CAPITAL.model_copy(update={"weight": w}) for w in (1.0, 50.0))
    assert build_prompt(question(light)) == build_prompt(question(heavy))
    penalty = CAPITAL.model_copy(update={"weight": -1.0})
    assert build_prompt(question(light)).segments[2] != build_prompt(question(penalty)).segments[2]


def test_blank_guidelines_prompt_and_reference_are_left_out() -> None:
    blank = PLAIN.model_copy(update={"prompt": " ", "reference": "\n"})
    assert (
        build_prompt(question(CAPITAL, blank, guidelines="  ")).segments[1].text.count("BEGIN") == 1
    )


def test_the_criteria_of_an_item_share_all_but_the_last_segment() -> None:
    long = PLAIN.model_copy(update={"submission": "word " * 1500, "prompt": "Write."})
    rubric = Rubric(criteria=(CAPITAL, DEPTH, TONE, ASPIRIN))
    sent = [
        "".join(
            m["content"]
            for m in chat_messages(
                build_prompt(
                    Question(
                        Cell("i1", c.name, "j"), long, rubric, c, tuple(range(len(c.choices))), 7
                    )
                ).segments
            )
        )
        for c in rubric.criteria
    ]
    # performance.md 2c asks for a common prefix of at least 90% of an item's bytes.
    assert all(_shared(a, b) > 0.9 * len(a) for a, b in pairwise(sent))


def _shared(a: str, b: str) -> int:
    return next(i for i in range(len(a)) if a[i] != b[i : i + 1])


def test_the_schema_bounds_the_option_and_allows_nothing_else() -> None:
    schema = reply_schema(3)
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["evidence", "reason", "option"]
    assert '"minimum": 1, "maximum": 3' in json.dumps(schema)
    for refused_by_strict_modes in ("minItems", "maxItems", "description", "default"):
        assert refused_by_strict_modes not in json.dumps(schema)


def test_a_repair_joins_the_last_user_message_so_that_roles_still_alternate() -> None:
    segments = (
        *build_prompt(question(CAPITAL)).segments,
        repair_message("The reply was empty.", question(CAPITAL)),
    )
    sent = chat_messages(segments)
    assert [m["role"] for m in sent] == ["system", "user"]
    assert sent[1]["content"].endswith(
        repair_message("The reply was empty.", question(CAPITAL)).text
    )
    assert "The reply was empty." in sent[1]["content"]


def test_the_item_part_is_made_once_and_never_mixed_up_with_another_items() -> None:
    first = build_prompt(question(CAPITAL)).segments[1]
    assert build_prompt(question(DEPTH)).segments[1].text is first.text
    twin = PLAIN.model_copy(update={"submission": "It is Sydney."})  # the same id
    assert "It is Sydney." in build_prompt(question(CAPITAL, twin)).segments[1].text
    assert "Be kind." in build_prompt(question(CAPITAL, guidelines="Be kind.")).segments[1].text
