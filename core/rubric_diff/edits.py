"""The edits between two versions of a rubric, and what each means for votes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from core.domain.base import Kind, Noun
from core.domain.rubric import Criterion, Rubric
from core.errors import InputError, Problem
from core.identity import content_hash
from core.rubric_diff.wording import check_words, decision_words, gate_words
from core.text.names import fold

# The fields that differ between two versions of a rubric, each with its meaning for votes.
#
# ``words``: none. ``score``: scores are recomputed from the same votes. ``question``: judges were
# asked something else, so those cells are stale. ``options``: votes must be mapped to the new
# options. ``added``, ``removed``, ``renamed``: the change of a whole criterion.

KINDS: dict[Kind, str] = {
    "words": "Nothing is computed anew: judges never saw it.",
    "score": "Scores are computed again from the existing votes. No judge is asked.",
    "question": "Judges were asked something else: these cells are stale.",
    "options": "Votes for the old options must be mapped to the new ones.",
    "added": "No judge was asked this yet: its cells are open.",
    "removed": "Its votes are kept, and count no more.",
    "renamed": "The same question under another name.",
}
MISSING = "(nothing)"


class FieldEdit(NamedTuple):
    """A difference between two versions. ``what`` is the field, in words.

    ``criterion`` is the criterion's name in the newer version (in the older one if removed),
    ``None`` for the rubric itself.
    """

    kind: Kind
    criterion: str | None
    what: str
    before: str
    after: str


def may_be_typo(edit: FieldEdit) -> bool:
    """Return whether an edit of a question may only correct a typo.

    >>> question = FieldEdit("question", "A", "requirement", "It cites teh source.", "")
    >>> may_be_typo(question._replace(after="It cites the source."))
    True
    >>> may_be_typo(question._replace(after="It cites no source."))
    False
    """
    if edit.kind != "question":
        return False
    old, new = _letters_only(edit.before), _letters_only(edit.after)
    return old == new or sorted(old) == sorted(new)


def criterion_edits(old: Criterion, new: Criterion) -> Iterator[FieldEdit]:
    """Yield the edits of a criterion, including its options."""
    same_options = same_choices(old, new)
    for edit in _field_edits(new.name, old, new):
        if edit.kind != "options":
            yield edit
        elif same_options:
            yield edit._replace(kind="words")
    if not same_options:
        yield FieldEdit("options", new.name, "options", options_text(old), options_text(new))
        return
    for before, after in zip(old.choices, new.choices, strict=True):
        for edit in _field_edits(new.name, before, after):
            yield edit._replace(what=f"{edit.what} of {after.label!r}")


def _field_edits(criterion: str | None, old: Noun, new: Noun) -> Iterator[FieldEdit]:
    for name in type(new).model_fields:
        about, before, after = new.field_row(name), getattr(old, name), getattr(new, name)
        if about.kind is None or before == after:
            continue
        texts = isinstance(before, str) and isinstance(after, str)
        same = (
            about.kind == "question"
            and texts
            and with_plain_spaces(before) == with_plain_spaces(after)
        )
        kind = "words" if same else about.kind
        yield FieldEdit(
            kind, criterion, about.label, rule_text(name, before), rule_text(name, after)
        )


def options_text(criterion: Criterion) -> str:
    """Return a criterion's choices on one line, e.g. ``Low (0), High (1), Cannot assess``."""
    return ", ".join(
        option.label if option.value is None else f"{option.label} ({option.value:g})"
        for option in criterion.choices
    )


def value_text(value: Any) -> str:
    """Return a field's value as text."""
    if value is None or value in ("", (), {}):
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return "\n".join(value_text(part) for part in value)
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, dict):
        return ", ".join(
            f"{name.replace('_', ' ')} {value_text(part)}"
            for name, part in value.items()
            if part != ""
        )
    return str(value)


def rule_text(name: str, value: Any) -> str:
    """Return a field of the rubric as text; gates and the like as sentences."""
    return _SAYS.get(name, value_text)(value)


def _sentence_writer(words: Callable[[Mapping[str, Any]], str]) -> Callable[[Any], str]:
    def value_sentences(value: Any) -> str:
        nouns = value if isinstance(value, tuple) else (value,)
        data = [
            noun.model_dump(mode="json", by_alias=True, exclude_none=True) for noun in nouns if noun
        ]
        return "\n".join(map(words, data)) or MISSING

    return value_sentences


_SAYS = {
    "gates": _sentence_writer(gate_words),
    "prechecks": _sentence_writer(check_words),
    "decision": _sentence_writer(decision_words),
}


def same_choices(old: Criterion, new: Criterion) -> bool:
    """Return whether options are the same in order, so that a vote's number keeps its meaning."""
    before, after = ([(fold(option.label), option.na) for option in c.choices] for c in (old, new))
    return before == after


def with_plain_spaces(text: str) -> str:
    """Return a text with normalised white space."""
    return " ".join(text.split())


def _letters_only(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


#: The similarity from which a removed and an added criterion count as the same.
_SAME = 0.8
#: With more pairs of criteria than the first number, only equal requirements match. At most the
#: second number of characters is compared.
MOST_PAIRS, _COMPARED = 2500, 1000


@dataclass(frozen=True)
class VersionMapping:
    """How votes of the older version map to the newer one; unlisted names stay the same.

    ``renamed`` maps old names of criteria to new ones. ``options`` maps an old criterion to the new
    index (into ``choices``) of each of its old choices; ``None``: those votes do not count, and may
    be asked again.
    """

    renamed: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class VersionEdits:
    """All differences between two versions of a rubric.

    ``pairs`` are the criteria in both, (older, newer), in the newer order. ``stale`` are the newer
    names of those that ask something else. ``moves`` is the given mapping, completed if there is no
    choice; ``unmapped`` names the older criteria whose options need a mapping.
    """

    edits: tuple[FieldEdit, ...]
    pairs: tuple[tuple[Criterion, Criterion], ...]
    stale: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    moves: VersionMapping
    unmapped: tuple[str, ...] = ()

    @property
    def in_place(self) -> bool:
        """Return whether the newer version can use the votes without any mapping."""
        return not (self.added or self.removed or self.unmapped or self.moves.renamed) and all(
            places == tuple(range(len(places))) for places in self.moves.options.values()
        )

    def of(self, kind: Kind) -> list[FieldEdit]:
        """Return the edits of a kind."""
        return [edit for edit in self.edits if edit.kind == kind]


def question_hash(rubric: Rubric, criterion: Criterion) -> str:
    """Return the hash of a judge's question: guidelines, requirement, options with their anchors.

    Spaces are ignored.
    """
    options = [[*_visible_values(option), option.na] for option in criterion.choices]
    return content_hash([*_visible_values(rubric), *_visible_values(criterion), options])


def _visible_values(noun: Noun) -> list[Any]:
    """Return the values of the fields that judges see."""
    names = [name for name in type(noun).model_fields if noun.field_row(name).kind == "question"]
    values = [getattr(noun, name) for name in names]
    return [with_plain_spaces(value) if isinstance(value, str) else value for value in values]


def edits_between(
    before: Rubric, after: Rubric, moves: VersionMapping | None = None
) -> VersionEdits:
    """Return the classified differences between two versions.

    ``moves`` maps criteria and options; without it, criteria match by name or by a nearly equal
    requirement, and options by label.

    Raises:
        InputError: ``moves`` names a criterion or an option that does not exist.
    """
    moves = guess_mapping(before, after) if moves is None else moves
    _require_valid_moves(before, after, moves)
    olds = {moves.renamed.get(c.name, c.name): c for c in before.criteria}
    pairs = tuple((olds[c.name], c) for c in after.criteria if c.name in olds)
    paired = {old.name for old, _ in pairs}
    edits = [*_field_edits(None, before, after)]
    options, unmapped = dict[str, tuple[int | None, ...]](), list[str]()
    for old, new in pairs:
        edits += criterion_edits(old, new)
        if old.name in moves.options:
            options[old.name] = moves.options[old.name]
        elif not same_choices(old, new):
            unmapped.append(old.name)
    added = tuple(c.name for c in after.criteria if c.name not in olds)
    removed = tuple(c.name for c in before.criteria if c.name not in paired)
    edits += [FieldEdit("added", name, "criterion", MISSING, name) for name in added]
    edits += [FieldEdit("removed", name, "criterion", name, MISSING) for name in removed]
    if [c.name for _, c in pairs] != [n for n in olds if n in {c.name for _, c in pairs}]:
        edits.append(FieldEdit("words", None, "order of the criteria", "as it was", "another one"))
    stale = tuple(
        new.name for old, new in pairs if question_hash(before, old) != question_hash(after, new)
    )
    return VersionEdits(
        tuple(edits),
        pairs,
        stale,
        added,
        removed,
        VersionMapping({old: new for old, new in moves.renamed.items() if old in paired}, options),
        tuple(unmapped),
    )


def guess_mapping(before: Rubric, after: Rubric) -> VersionMapping:
    """Return the most likely mapping of criteria and options, for the user to check.

    A removed criterion and an added one with nearly the same requirement count as renamed. (With
    more than 2,500 pairs only equal requirements do.) Options keep their label or, if their number
    is unchanged, their index.
    """
    removed = [c for c in before.criteria if c.name not in {a.name for a in after.criteria}]
    new_criteria = [c for c in after.criteria if c.name not in {b.name for b in before.criteria}]
    renamed, likeness = dict[str, str](), _likeness
    if len(removed) * len(new_criteria) > MOST_PAIRS:
        likeness = _share_equal
    for old in removed:
        by_likeness = [(likeness(old, new), new.name) for new in new_criteria]
        best = max(by_likeness, default=(0.0, ""))
        if best[0] >= _SAME:
            renamed[old.name] = best[1]
            new_criteria = [new for new in new_criteria if new.name != best[1]]
    options = dict[str, tuple[int | None, ...]]()
    for old in before.criteria:
        new = next((c for c in after.criteria if c.name == renamed.get(old.name, old.name)), None)
        if new is not None and not same_choices(old, new):
            options[old.name] = option_guess(old, new)
    return VersionMapping(renamed, options)


def option_guess(old: Criterion, new: Criterion) -> tuple[int | None, ...]:
    """Return the likely new index of each old choice, by label or index; ``None`` if unclear.

    >>> low, high = {"label": "Low", "value": 0}, {"label": "High", "value": 1}
    >>> mid = {"label": "Mid", "value": 0.5}
    >>> kind = {"name": "n", "requirement": "r", "scale": "ordinal"}
    >>> old = Criterion.model_validate({**kind, "options": [low, mid, high]})
    >>> option_guess(old, Criterion.model_validate({**kind, "options": [low, high]}))
    (0, None, 1, 2)
    """
    by_label = {fold(option.label): at for at, option in enumerate(new.choices)}
    if len(old.choices) == len(new.choices):
        old_labels = {fold(option.label) for option in old.choices}
        spare = [at for name, at in by_label.items() if name not in old_labels]
        indices = [by_label.get(fold(option.label)) for option in old.choices]
        return tuple(spare.pop(0) if at is None and spare else at for at in indices)
    guessed = [by_label.get(fold(option.label)) for option in old.choices]
    return tuple(
        new.na_index if at is None and option.na else at
        for at, option in zip(guessed, old.choices, strict=True)
    )


def _require_valid_moves(before: Rubric, after: Rubric, moves: VersionMapping) -> None:
    olds = {c.name: c for c in before.criteria}
    news = {c.name: c for c in after.criteria}
    problems = []
    for old, new in moves.renamed.items():
        if old not in olds or new not in news or (new in olds and new not in moves.renamed):
            problems.append(Problem(f"{old!r} cannot have become {new!r}.", "Map it again."))
    if len(set(moves.renamed.values())) < len(moves.renamed):
        problems.append(Problem("Two criteria became one.", "Map one of them, remove the other."))
    for name, places in moves.options.items():
        target = news.get(moves.renamed.get(name, name))
        if name not in olds or target is None or len(places) != len(olds[name].choices):
            problems.append(Problem(f"The options of {name!r} are not mapped.", "Map each one."))
        elif any(at is not None and not 0 <= at < len(target.choices) for at in places):
            problems.append(Problem(f"{name!r} has no such option.", "Map its options again."))
    if problems:
        raise InputError("Votes cannot be read that way.", tuple(problems))


def _likeness(old: Criterion, new: Criterion) -> float:
    first, second = (fold(criterion.requirement)[:_COMPARED] for criterion in (old, new))
    return SequenceMatcher(None, first, second).ratio()


def _share_equal(old: Criterion, new: Criterion) -> float:
    return float(fold(old.requirement) == fold(new.requirement))
