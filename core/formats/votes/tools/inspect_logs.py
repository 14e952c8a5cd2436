"""Read logs of Inspect (version 2): `.eval` (a zip archive of JSON) and `.json`.

The output of a sample's epoch is an item. Epochs with the same output are replicates of one item.
Every scorer is a rater. Scorers with letters C, P, I or N answer one question: whether the answer
is correct. Any other score is a separate question. A person's later change counts as that person's
answer, and the scorer keeps its first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from core.domain.rubric import MET, UNMET
from core.errors import InputError
from core.formats.source.opened import Opened
from core.formats.votes.scales import Value
from core.formats.votes.tools.messages import (
    conversation_text,
    object_or_empty,
    objects_in,
    text_in,
)
from core.formats.votes.tools.shapes import ToolShape
from core.formats.votes.tools.tool_results import RaterKind, ToolAnswer, ToolQuestion, ToolResults

CORRECT = "correct"  #: The question that Inspect's letters answer.
_WORTH = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_MET_OR_NOT = ((UNMET, 0.0), (MET, 1.0))
_ATTACHED = "attachment://"
_HEADER, _STARTED, _SAMPLES = "header.json", "_journal/start.json", "samples/"


#: Restores a text that is stored elsewhere in the log.
Restored = Callable[[str], str]


def is_archive(names: Iterable[str]) -> bool:
    """Return whether an archive with these members is a log."""
    members = set(names)
    return bool(members & {_HEADER, _STARTED}) and any(
        name.startswith((_SAMPLES, "_journal/")) for name in members
    )


def _members(file: Opened) -> list[str]:
    return list(file.archive.members) if file.archive else []


def _is_document(file: Opened) -> bool:
    if not file.has_words("version", "eval", "samples"):
        return False
    about = object_or_empty(object_or_empty(file.value).get("eval"))
    return "samples" in file.value and {"task", "model"} <= about.keys()


def _read_archive(file: Opened) -> ToolResults:
    members = _members(file)
    reader = _LogReader(object_or_empty(file.json(_HEADER if _HEADER in members else _STARTED)))
    for path in members:
        if path.startswith(_SAMPLES):
            reader.read_sample(object_or_empty(file.json(path)))
    return reader.results()


def _read_document(file: Opened) -> ToolResults:
    reader = _LogReader(file.value)
    for sample in objects_in(file.value["samples"]):
        reader.read_sample(sample)
    return reader.results()


def item_ids(log_header: Mapping[str, Any], samples: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the item of every sample of a log, in order."""
    reader = _LogReader(log_header)
    return [reader.item_of_sample(sample, _attachment_reader(sample)) for sample in samples]


class _LogReader:
    def __init__(self, log_header: Mapping[str, Any]) -> None:
        self._about = object_or_empty(log_header.get("eval"))
        self._status = str(log_header.get("status") or "")
        title = str(self._about.get("task") or "Inspect log")
        self._found = ToolResults("inspect", f"{title} ({self._about.get('model')})"[:200])
        self._scorers = {str(s.get("name")): s for s in objects_in(self._about.get("scorers"))}
        self._known: dict[tuple[str, str], str] = {}
        self._times = Counter[str]()
        self._errors: list[tuple[str, int, str]] = []
        self._seen: dict[tuple[str, str, RaterKind], None] = {}

    def read_sample(self, sample: Mapping[str, Any]) -> None:
        """Read one sample of one epoch."""
        if sample.get("id") is None:
            raise InputError("A sample of this log has no id.", (), self._found.title)
        text = _attachment_reader(sample)
        item = self.item_of_sample(sample, text)
        epoch = self._times[item]
        self._times[item] += 1
        error = object_or_empty(sample.get("error")).get("message")
        scores = object_or_empty(sample.get("scores"))
        if error and not scores:
            self._errors.append((item, epoch, str(error)))
        for name, score in scores.items():
            self._add_score(item, epoch, name, object_or_empty(score), text)

    def item_of_sample(self, sample: Mapping[str, Any], text: Restored) -> str:
        """Return the item of a sample's output, which may be from an earlier epoch."""
        id, output = str(sample["id"]), text(_output_text(sample))
        if (id, output) in self._known:
            return self._known[id, output]
        first = id not in self._found.items
        item = id if first else f"{id}, epoch {sample.get('epoch')}"
        self._known[id, output] = item
        target = sample.get("target")
        reference = "\n".join(map(str, target)) if isinstance(target, list) else target
        meta = {key: text(v) if isinstance(v, str) else v
                for key, v in object_or_empty(sample.get("metadata")).items()}  # fmt: skip
        self._found.items[item] = {
            "submission": output,
            "prompt": text(conversation_text(sample.get("input"))),
            "reference": text(str(reference or "")),
            "system": str(self._about.get("model") or ""),
            "meta": meta,
        }
        return item

    def _add_score(
        self, item: str, epoch: int, scorer: str, score: Mapping[str, Any], text: Restored
    ) -> None:
        kind = self._rater_kind(scorer, score)
        history = objects_in(score.get("history"))
        first = history[0].get("value", score.get("value")) if history else score.get("value")
        reason = history[0].get("explanation", "") if history else score.get("explanation")
        self._add_values(
            item, epoch, (scorer, self._rater_name(scorer), kind), first, text(text_in(reason))
        )
        value = first
        people = dict[str, tuple[Any, str]]()
        for edit in history[1:]:
            provenance = object_or_empty(edit.get("provenance"))
            if edit.get("value", "UNCHANGED") != "UNCHANGED":
                value = edit["value"]
            people[str(provenance.get("author") or "editor")] = (
                value,
                str(provenance.get("reason") or ""),
            )
        for author, (last, why) in people.items():
            self._add_values(item, epoch, (scorer, author, "human"), last, why)

    def _add_values(
        self, item: str, epoch: int, who: tuple[str, str, RaterKind], value: Any, reason: str
    ) -> None:
        scorer, rater, kind = who
        if isinstance(value, dict):
            parts = {f"{scorer}: {key}": part for key, part in value.items()}
        elif isinstance(value, list):
            parts = {f"{scorer}: {at}": part for at, part in enumerate(value, start=1)}
        else:
            parts = {scorer: value}
        for name, part in parts.items():
            letter = isinstance(part, str) and part in _WORTH
            question = CORRECT if letter and name == scorer else name
            self._seen[question, rater, kind] = None
            scalar: Value = part if isinstance(part, bool | int | float | str) else None
            answer = ToolAnswer(item, question, rater, kind, scalar, reason, epoch)
            self._found.answers.append(answer)

    def _rater_kind(self, scorer: str, score: Mapping[str, Any]) -> RaterKind:
        """Return ``llm`` for a model scorer or one that names a model, otherwise ``offline``."""
        if "grading" in object_or_empty(score.get("metadata")) or self._model_of_scorer(scorer):
            return "llm"
        return "llm" if scorer.startswith("model_graded") else "offline"

    def _rater_name(self, scorer: str) -> str:
        model = self._model_of_scorer(scorer)
        return f"{scorer} ({model})" if model else scorer

    def _model_of_scorer(self, scorer: str) -> str:
        model = object_or_empty(self._scorers.get(scorer, {}).get("options")).get("model")
        if isinstance(model, dict):
            model = model.get("model")
        return str(model) if isinstance(model, str) and model else ""

    def results(self) -> ToolResults:
        """Return all results: letters as options, and errors as failures."""
        results = self._found
        self._name_letters()
        for item, epoch, message in self._errors:
            for question, rater, kind in self._seen:
                if kind != "human":
                    failed = ToolAnswer(item, question, rater, kind, None, message[:500], epoch)
                    results.answers.append(failed)
        if self._errors:
            results.note(f"{len(self._errors):,} samples ended in an error; they are failures.")
        if self._status not in ("success", ""):
            results.note(f"The log says {self._status!r}: it may hold less than was asked for.")
        if len(self._known) > len({id for id, _ in self._known}):
            results.note("Epochs that put out something else are items of their own.")
        return results

    def _name_letters(self) -> None:
        """Replace C and I by met or not, or three levels with P; N counts as I."""
        results = self._found
        letters: dict[str, set[str]] = {}
        for answer in results.answers:
            if isinstance(answer.value, str) and answer.value in _WORTH:
                letters.setdefault(answer.question, set()).add(answer.value)
        if any("N" in used for used in letters.values()):
            results.note("N (no answer) counts as I (incorrect), as Inspect counts it.")
        for question, used in letters.items():
            text = "The answer is correct, judged by the reference." if question == CORRECT else ""
            options = (("I", 0.0), ("P", 0.5), ("C", 1.0)) if "P" in used else _MET_OR_NOT
            results.questions[question] = ToolQuestion(text, options)
        results.answers = [_with_option_name(answer, letters) for answer in results.answers]


def _with_option_name(answer: ToolAnswer, letters: Mapping[str, set[str]]) -> ToolAnswer:
    """Return the answer with its letter replaced by the option's name."""
    used = letters.get(answer.question)
    if used is None or not isinstance(answer.value, str):
        return answer
    if "P" in used:
        return answer._replace(value="I" if answer.value == "N" else answer.value)
    return answer._replace(value={"C": MET, "I": UNMET, "N": UNMET}.get(answer.value, answer.value))


def _attachment_reader(sample: Mapping[str, Any]) -> Restored:
    """Return a function that restores long texts, which the log stores once, elsewhere."""
    attachments = object_or_empty(sample.get("attachments"))

    def restored_text(given: str) -> str:
        key = given.removeprefix(_ATTACHED)
        return str(attachments[key]) if key != given and key in attachments else given

    return restored_text


def _output_text(sample: Mapping[str, Any]) -> str:
    output = object_or_empty(sample.get("output"))
    if isinstance(output.get("completion"), str) and output["completion"]:
        return str(output["completion"])
    for choice in objects_in(output.get("choices")):
        return text_in(object_or_empty(choice.get("message")).get("content"))
    replies = [m for m in objects_in(sample.get("messages")) if m.get("role") == "assistant"]
    return text_in(replies[-1].get("content")) if replies else ""


SHAPES = (
    ToolShape("archive", lambda file: is_archive(_members(file)), _read_archive),
    ToolShape("object", _is_document, _read_document),
)
