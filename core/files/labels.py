"""Truth in a row: labels by criterion, by column, or as a list in the order of the criteria."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.domain.base import near
from core.domain.names import fold
from core.domain.rubric import CANNOT_ASSESS, MET, UNMET, Criterion, Rubric
from core.files.document import kind_of
from core.files.submissions import UnfitValue

#: Other words for MET and UNMET.
YES = frozenset({"yes", "y", "true", "met", "pass", "passed"})
NO = frozenset({"no", "n", "false", "unmet", "not met", "fail", "failed"})
#: Words for "cannot be assessed".
AWAY = frozenset(
    {"cannot_assess", "cannot assess", "n/a", "na", "not applicable", "abstain", "abstained", "?"}
)


class Truth:
    """Reads labels against a rubric (or, without one, as they are)."""

    def __init__(self, rubric: Rubric | None) -> None:
        self._rubric = rubric
        self._known = {fold(c.name): c for c in rubric.criteria} if rubric else {}

    def named(self, name: str, value: Any, reason: Any = "") -> tuple[str, dict[str, str]] | None:
        """The criterion's name and its label with a reason; ``None`` where nothing is given.

        Raises:
            Unfit: no such criterion, no such option, or not a label.
        """
        if isinstance(value, dict):
            if "label" not in value or not value.keys() <= {"label", "reason"}:
                raise UnfitValue(f"has the keys {', '.join(value)}.", "Use label and reason.")
            value, reason = value["label"], value.get("reason")
        if value is None or value == "":
            return None
        criterion = self._criterion(name)
        label = _word(value, criterion)
        if criterion is not None:
            label = matched(criterion, label)
        return (criterion.name if criterion else name), {"label": label, "reason": _reason(reason)}

    def aligned(self, values: Any, reasons: Any) -> dict[str, dict[str, str]]:
        """Labels from a list in the order of the rubric's criteria, with reasons if there are any.

        Raises:
            Unfit: no rubric to align to, another length, or a bad label.
        """
        if values is None:
            return {}
        if self._rubric is None:
            mend = "Import the rubric with it, or label by criterion name."
            raise UnfitValue("lists labels, but there is no rubric to align them to.", mend)
        wanted = len(self._rubric.criteria)
        for what, given in (("labels", values), ("reasons", reasons)):
            if given is not None and (not isinstance(given, list) or len(given) != wanted):
                size = f"{len(given)} {what}" if isinstance(given, list) else kind_of(given)
                raise UnfitValue(
                    f"has {size} for {wanted} criteria.", f"List {wanted}, in their order."
                )
        found = {}
        for index, criterion in enumerate(self._rubric.criteria):
            try:
                label = self.named(criterion.name, values[index], reasons[index] if reasons else "")
            except UnfitValue as error:
                raise UnfitValue(error.message, error.mend, index) from None
            if label:
                found[label[0]] = label[1]
        return found

    def _criterion(self, name: str) -> Criterion | None:
        if self._rubric is None:
            return None
        criterion = self._known.get(fold(name))
        if criterion is None:
            names = [c.name for c in self._rubric.criteria]
            mend = near(name, set(names)) or f"Its criteria are {_listed(names)}."
            raise UnfitValue("is not a criterion of the rubric.", mend)
        return criterion


def matched(criterion: Criterion, label: str) -> str:
    """The label as the rubric spells it (``option_named``); CANNOT_ASSESS always fits.

    Raises:
        Unfit: no option has that label; it lists those that exist.
    """
    if fold(label) == fold(CANNOT_ASSESS):
        return label
    option = option_named(criterion, label)
    if option is not None:
        return criterion.options[option].label if option < len(criterion.options) else label
    known = _listed([option.label for option in criterion.options])
    raise UnfitValue(f"is {label[:80]!r}, which is not an option.", f"Use one of {known}.")


def option_named(criterion: Criterion, label: str) -> int | None:
    """The choice that a label in a file means, or ``None``.

    Case and spaces do not count. Where there is no such option, ``3.0`` is ``3``; of a binary
    criterion yes, true and 1 are MET, no, false and 0 UNMET.

    >>> asked = Criterion(name="c", requirement="r")
    >>> [option_named(asked, word) for word in ("met", "No", "1.0", "maybe")]
    [0, 1, 0, None]
    """
    for spelling in _spellings(criterion, label):
        option = criterion.index_of(spelling)
        if option is not None:
            return option
    return None


def _spellings(criterion: Criterion, label: str) -> Iterator[str]:
    yield label
    whole = label.strip().removesuffix(".0")
    yield whole
    if criterion.scale == "binary":
        word = fold(whole)
        if word in YES or word == "1":
            yield MET
        elif word in NO or word == "0":
            yield UNMET


def _word(value: Any, criterion: Criterion | None) -> str:
    if isinstance(value, bool):
        word = "true" if value else "false"
        if criterion is None or option_named(criterion, word) is None:
            raise UnfitValue("is a yes/no value.", "Write the option's label, as text.")
        return word
    if not isinstance(value, str | int | float):
        raise UnfitValue(f"is {kind_of(value)}.", "Write the option's label.")
    return str(value)


def _reason(reason: Any) -> str:
    if reason is None:
        return ""
    if not isinstance(reason, str):
        raise UnfitValue(f"gives {kind_of(reason)} as a reason.", "Write the reason as text.")
    return reason


def _listed(words: list[str]) -> str:
    shown = ", ".join(repr(word) for word in words[:20])
    return shown if len(words) <= 20 else f"{shown} and {len(words) - 20} more"
