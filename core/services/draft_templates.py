"""Ready-made scales for a criterion of a draft."""

from __future__ import annotations

from typing import Literal

from core.domain.rubric import BINARY
from core.services.draft_types import OptionDraft, Serial
from core.services.drafts import option_draft

Template = Literal["yes_no", "three", "four", "five", "categories"]

#: The labels and values of each template, lowest to highest.
LEVELS: dict[str, tuple[tuple[str, float], ...]] = {
    "three": (("Poor", 0.0), ("Fair", 0.5), ("Good", 1.0)),
    "four": (("Poor", 0.0), ("Fair", 0.33), ("Good", 0.67), ("Excellent", 1.0)),
    "five": (
        ("Very poor", 0.0),
        ("Poor", 0.25),
        ("Fair", 0.5),
        ("Good", 0.75),
        ("Excellent", 1.0),
    ),
    "categories": (("Category A", 1.0), ("Category B", 0.0)),
}
TEMPLATE_SCALE: dict[Template, str] = {
    "yes_no": "binary",
    "three": "ordinal",
    "four": "ordinal",
    "five": "ordinal",
    "categories": "nominal",
}
DEFAULT_TEMPLATE: dict[str, Template] = {
    "binary": "yes_no",
    "ordinal": "three",
    "nominal": "categories",
}


def template_options(template: Template, serial: Serial) -> list[OptionDraft]:
    """Fresh options of a template."""
    if template == "yes_no":
        return [option_draft(o, serial.next("o")) for o in BINARY]
    return [
        OptionDraft(uid=serial.next("o"), label=label, description="", value=value, na=False)
        for label, value in LEVELS[template]
    ]
