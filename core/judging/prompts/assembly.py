"""Build the exact messages of a question.

Shared content comes first, so that provider prompt caches hit. ``item_first``: system text,
guidelines, task and reference, submission, criterion. ``criterion_first``: system text, guidelines,
requirement with examples, task and reference, options, submission. In ``criterion_first`` the
examples name options by label and precede the numbered list, so items with another option order
still share them. Weights, values, labels of the judged item, its system and unasked criteria are
never shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import NamedTuple

from core.domain.dataset import Item, Pair
from core.domain.votes import Segment
from core.identity import Same
from core.judging.prompts import pair_wording, wording
from core.judging.prompts.pair_wording import PAIR_VERSION
from core.judging.prompts.parts import (
    Code,
    FencedPart,
    background_part,
    comparison_part,
    examples_code,
    examples_part,
    guidelines_part,
    options_part,
    requirement_part,
    submission_part,
)
from core.judging.prompts.reply_parsing import (
    Schema,
    ids_of,
    option_schema,
    reply_schema,
    rubric_schema,
)
from core.judging.prompts.wording import PROMPT_VERSION
from core.judging.protocol import Ask, Question
from core.records import record

#: Cache size; judges work on a few items at a time.
_REMEMBERED = 64


@record(frozen=True, slots=True)
class Prompt:
    """The segments to send, the reply's JSON schema, and the wording's version.

    ``nonce`` is the code of the fences around the submission of a question.
    """

    segments: tuple[Segment, ...]
    schema: Schema
    version: str
    nonce: str = ""


@dataclass(frozen=True, slots=True)
class _Texts:
    """The fenced texts of a question; ``background`` is the task with its material and reference.

    ``first`` begins the prompt in ``item_first``; ``shared_submission`` follows it if several
    questions share the submission.
    """

    guidelines: str
    background: str
    submission: FencedPart
    examples: Code
    first: tuple[Segment, ...]
    shared_submission: Segment


class _Words(NamedTuple):
    """The wording around a question's texts, for one submission or for two."""

    version: str
    system: Mapping[str, str]
    ask: str
    ask_all: str
    assess: str
    choose: str


_OF_ONE = _Words(
    PROMPT_VERSION, wording.SYSTEM, wording.ASK, wording.ASK_ALL, wording.ASSESS, wording.CHOOSE
)
_BRIEF = _Words(
    wording.BRIEF_VERSION,
    wording.BRIEF_SYSTEM,
    wording.BRIEF_ASK,
    wording.BRIEF_ASK_ALL,
    wording.BRIEF_ASSESS,
    wording.BRIEF_ASK,
)
_OF_TWO = _Words(
    PAIR_VERSION,
    pair_wording.SYSTEM,
    pair_wording.ASK,
    pair_wording.ASK_ALL,
    pair_wording.ASSESS,
    pair_wording.CHOOSE,
)


def _is_comparison(question: Question) -> bool:
    return isinstance(question.item.submission, Pair)


def _wording_of(question: Question) -> _Words:
    if _is_comparison(question):
        return _OF_TWO
    return _BRIEF if is_brief(question) else _OF_ONE


def is_brief(question: Question) -> bool:
    """Return whether a question gets the brief wording; comparisons never do."""
    return question.style == "brief" and not _is_comparison(question)


def build_prompt(question: Question) -> Prompt:
    """Return the prompt for a question; equal questions give the same bytes.

    Options are numbered from 1 in the order of each ask. In ``two_step`` mode this first message
    asks for an assessment in words; ``follow_up_messages`` then asks for the choice, and the schema
    is for that answer. The codes around texts depend only on the seed and these texts, so that
    calls about the same texts repeat the same bytes, which providers can cache.
    """
    if question.more and question.mode != "rubric":
        raise ValueError(f"Mode {question.mode} asks one criterion per call, not several.")
    texts = _fenced_texts(question)
    parts = (
        _criterion_first_messages if question.layout == "criterion_first" else _item_first_messages
    )
    wording_of = _wording_of(question)
    system = _system_segment(_system_text(wording_of, question))
    segments = (system, *parts(question, texts))
    return Prompt(
        segments, _reply_schema(question), wording_of.version, texts.submission.code.nonce
    )


def _reply_schema(question: Question) -> Schema:
    counts, several_criteria = [len(ask.order) for ask in question.asks], question.mode == "rubric"
    if is_brief(question):
        return option_schema(counts, allows_several=several_criteria)
    return rubric_schema(counts) if several_criteria else reply_schema(counts[0])


@lru_cache(maxsize=_REMEMBERED)
def _system_segment(text: str) -> Segment:
    return Segment("system", text, shared=True)


def decision_messages(question: Question, system: str, last: str) -> tuple[Segment, ...]:
    """Return the messages to a model that only makes decisions: rules, material, question."""
    texts = _fenced_texts(question)
    if question.instructions:
        system = f"{system.rstrip()}\n\n{wording.INSTRUCTIONS}\n{question.instructions}\n"
    segments = (
        Segment("system", system, shared=True),
        Segment("user", texts.guidelines),
        Segment("user", texts.background, shared=True),
        Segment("user", texts.submission.text, shared=len(question.rubric.criteria) > 1),
        Segment("user", last),
    )
    return tuple(segment for segment in segments if segment.text)


def _system_text(words: _Words, question: Question) -> str:
    """Return the system text, followed by the judge's own instructions."""
    text = words.system[question.mode]
    if not question.instructions:
        return text
    return f"{text.rstrip()}\n\n{wording.INSTRUCTIONS}\n{question.instructions}\n"


def follow_up_messages(question: Question, assessment: str) -> tuple[Segment, Segment]:
    """Return the second step's messages: the ``assessment`` and the request to choose."""
    choose = _wording_of(question).choose.format(count=len(question.order))
    return Segment("assistant", assessment), Segment("user", choose)


def summary_messages(reply: str) -> tuple[Segment, Segment]:
    """Return the messages that repeat the ``reply`` and ask for a summary of its reasons."""
    return Segment("assistant", reply), Segment("user", pair_wording.SUMMARISE)


def repair_message(problem: str, question: Question) -> Segment:
    """Return the message that asks again after an unreadable reply. ``problem`` is a sentence."""
    if is_brief(question):
        count, words = len(question.order), _wording_of(question)
        request_again = words.ask_all if question.mode == "rubric" else words.ask
        ids = _listed_ids(ids_of(len(question.asks)))
        text = wording.BRIEF_REPAIR.format(problem=problem)
        return Segment("user", text + request_again.format(ids=ids, count=count))
    if question.mode == "rubric":
        ids = _listed_ids(ids_of(len(question.asks)))
        return Segment("user", wording.REPAIR_ALL.format(problem=problem, ids=ids))
    return Segment("user", wording.REPAIR.format(problem=problem, count=len(question.order)))


def truncated_repair(question: Question) -> tuple[Segment, Schema]:
    """Return the message that asks for options alone after a truncated reply, and its schema."""
    several_criteria = question.mode == "rubric"
    counts = [len(ask.order) for ask in question.asks]
    words = wording.REPAIR_CUT_ALL if several_criteria else wording.REPAIR_CUT
    text = words.format(ids=_listed_ids(ids_of(len(counts))), count=counts[0])
    return Segment("user", text), option_schema(counts, allows_several=several_criteria)


def assessment_repair(problem: str) -> Segment:
    """Return the message that asks again for a missing assessment."""
    return Segment("user", wording.REPAIR_ASSESSMENT.format(problem=problem))


def _item_first_messages(question: Question, texts: _Texts) -> Iterable[Segment]:
    is_only_criterion = question.mode == "rubric" or len(question.rubric.criteria) == 1
    submission = (
        Segment("user", texts.submission.text) if is_only_criterion else texts.shared_submission
    )
    if question.mode != "rubric" and not question.examples:
        same = Same(question.criterion)
        last = _plain_request(same, question.order, question.mode, _wording_of(question).version)
        return (*texts.first, submission, last)
    parts = list[str]()
    for name, ask in _asks_by_id(question):
        parts += _requirement_text(question, ask, name), options_part(*ask[1:], name)
        parts.append(_examples_text(question, ask, texts, name, ask.order))
    return (*texts.first, submission, _last_segment(question, *parts))


@lru_cache(maxsize=512)
def _plain_request(same: Same, order: tuple[int, ...], mode: str, version: str) -> Segment:
    """Return the end of a message about a criterion, shared by many items."""
    words = next(words for words in (_OF_ONE, _BRIEF, _OF_TWO) if words.version == version)
    part = comparison_part if words is _OF_TWO else requirement_part
    parts = (part(same.thing), options_part(same.thing, order))
    return _ending_segment(words, mode, len(order), parts)


def _criterion_first_messages(question: Question, texts: _Texts) -> Iterable[Segment]:
    lead, options = list[str](), list[str]()
    for name, ask in _asks_by_id(question):
        lead += (
            _requirement_text(question, ask, name),
            _examples_text(question, ask, texts, name, None),
        )
        options.append(options_part(*ask[1:], name))
    segments = (
        Segment("user", texts.guidelines),
        Segment("user", _joined_parts(lead), shared=True),
        Segment("user", texts.background, shared=True),
        Segment("user", _joined_parts(options)),
        Segment("user", texts.submission.text),
        _last_segment(question),
    )
    return (segment for segment in segments if segment.text)


def _asks_by_id(question: Question) -> Iterable[tuple[str, Ask]]:
    """Return every ask with its shown id, which is empty for a single ask."""
    asks = question.asks
    if question.mode != "rubric":
        return [("", asks[0])]
    return zip(ids_of(len(asks)), asks, strict=True)


def _requirement_text(question: Question, ask: Ask, name: str) -> str:
    part = comparison_part if _is_comparison(question) else requirement_part
    return part(ask.criterion, name)


def _examples_text(
    question: Question, ask: Ask, texts: _Texts, name: str, order: tuple[int, ...] | None
) -> str:
    return examples_part(
        ask.criterion,
        question.examples,
        question.item,
        order=order,
        nonce=texts.examples.nonce,
        prefix=name and f"{name}.",
    )


def _last_segment(question: Question, *parts: str) -> Segment:
    """Return the end of the message: these parts and the request."""
    words = _wording_of(question)
    if question.mode == "rubric":
        request_all = words.ask_all.format(ids=_listed_ids(ids_of(len(question.asks))))
        return Segment("user", _joined_parts([*parts, request_all]))
    return _ending_segment(words, question.mode, len(question.order), parts)


def _ending_segment(words: _Words, mode: str, count: int, parts: Iterable[str]) -> Segment:
    """Return the end of a message about a criterion with this many options."""
    is_assessment = mode == "two_step"
    final_request = words.assess if is_assessment else words.ask.format(count=count)
    return Segment("user", _joined_parts([*parts, final_request]), shared=is_assessment)


def _listed_ids(ids: Sequence[str]) -> str:
    return ", ".join(f'"{id_}"' for id_ in ids)


def _joined_parts(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _fenced_texts(question: Question) -> _Texts:
    shown = tuple(map(Same, question.examples))
    return _texts_of(Same(question.item), question.rubric.guidelines, shown, question.seed)


@lru_cache(maxsize=_REMEMBERED)
def _texts_of(same: Same, rules: str, shown: tuple[Same, ...], seed: int) -> _Texts:
    """Return the texts that all questions about an item with examples share."""
    item: Item = same.thing
    makers = (
        partial(submission_part, item, seed),
        partial(guidelines_part, rules, seed),
        partial(background_part, item, seed),
        lambda skip: FencedPart(
            "", examples_code([example.thing for example in shown], seed, skip)
        ),
    )
    submission, guidelines, background, examples = _parts_with_codes(makers)
    first = tuple(
        segment
        for segment in (
            Segment("user", guidelines.text),
            Segment("user", background.text, shared=True),
        )
        if segment.text
    )
    shared = Segment("user", submission.text, shared=True)
    return _Texts(guidelines.text, background.text, submission, examples.code, first, shared)


def _parts_with_codes(makers: Sequence[Callable[[int], FencedPart]]) -> list[FencedPart]:
    """Return the parts, each with a code that no part's text contains.

    A maker skips codes in its own text; this skips those in other parts' texts. Codes cannot be
    guessed, so the first code of a part hardly ever has to change, and parts do not depend on each
    other.
    """
    parts = [make(0) for make in makers]
    texts = [part.code.folded for part in parts]
    for place, make in enumerate(makers):
        skip = 0
        while any(parts[place].code.nonce in text for text in texts):
            skip += 1
            parts[place] = make(skip)
    return parts
