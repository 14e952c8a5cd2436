"""Ways out that are missing: for what does not apply, and for what cannot be told."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.domain.rubric import Criterion
from core.services.checking.finding import Edit, Finding

_CONDITION = re.compile(
    r"^\s*(?:if|when|whenever|where(?! (?:does|do|is|are|did|has|have|can|in)\b)|in case|"
    r"for (?:questions|answers|requests|tasks|submissions) (?:that|which|with|about))\b[^.?!]*?,",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"\b(?:if (?:there (?:is|are)|any|applicable|relevant|asked|present)|when (?:applicable|asked|"
    r"present|relevant)|where (?:applicable|relevant))\b",
    re.IGNORECASE,
)


def no_not_applicable(criterion: Criterion) -> Iterator[Finding]:
    """A conditional requirement that earns points, with no answer for texts it is not about."""
    match = _CONDITION.search(criterion.requirement) or _TRAILING.search(criterion.requirement)
    if match is None or criterion.weight <= 0 or any(o.na for o in criterion.options):
        return
    condition = match[0].strip().rstrip(",")
    yield Finding(
        "no-not-applicable",
        ("options",),
        f"Holds only under a condition (“{condition[:80]}”), and no option says that it is not so.",
        "Add an abstention for texts to which it does not apply; they then neither gain nor lose.",
        condition[:120],
        Edit(
            "abstain",
            (),
            "Add “Not applicable”",
            ["Not applicable", "The condition does not hold for this text."],
        ),
    )


def forced_choice(criterion: Criterion) -> Iterator[Finding]:
    """A forced choice: who cannot tell has to guess."""
    if criterion.forced_choice and not any(o.na for o in criterion.options):
        yield Finding(
            "forced-choice",
            ("forced_choice",),
            "Judges that cannot tell have to guess, and guesses look like answers.",
            "Let judges abstain; what an abstention costs is set under Scoring.",
            edit=Edit("set", ("forced_choice",), "Let judges abstain", False),
        )
