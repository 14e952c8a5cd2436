"""Ready-made scales for a criterion of a draft: every level comes with an anchor to start from."""

from __future__ import annotations

from typing import Literal

from core.domain.rubric import BINARY
from core.services.draft_types import OptionDraft, Serial, option_draft

Template = Literal["yes_no", "three", "four", "five", "bands", "categories"]

_ABSENT = ("Absent", "Nothing of what the requirement asks for is there.")
_WHOLE = ("Whole", "Every part of it is there.")
_FEWER = ("Fewer than half", "At least one part of it is there; more parts are missing.")

#: The label, anchor and value of each level, lowest to highest. The anchors count parts, so that
#: two judges can agree on them before the author has put them in the words of the task.
LEVELS: dict[str, tuple[tuple[str, str, float], ...]] = {
    "three": (
        (*_ABSENT, 0.0),
        ("In part", "At least one part of it is there, and at least one is missing.", 0.5),
        (*_WHOLE, 1.0),
    ),
    "four": (
        (*_ABSENT, 0.0),
        (*_FEWER, 0.33),
        (
            "Half or more",
            "As many parts are there as are missing, or more, but not every one.",
            0.67,
        ),
        (*_WHOLE, 1.0),
    ),
    "five": (
        (*_ABSENT, 0.0),
        (*_FEWER, 0.25),
        ("Half", "As many parts of it are there as are missing.", 0.5),
        ("More than half", "More parts are there than missing; at least one is missing.", 0.75),
        (*_WHOLE, 1.0),
    ),
    # The bands of LLM Council's ADR-016, in our words; a band is worth its upper edge.
    "bands": (
        ("Fails (1-2)", "Hardly a statement holds; what is there is wrong or made up.", 0.2),
        ("Weak (3-4)", "The main point is wrong or missing, although some details are right.", 0.4),
        ("Mixed (5-6)", "The main point is right; two or more details are wrong or missing.", 0.6),
        ("Sound (7-8)", "The main point is right; exactly one detail is wrong or missing.", 0.8),
        ("Flawless (9-10)", "No point and no detail is wrong or missing.", 1.0),
    ),
    "categories": (("Category A", "", 1.0), ("Category B", "", 0.0)),
}
TEMPLATE_SCALE: dict[Template, str] = {
    "yes_no": "binary",
    "three": "ordinal",
    "four": "ordinal",
    "five": "ordinal",
    "bands": "ordinal",
    "categories": "nominal",
}
#: What each template is called on a button.
TEMPLATE_WORDS: dict[Template, str] = {
    "yes_no": "Yes or no",
    "three": "3 levels",
    "four": "4 levels",
    "five": "5 levels",
    "bands": "Bands 1-10",
    "categories": "Categories",
}
DEFAULT_TEMPLATE: dict[str, Template] = {
    "binary": "yes_no",
    "ordinal": "three",
    "nominal": "categories",
}
NOT_APPLICABLE = ("Not applicable", "The requirement does not concern this text.")


def template_options(template: Template, serial: Serial, *, na: bool = False) -> list[OptionDraft]:
    """Fresh options of a template; ``na`` adds "Not applicable", which has no value."""
    if template == "yes_no":
        options = [option_draft(o, serial.next("o")) for o in BINARY]
    else:
        options = [_option(serial, *level) for level in LEVELS[template]]
    return [*options, _option(serial, *NOT_APPLICABLE, None)] if na else options


def _option(serial: Serial, label: str, anchor: str, value: float | None) -> OptionDraft:
    return OptionDraft(
        uid=serial.next("o"), label=label, description=anchor, value=value, na=value is None
    )
