"""Hypothesis strategies for the domain, shared by every test that says "any valid rubric"."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st

from core.domain.dataset import Dataset, Item, Label, Message, Sections
from core.domain.gates import (
    ABSTENTIONS,
    FAMILIES,
    Condition,
    Decision,
    Effect,
    Gate,
    LengthPenalty,
    Near,
    Precheck,
    ScoringPolicy,
)
from core.domain.rubric import BINARY, MET, RULES, SCALES, UNMET, Criterion, Option, Rubric, Scale
from core.text.names import fold

#: Texts that files get wrong: what YAML reads as something else, odd spaces, breaks and quotes.
HOSTILE = (
    *("yes", "no", "on", "null", "~", "true", "010", "0x1F", "1e3", "1_000", "1:30", "1.50"),
    *(".inf", "2024-01-01", "- a", "a: b", "a #b", "#", "*x", "&x", "!x", "|", ">", "%", "@", "`"),
    *("'", '"', "{", "[", "<<", "=", "---", "...", "? x", " lead", "trail ", "a\tb", "\ta"),
    *("a\nb", "a\n\nb\n", "a\n\n", "  a\nb", "a \nb", "a\r\nb", "a\rb", "\nx", "x\u2028y", "\x85"),
    *("é", "日本語", "🙂", "\ufeffx", "\x07", "a\x00b", "=1+1", "NaN", "Infinity", "long " * 40),
)


def texts(min_size: int = 0, max_size: int = 40) -> st.SearchStrategy[str]:
    """Any text, often a hostile one. Never half of a surrogate pair."""
    hostile = [text for text in HOSTILE if min_size <= len(text)]
    return st.one_of(st.sampled_from(hostile), st.text(min_size=min_size, max_size=max_size))


def words() -> st.SearchStrategy[str]:
    """A text that is not blank."""
    return texts(1).filter(lambda text: bool(fold(text)))


def _unlike(strategy: st.SearchStrategy[str], low: int, high: int) -> st.SearchStrategy[list[str]]:
    return st.lists(strategy, min_size=low, max_size=high, unique_by=fold)


def values() -> st.SearchStrategy[float]:
    """A value in [0, 1], usually a plain one."""
    return st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1))


def weights() -> st.SearchStrategy[float]:
    """A finite weight of either sign."""
    return st.one_of(
        st.sampled_from([10.0, 1.0, -6.0, 0.0, 2.5]),
        st.floats(-1e100, 1e100),
    )


def metas() -> st.SearchStrategy[dict[str, Any]]:
    """Notes: plain JSON data below text keys."""
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    leaves = st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), numbers, texts())
    keys = texts(1).filter(lambda key: key != "text_available")
    parts = st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts(), inner, max_size=2),
        max_leaves=4,
    )
    return st.one_of(st.just({}), st.dictionaries(keys, parts, max_size=3))


@st.composite
def options(draw: st.DrawFn, scale: Scale) -> tuple[Option, ...]:
    """Options that fit ``scale``, sometimes with an abstention among them."""
    if scale == "binary":
        if draw(st.booleans()):
            return BINARY
        made = [
            Option(label=MET, value=1.0, description=draw(texts())),
            Option(label=UNMET, value=0.0, description=draw(texts())),
        ]
        taken = {fold(MET), fold(UNMET)}
    else:
        labels = draw(_unlike(words(), 2, 4))
        numbers = draw(st.lists(values(), min_size=len(labels), max_size=len(labels)))
        if scale == "ordinal":
            numbers.sort(reverse=draw(st.booleans()))
        made = [
            Option(label=label, value=value, description=draw(texts()))
            for label, value in zip(labels, numbers, strict=True)
        ]
        taken = {fold(label) for label in labels}
    if draw(st.booleans()):
        label = draw(words().filter(lambda text: fold(text) not in taken))
        made.insert(draw(st.integers(0, len(made))), Option(label=label, na=True))
    return tuple(made)


@st.composite
def criteria(draw: st.DrawFn, name: str) -> Criterion:
    """A criterion of that name, of any scale."""
    scale = draw(st.sampled_from(SCALES))
    return Criterion(
        name=name,
        requirement=draw(words()),
        weight=draw(weights()),
        scale=scale,
        options=draw(options(scale)),
        section=draw(st.none() | texts()),
        tags=tuple(draw(st.lists(texts(), max_size=2))),
        aggregation=draw(st.none() | st.sampled_from(RULES[scale])),
        forced_choice=draw(st.booleans()),
        meta=draw(metas()),
    )


@st.composite
def gates(draw: st.DrawFn, over: tuple[Criterion, ...]) -> Gate:
    """A gate that fits the criteria it is ``over``."""
    criterion = draw(st.sampled_from(over))
    label = draw(st.sampled_from([o.label for o in criterion.options]))
    valued = draw(st.sampled_from([o.label for o in criterion.options if not o.na]))
    named: list[dict[str, Any]] = [{"below": valued}, {"is": label}, {"in": (label,)}]
    others: list[dict[str, Any]] = [{"at_least": 0.5}, {"above": 1.0}, {"abstained": True}]
    predicate = draw(st.sampled_from([*named, *others]))
    when: dict[str, Any] = {"criterion": criterion.name, **predicate}
    if draw(st.booleans()) and criterion.tags:
        when = {"tag": criterion.tags[0], **predicate, "count_at_least": 2}
    effects: list[dict[str, Any]] = [{"cap": draw(values())}, {"multiply": 0.5}]
    effects += [{"verdict": "fail"}, {"flag": draw(texts(1)), "reason": draw(texts())}]
    return Gate(
        name=draw(texts()),
        when=Condition(**when),
        then=Effect(**draw(st.sampled_from(effects))),
        on_missing=draw(st.sampled_from(["review", "skip", "fire"])),
    )


def policies() -> st.SearchStrategy[ScoringPolicy]:
    """Any scoring policy."""
    penalties = st.builds(
        LengthPenalty,
        free_budget=st.integers(0, 100),
        max_cap=st.integers(101, 200),
        exponent=st.floats(0.1, 3),
        of=st.sampled_from(["all", "output", "thinking"]),
    )
    return st.builds(
        ScoringPolicy,
        abstention=st.sampled_from(ABSTENTIONS),
        partial_credit=values(),
        min_coverage=values(),
        normalize=st.booleans(),
        length_penalty=st.none() | penalties,
    )


def phrases() -> st.SearchStrategy[str]:
    """A phrase that a pre-check may look for."""
    plain = ("<number> stones", "bomb*", "*pox", "mix ... with", "don't", "010", "yes", "null")
    # With neither * nor ..., which have places of their own, and never without a digit.
    odd = texts(1).map(lambda text: re.sub(r"[*.\u2026]", "x", text)[:199] + "7")
    return st.one_of(st.sampled_from(plain), odd)


@st.composite
def prechecks(draw: st.DrawFn) -> Precheck:
    """Any valid pre-check."""
    families = draw(st.lists(st.sampled_from(FAMILIES), unique=True, max_size=2))
    patterns = draw(st.lists(phrases(), min_size=0 if families else 1, max_size=2))
    near = st.builds(
        Near,
        terms=st.lists(phrases(), min_size=1, max_size=2).map(tuple),
        chars=st.none() | st.integers(0, 80),
    )
    action = draw(st.sampled_from(["flag", "cap", "fail"]))
    return Precheck(
        name=draw(texts()),
        families=tuple(families),
        patterns=tuple(patterns),
        unless_near=draw(st.none() | near),
        action=action,
        cap=draw(values()) if action == "cap" else None,
    )


@st.composite
def decisions(draw: st.DrawFn, normalize: bool) -> Decision:
    """A decision that fits the units of the score."""
    thresholds = values() if normalize else weights()
    low, high = sorted((draw(thresholds), draw(thresholds)))
    within = draw(st.sampled_from([0.0, 0.05, 1.0]))
    return Decision(
        pass_at=high, fail_below=draw(st.sampled_from([None, low])), review_within=within
    )


@st.composite
def rubrics(draw: st.DrawFn, max_criteria: int = 4) -> Rubric:
    """Any valid rubric, with texts that are hard on files."""
    names = draw(_unlike(words(), 1, max_criteria))
    made = tuple(draw(criteria(name)) for name in names)
    policy = draw(policies())
    return Rubric(
        name=draw(words()),
        description=draw(texts()),
        guidelines=draw(texts()),
        criteria=made,
        scoring=policy,
        gates=tuple(draw(st.lists(gates(made), max_size=2))),
        prechecks=tuple(draw(st.lists(prechecks(), max_size=2))),
        decision=draw(st.none() | decisions(policy.normalize)),
        meta=draw(metas()),
    )


def submissions() -> st.SearchStrategy[Any]:
    """A text, a conversation, or thinking and output."""
    messages = st.builds(Message, role=texts(1).filter(lambda t: len(t) <= 50), content=texts())
    return st.one_of(
        texts(),
        st.lists(messages, min_size=1, max_size=3).map(tuple),
        st.builds(Sections, thinking=texts(), output=texts()),
    )


def contexts() -> st.SearchStrategy[dict[str, str]]:
    """Named texts; a name is one line without spaces at its ends."""
    names = words().map(lambda name: " ".join(name.split())[:80].strip() or "passages")
    return st.dictionaries(names, texts(), max_size=2)


@st.composite
def items(draw: st.DrawFn, id: str, rubric: Rubric | None = None) -> Item:
    """An item; its labels fit the rubric in force, if there is one."""
    own = draw(st.none() | rubrics(max_criteria=2)) if rubric is None else None
    labels = {}
    for criterion in (own or rubric).criteria if own or rubric else ():  # type: ignore[union-attr]
        if draw(st.booleans()):
            label = draw(st.sampled_from([o.label for o in criterion.options]))
            labels[criterion.name] = Label(label=label, reason=draw(texts()))
    return Item(
        id=id,
        submission=draw(submissions()),
        prompt=draw(texts()),
        context=draw(contexts()),
        reference=draw(texts()),
        description=draw(texts()),
        rubric=own,
        labels=labels,
        system=draw(texts()),
        tags=tuple(draw(st.lists(texts(), max_size=2))),
        split=draw(st.sampled_from([None, "calibration", "evaluation"])),
        meta=draw(metas()),
    )


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """Any valid dataset whose labels fit their rubric."""
    rubric = draw(st.none() | rubrics(max_criteria=3))
    ids = draw(st.lists(words(), min_size=1, max_size=3, unique=True))
    return Dataset(
        name=draw(words()),
        description=draw(texts()),
        prompt=draw(texts()),
        context=draw(contexts()),
        reference=draw(texts()),
        rubric=rubric,
        items=tuple(draw(items(id, rubric)) for id in ids),
        meta=draw(metas()),
    )
