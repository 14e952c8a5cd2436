"""Pre-checks: patterns looked for in a submission, before and apart from what judges say.

A pre-check is a cheap screen that routes to a person. It is data; ``core.scoring`` evaluates it.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, field_validator, model_validator

from core.domain.base import Noun, broken

Family = Literal[
    "dangerous_instructions", "weapon_making", "malware_hacking", "self_harm", "personal_data"
]
FAMILIES: tuple[Family, ...] = get_args(Family)
CheckAction = Literal["flag", "cap", "fail"]

#: A phrase: words, where ``*`` stands for the beginning or end of a word, ``<number>`` for digits,
#: and ``...`` for up to eight words between two others. Case, accents and kinds of quotes do not
#: count. It is no regular expression: those can take for ever, and few people can read them.
Phrase = Annotated[str, Field(max_length=200)]
Phrases = Annotated[tuple[Phrase, ...], Field(max_length=100)]


def _spoken(phrases: tuple[str, ...]) -> tuple[str, ...]:
    for phrase in phrases:
        if not any(c.isalnum() for c in phrase):
            raise broken(
                f"holds {phrase!r}, which has no letter and no digit.",
                "Write a word or a phrase; * stands for the rest of a word.",
            )
        if any("*" in word[1:-1] for word in phrase.split()):
            raise broken(
                f"holds {phrase!r}, with * inside a word.",
                "Put * at the beginning or the end of a word.",
            )
        words = phrase.replace("\u2026", "...").split()
        if words.count("...") > 2 or "..." in (words[0], words[-1]):
            raise broken(
                f"holds {phrase!r}, where ... does not stand between words or stands too often.",
                "Write at most two ... in a phrase, each between two words.",
            )
    return phrases


class Near(Noun):
    """What excuses a finding: one of ``terms`` close to it.

    Close is the same sentence, or at most ``chars`` characters before or after the finding.
    """

    terms: Annotated[Phrases, Field(min_length=1)]
    chars: Annotated[int | None, Field(ge=0, le=10_000)] = None

    _terms_are_words = field_validator("terms")(staticmethod(_spoken))


class Precheck(Noun):
    """Patterns of ready-made ``families``, and ``patterns`` of the author's own.

    A finding always sends the item to a person. ``cap`` and ``fail`` say, beside that, what holds
    until the person has looked; ``cap`` is in units of the normalised score.
    """

    name: Annotated[str, Field(max_length=200)]
    families: Annotated[tuple[Family, ...], Field(max_length=len(FAMILIES))] = ()
    patterns: Phrases = ()
    unless_near: Near | None = None
    action: CheckAction = "flag"
    cap: Annotated[float | None, Field(ge=0, le=1)] = None

    _patterns_are_words = field_validator("patterns")(staticmethod(_spoken))

    @model_validator(mode="after")
    def _check(self) -> Precheck:
        if not self.families and not self.patterns:
            raise broken(
                "looks for nothing.", f"Name families ({', '.join(FAMILIES)}) or give patterns."
            )
        if self.action == "cap" and self.cap is None:
            raise broken("is missing.", "Say at how much the score is capped, 0 to 1.", "cap")
        if self.action != "cap" and self.cap is not None:
            raise broken(
                f"is given, but the action is {self.action}.",
                "Set action: cap, or leave cap out.",
                "cap",
            )
        return self
