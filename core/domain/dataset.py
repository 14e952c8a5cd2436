"""Dataset and item: what judges judge."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from core.domain.base import Noun, defect
from core.domain.rubric import Criterion, Rubric
from core.text.names import fold

MAX_TEXT = 2_000_000
MAX_CONTEXTS = 20

LongText = Annotated[str, Field(max_length=MAX_TEXT)]


def _plain_name(name: str) -> str:
    if name != " ".join(name.split()) or not name:
        raise defect(f"has the name {name!r}.", "Use one line without spaces at its ends.")
    return name


ContextName = Annotated[str, Field(max_length=80), AfterValidator(_plain_name)]
#: Named context that judges see with the task, such as passages or a policy.
Context = Annotated[dict[ContextName, LongText], Field(max_length=MAX_CONTEXTS)]


#: Roles that ask or set up a conversation; all others are judged.
ASKERS = frozenset({"user", "human", "customer", "system", "developer", "tool"})


class Message(Noun):
    """A turn of a conversation."""

    role: Annotated[str, Field(min_length=1, max_length=50)]
    content: LongText

    @property
    def judged(self) -> bool:
        """Return whether the turn is by the judged party."""
        return fold(self.role) not in ASKERS


class Sections(Noun):
    """A submission in two sections: the model's thinking and its output."""

    thinking: LongText = ""
    output: LongText


def _submission_type(value: Any) -> str | None:
    """Return the type of a submission, so that errors mention this type only."""
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        return "messages"
    if isinstance(value, Pair) or (isinstance(value, dict) and value.keys() & {"first", "second"}):
        return "answers"
    return "sections" if isinstance(value, Sections | dict) else None


_FORM = Discriminator(
    _submission_type,
    custom_error_type="submission_form",
    custom_error_message="is no submission.",
)
_Text = Annotated[LongText, Tag("text")]
_Messages = Annotated[tuple[Message, ...], Tag("messages")]
_Sections = Annotated[Sections, Tag("sections")]
Answer = Annotated[_Text | _Messages | _Sections, _FORM]


class Pair(Noun):
    """Two answers to the same task, for comparison; judges see them as A (first) and B."""

    first: Answer
    second: Answer


Submission = Annotated[_Text | _Messages | _Sections | Annotated[Pair, Tag("answers")], _FORM]
Split = Literal["calibration", "evaluation"]


def output_of(answer: Answer) -> str:
    """Return an answer's text without its thinking; for a chat, its turns in order."""
    if isinstance(answer, str):
        return answer
    if isinstance(answer, Sections):
        return answer.output
    return "\n\n".join(f"{m.role}: {m.content}" for m in answer)


class Label(Noun):
    """The true answer to a criterion for an item: an option's label, and a reason."""

    label: str
    reason: str = ""


#: Matches ids that file readers generate for rows without an id, and metadata keys that name an
#: item or its author.
_MADE = re.compile(r"item-\d{4,}(-\d+)?")
_NAMES = re.compile(r"\b(name|student|pupil|learner|title)\b", re.IGNORECASE)
TITLE_WORDS = 5


class Item(Noun):
    """A submission with its context. ``labels`` maps criterion names to the true labels."""

    id: Annotated[str, Field(min_length=1, max_length=500)]
    submission: Submission
    prompt: LongText = ""
    context: Context = Field(default_factory=dict)
    reference: LongText = ""
    description: LongText = ""
    rubric: Rubric | None = None
    labels: dict[str, Label] = Field(default_factory=dict)
    system: str = ""
    tags: tuple[str, ...] = ()
    split: Split | None = None
    meta: dict[str, Any] = Field(default_factory=dict)

    @cached_property
    def output(self) -> str:
        """Return the judged text without its thinking; for a pair both answers, A before B."""
        if isinstance(self.submission, Pair):
            first, second = map(output_of, (self.submission.first, self.submission.second))
            return f"A:\n{first}\n\nB:\n{second}"
        return output_of(self.submission)

    @cached_property
    def thinking(self) -> str:
        """Return the thinking section, or ""."""
        return self.submission.thinking if isinstance(self.submission, Sections) else ""

    @property
    def text(self) -> str:
        """Return the whole submission as one text."""
        return f"{self.thinking} {self.output}" if self.thinking else self.output

    @property
    def title(self) -> str:
        """Return the id, or if it was generated from the row, the item's name or first words.

        >>> Item(id="item-0001", submission="The tide turns.", meta={"Student": "Kay"}).title
        'Kay'
        """
        if not _MADE.fullmatch(self.id):
            return self.id
        named = (str(value) for key, value in self.meta.items() if value and _NAMES.search(key))
        return next(named, " ".join(self.output.split()[:TITLE_WORDS])) or self.id

    def truth(self, criterion: Criterion) -> int | None:
        """Return the index (into ``choices``) of the true option, or ``None`` without a label."""
        label = self.labels.get(criterion.name)
        return None if label is None else criterion.index_of(label.label)


class Dataset(Noun):
    """A named, ordered list of items.

    ``prompt``, ``context``, ``reference`` and ``rubric`` are defaults for items without their own.
    """

    name: Annotated[str, Field(min_length=1, max_length=200)] = "Untitled dataset"
    description: str = ""
    prompt: LongText = ""
    context: Context = Field(default_factory=dict)
    reference: LongText = ""
    rubric: Rubric | None = None
    items: tuple[Item, ...]
    meta: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Dataset:
        if not self.items:
            raise defect("is empty.", "A dataset needs at least one item.", "items")
        positions = dict[str, int]()
        for index, item in enumerate(self.items):
            if item.id in positions:
                raise defect(
                    f"repeats the id {item.id!r} of item {positions[item.id] + 1}.",
                    "Give every item an id of its own.",
                    "items",
                    index,
                    "id",
                )
            positions[item.id] = index
        return self

    def resolved(self, item: Item) -> Item:
        """Return ``item`` with the dataset's prompt, context and reference where it has none.

        Contexts are merged by name: an item may add to the dataset's.
        """
        changes: dict[str, Any] = {
            name: value
            for name, value in (("prompt", self.prompt), ("reference", self.reference))
            if value and not getattr(item, name)
        }
        if self.context.keys() - item.context.keys():
            changes["context"] = {**self.context, **item.context}
        return item.model_copy(update=changes) if changes else item
