"""Values of a row: submissions in all their types, and labels by criterion."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from core.domain.base import Path, hint_for
from core.domain.dataset import MAX_TEXT, Label
from core.domain.rubric import CANNOT_ASSESS, Criterion, Rubric
from core.errors import InputError, Problem
from core.formats.columns.label_words import NO_ANSWER, holds_no_answer, option_named
from core.formats.source.parsed import kind_of
from core.text.names import fold

# Submissions, checked by hand: pydantic's messages about unions would not help.

_FORMS = "Use text, a list of {role, content}, or {thinking, output}."
_CONTEXTS = "Use text, a list of texts, or a mapping from name to text."
#: Keys of two answers to compare, as in an exported contest.
_PAIR = {"first", "second"}

#: The key in an item's meta that is ``False`` if the text exists but is missing here.
TEXT_AVAILABLE = "text_available"


class UnfitValue(ValueError):
    """A cell that cannot be used, with the problem and its path within the cell."""

    def __init__(self, message: str, mend: str, *path: str | int) -> None:
        super().__init__(message)
        self.message, self.mend, self.path = message, mend, path

    def problem(self, path: Path, line: int | None) -> Problem:
        """Return the problem for the cell at ``path``."""
        return Problem(self.message, self.mend, (*path, *self.path), line)


def submission_of(value: Any, structured: bool) -> Any:
    """Return the submission in a cell.

    It is a text, a list of messages, or a mapping of thinking and output (or of first and second,
    two such answers). ``structured`` text is read as JSON first; other text stays text. Null is an
    empty text.

    Raises:
        UnfitValue: another type.

    >>> submission_of([{"role": "user", "content": "Hi"}], False)
    [{'role': 'user', 'content': 'Hi'}]
    """
    if structured and isinstance(value, str) and value.strip():
        value = _parsed_json(value)
    if value is None:
        return ""
    if isinstance(value, dict) and value.keys() == _PAIR:
        return {place: _answer_parts(part) for place, part in value.items()}
    return _answer_parts(value)


def _answer_parts(value: Any) -> Any:
    if isinstance(value, list):
        if not value:
            raise UnfitValue("is an empty list of messages.", _FORMS)
        return [_chat_message(part, index) for index, part in enumerate(value)]
    if isinstance(value, dict):
        return _named_sections(value)
    return text_of(value, _FORMS)


def context_of(value: Any, name: str) -> dict[str, str]:
    r"""Return the named texts in a cell of context.

    The cell holds a text, a list of passages, or a mapping of either. Passages are numbered and
    joined into one text, so that a submission can cite them.

    Raises:
        UnfitValue: anything else, or a blank name.

    >>> context_of(["Canberra.", "Since 1927."], "passages")
    {'passages': '[1] Canberra.\n\n[2] Since 1927.'}
    >>> context_of({"policy": "30 days."}, "context")
    {'policy': '30 days.'}
    """
    if not isinstance(value, dict):
        text = _context_passages(value)
        return {name: text} if text.strip() else {}
    context = dict[str, str]()
    for key, part in value.items():
        plain = " ".join(str(key).split())
        if not plain or plain in context:
            raise UnfitValue(
                f"has the name {str(key)!r} for a text.", "Give each text its own name."
            )
        try:
            context[plain] = _context_passages(part)
        except UnfitValue as error:
            raise UnfitValue(error.message, error.mend, key, *error.path) from None
    return context


def _context_passages(value: Any) -> str:
    if not isinstance(value, list):
        return text_of(value, _CONTEXTS)
    values = [part.get("text", part) if isinstance(part, dict) else part for part in value]
    texts = [text_of(part, _CONTEXTS) for part in values]
    return _require_short("\n\n".join(f"[{n}] {text}" for n, text in enumerate(texts, start=1)))


def text_of(value: Any, mend: str = "Use text.") -> str:
    """Return the text in a cell; numbers keep their spelling, null is empty.

    Raises:
        UnfitValue: any other type.
    """
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UnfitValue(f"is {kind_of(value)}.", mend)
    return _require_short(str(value))


def _require_short(text: str, *path: str | int) -> str:
    if len(text) > MAX_TEXT:
        message = f"has {len(text):,} characters; {MAX_TEXT:,} is the limit."
        raise UnfitValue(message, "Shorten it.", *path)
    return text


def prompt_of(value: Any) -> str:
    """Return the text of a prompt; a conversation becomes its turns in order."""
    if isinstance(value, list) and value:
        turns = [_chat_message(part, index) for index, part in enumerate(value)]
        return "\n\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)
    return text_of(value)


def _parsed_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise UnfitValue(
            "is not JSON, as the mapping says it is.", "Map it as plain text."
        ) from None


def _named_sections(value: dict[str, Any]) -> dict[str, str]:
    if "output" not in value or not value.keys() <= {"thinking", "output"}:
        raise UnfitValue(f"has the keys {', '.join(map(repr, value))}.", _FORMS)
    return {key: text_of(part) for key, part in value.items()}


def _chat_message(part: Any, index: int) -> dict[str, str]:
    if not isinstance(part, dict):
        raise UnfitValue(f"is {kind_of(part)}, not a message.", _FORMS, index)
    extra = sorted(part.keys() - {"role", "content"})
    if extra:
        mend = "Keep role and content; write tool calls and the like into the content."
        raise UnfitValue(
            "is not a key of a message that can be shown to a judge.", mend, index, extra[0]
        )
    role = part.get("role")
    if not isinstance(role, str) or not 1 <= len(role) <= 50:
        raise UnfitValue("is not a role.", "Use a name such as user or assistant.", index, "role")
    return {"role": role, "content": _message_text(part.get("content"), index)}


def _message_text(content: Any, index: int) -> str:
    """Return the text of a message, joining a list of text parts."""
    if isinstance(content, str):
        return _require_short(content, index, "content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else None for part in parts]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise UnfitValue("is not text.", "Only text can be judged.", index, "content")
    return _require_short("\n".join(map(str, texts)), index, "content")


#: The file's words for options, by criterion, or for all under "".
Words = Mapping[str, Mapping[str, str]]
#: The prefix of a mapping change that translates a word.
WORD = "word:"


def is_word_change(change: str) -> bool:
    """Return whether a mapping change translates a word instead of a column."""
    return change.startswith(WORD)


def words_in_changes(changes: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the translations of ``--map-label`` by criterion ("" for all).

    An empty word is a blank cell.

    Raises:
        InputError: an invalid change.

    >>> words_in_changes(["tone:kind=MET", "n=UNMET", "=UNMET"])
    {'tone': {'kind': 'MET'}, '': {'n': 'UNMET', '': 'UNMET'}}
    """
    by_criterion: dict[str, dict[str, str]] = {}
    for change in changes:
        target, equals, ours = change.rpartition("=")
        criterion, colon, theirs = target.partition(":")
        criterion, theirs = (criterion.strip(), theirs) if colon else ("", target)
        if not equals or not ours.strip():
            raise InputError(
                f"--map-label {change!r} is not understood. Write CRITERION:THEIRS=OURS, or "
                "THEIRS=OURS for every criterion; nothing for THEIRS is a blank cell."
            )
        by_criterion.setdefault(criterion, {})[theirs.strip()] = ours.strip()
    return by_criterion


def translated_words(changes: Sequence[str]) -> set[str]:
    """Return the words of the file that changes translate."""
    meant = words_in_changes(
        [change.removeprefix(WORD) for change in changes if is_word_change(change)]
    )
    return {word for words in meant.values() for word in words}


def option_for(options: Words, criterion: str, word: str) -> str:
    """Return the option for a word of the file, or the word itself."""
    for name in (criterion, ""):
        if (ours := options.get(name, {}).get(word)) is not None:
            return ours
    return word


class Truth:
    """Reads labels against a rubric, or unchanged without one.

    ``words`` translates the file's own words to options. ``empty`` counts the words that mean no
    label.
    """

    def __init__(
        self,
        rubric: Rubric | None,
        words: Words = MappingProxyType({}),
        empty: Counter[str] | None = None,
    ) -> None:
        self._rubric, self._words = rubric, words
        self.empty = Counter[str]() if empty is None else empty
        self._known = {fold(c.name): c for c in rubric.criteria} if rubric else {}
        # Cached, because the same few words are looked up again and again.
        self._known_word = lru_cache(10_000)(self._read_label)
        self._empty_word = lru_cache(10_000)(self._is_empty)

    def named_label(self, name: str, value: Any, reason: Any = "") -> tuple[str, Label] | None:
        """Return the criterion's name and its label with a reason, or ``None``.

        Raises:
            UnfitValue: an unknown criterion, an unknown option, or an invalid label.
        """
        if isinstance(value, dict):
            if "label" not in value or not value.keys() <= {"label", "reason"}:
                raise UnfitValue(f"has the keys {', '.join(value)}.", "Use label and reason.")
            value, reason = value["label"], value.get("reason")
        if value is None or isinstance(value, str | float):
            word = "" if value is None else str(value).strip()
            if self._empty_word(name, word):
                self.empty[word] += 1
                return None
        if isinstance(value, str) and (reason is None or reason == ""):
            return self._known_word(name, value)
        return self._read_label(name, value, reason)

    def _read_label(self, name: str, value: Any, reason: Any = "") -> tuple[str, Label]:
        criterion = self._criterion_named(name)
        name = criterion.name if criterion else name
        label = self._translated_word(name, value)
        if label is None:
            label = _label_word(value, criterion)
            if criterion is not None:
                label = _matched_or_explained(criterion, label)
        elif criterion is not None:
            label = label_as_spelt(criterion, label)
        return name, Label(label=label, reason=_reason_text(reason))

    def _is_empty(self, name: str, word: str) -> bool:
        word = option_for(self._words, name, word)
        if fold(word) not in NO_ANSWER:
            return False
        return not word or holds_no_answer(self._criterion_named(name), word)

    def _translated_word(self, criterion: str, value: Any) -> str | None:
        """Return the translation of a word, or ``None``."""
        word = label_as_word(value)
        meant = option_for(self._words, criterion, word)
        return None if meant == word else meant

    def labels_from_list(self, values: Any, reasons: Any) -> dict[str, Label]:
        """Return labels from a list in the order of the rubric's criteria.

        Raises:
            UnfitValue: no rubric to align with, a wrong length, or an invalid label.
        """
        if values is None:
            return {}
        if self._rubric is None:
            mend = "Import the rubric with it, or label by criterion name."
            raise UnfitValue("lists labels, but there is no rubric to align them to.", mend)
        expected = len(self._rubric.criteria)
        for kind, entries in (("labels", values), ("reasons", reasons)):
            if entries is not None and (not isinstance(entries, list) or len(entries) != expected):
                size = f"{len(entries)} {kind}" if isinstance(entries, list) else kind_of(entries)
                raise UnfitValue(
                    f"has {size} for {expected} criteria.", f"List {expected}, in their order."
                )
        labels = {}
        for index, criterion in enumerate(self._rubric.criteria):
            try:
                label = self.named_label(
                    criterion.name, values[index], reasons[index] if reasons else ""
                )
            except UnfitValue as error:
                raise UnfitValue(error.message, error.mend, index) from None
            if label:
                labels[label[0]] = label[1]
        return labels

    def _criterion_named(self, name: str) -> Criterion | None:
        if self._rubric is None:
            return None
        criterion = self._known.get(fold(name))
        if criterion is None:
            names = [c.name for c in self._rubric.criteria]
            mend = hint_for(name, set(names)) or f"Its criteria are {_label_list(names)}."
            raise UnfitValue("is not a criterion of the rubric.", mend)
        return criterion


def _matched_or_explained(criterion: Criterion, label: str) -> str:
    try:
        return label_as_spelt(criterion, label)
    except UnfitValue as error:
        word = label[:80].removesuffix(".0")
        mend = f"{error.mend} Or say what it means: --map-label '{criterion.name}:{word}=OPTION'."
        raise UnfitValue(error.message, mend) from None


def label_as_word(value: Any) -> str:
    """Return a label cell as a word: ``3.0`` becomes ``3``, JSON's true ``true``.

    >>> label_as_word(True), label_as_word(3.0), label_as_word(" ja ")
    ('true', '3', 'ja')
    """
    word = str(value).strip()
    if isinstance(value, bool):
        return word.lower()
    return word.removesuffix(".0") if isinstance(value, float) else word


def label_as_spelt(criterion: Criterion, label: str) -> str:
    """Return the label as the rubric spells it; CANNOT_ASSESS is always valid.

    Raises:
        UnfitValue: no option has that label; the message lists the options.
    """
    if fold(label) == fold(CANNOT_ASSESS):
        return label
    option = option_named(criterion, label)
    if option is not None:
        return criterion.options[option].label if option < len(criterion.options) else label
    labels = _label_list([option.label for option in criterion.options])
    raise UnfitValue(f"is {label[:80]!r}, which is not an option.", f"Use one of {labels}.")


def _label_word(value: Any, criterion: Criterion | None) -> str:
    if isinstance(value, bool):
        if criterion is None:
            return "yes" if value else "no"
        word = "true" if value else "false"
        if option_named(criterion, word) is None:
            raise UnfitValue("is a yes/no value.", "Write the option's label, as text.")
        return word
    if not isinstance(value, str | int | float):
        raise UnfitValue(f"is {kind_of(value)}.", "Write the option's label.")
    return str(value)


def _reason_text(reason: Any) -> str:
    if reason is None:
        return ""
    if not isinstance(reason, str):
        raise UnfitValue(f"gives {kind_of(reason)} as a reason.", "Write the reason as text.")
    return reason


def _label_list(labels: list[str]) -> str:
    shown = ", ".join(repr(word) for word in labels[:20])
    return shown if len(labels) <= 20 else f"{shown} and {len(labels) - 20} more"
