"""Ways out that are missing: for what does not apply, and for what cannot be told."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.domain.rubric import Criterion
from core.services.checking.finding import Edit, Finding
from core.services.checking.language import described

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


_WAY_OUT = re.compile(
    r"(?:unsure|not sure|don['’]t know|cannot (?:tell|say|judge|assess)|can['’]t (?:tell|say)|n/?a|"
    r"not applicable|not assessed|not observed|keine angabe|"
    r"nicht (?:anwendbar|beurteilbar)|sans objet|no aplica)",
    re.IGNORECASE,
)


def scored_abstention(criterion: Criterion) -> Iterator[Finding]:
    """An option that reads like "cannot tell", without an anchor, and is worth points."""
    for at, option in enumerate(criterion.options):
        if option.na or described(option) or not _WAY_OUT.fullmatch(option.label.strip()):
            continue
        yield Finding(
            "scored-abstention",
            ("options", at, "na"),
            f"“{option.label}” reads like an abstention and is scored {option.value:g}.",
            "Mark it as an abstention; what one costs is set under Scoring. If it is an answer of "
            "its own, say in its anchor what it stands for.",
            option.label,
        )
