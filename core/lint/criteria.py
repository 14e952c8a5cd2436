"""Checks of a criterion's question: double questions, length, and similar names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.domain.rubric import Criterion, Rubric
from core.lint.language import (
    READ,
    alternatives,
    defines_its_words,
    scored_options,
    sentences,
    without_quotations,
    word_set,
)
from core.lint.rules import LintEdit, LintFinding, Path
from core.text.names import fold, skeletons

_ADJECTIVES = word_set(
    """accurate actionable appropriate balanced biased brief clean clear coherent complete
    comprehensive concise consistent contradictory convincing correct creative current detailed
    efficient elegant empathetic engaging factual fair faithful fluent formal friendly
    grammatical grounded harmful harmless helpful honest incomplete incorrect informative
    interesting irrelevant justified legible logical misleading natural neutral objective
    organi[sz]ed original persuasive plausible polite precise professional readable relevant
    reliable respectful rude safe short simple sound specific structured supported thorough
    timely toxic truthful understandable useful vague valid warm wrong"""
)
_NOUNS = word_set(
    """accuracy clarity coherence completeness conciseness consistency content correctness
    creativity depth empathy faithfulness fluency formatting grammar groundedness helpfulness
    layout logic naturalness organi[sz]ation originality politeness precision punctuation
    readability reasoning relevance safety spelling structure style tone truthfulness usefulness
    vocabulary"""
)
_VERBS = word_set(
    """acknowledge address analyse analyze answer apologise apologize avoid cite compare conclude
    contain correct define demonstrate describe discuss evaluate explain follow give identify
    include justify keep list mention name offer present provide recommend refer show state
    suggest summarise summarize support use"""
)
_HOW = r"(?:(?:very|highly|also|not|both|well[- ])\s*)*"


_QUALITY = rf"{_HOW}(?:{'|'.join(_ADJECTIVES)}|well[- ]\w+)"
_ADJECTIVE_PAIR = re.compile(
    rf"\b({_QUALITY})((?:,\s+{_QUALITY})*),?\s+(?:and|&)\s+({_QUALITY})\b", re.IGNORECASE
)
_NOUN = rf"(?:{'|'.join(_NOUNS)})"
_NOUN_PAIR = re.compile(
    rf"\b({_NOUN})((?:,\s+{_NOUN})*),?\s+(?:and|&|as well as)\s+({_NOUN})\b", re.IGNORECASE
)


def _verb_pattern(ending: str) -> str:
    forms = [re.sub("y$", "ie", v) if ending and v.endswith("fy") else v for v in _VERBS]
    return "|".join(form + ending for form in forms)


_VERB_PAIR = re.compile(
    rf"\b({_verb_pattern('s')})\b([^.;:?!()]*?),?\s+and\s+(?:also\s+|then\s+)?((?:{_verb_pattern('s')})\b)",
    re.IGNORECASE,
)
_ASKED_VERB_PAIR = re.compile(
    rf"^(?:does|do|did|can)\b[^.;:?!()]*?\b({_verb_pattern('')})\b([^.;:?!()]*?),?\s+and\s+(?:also\s+)?"
    rf"((?:{_verb_pattern('')})\b)",
    re.IGNORECASE,
)
#: "Gives both a cause and a remedy" asks for two things, but "during both days and nights" asks for
#: one.
_BOTH = re.compile(
    rf"\b(?:{_verb_pattern('')}|{_verb_pattern('s')}) both\b[^.;?!]{{3,80}}\band\b[^.;?!]{{2,}}"
    r"|\band/or\b",
    re.IGNORECASE,
)
#: Matches the part of a sentence after words such as "ignore", because the criterion does not ask
#: for that part.
_IGNORED = re.compile(r"\b(?:ignor\w+|disregard\w*|regardless|differences?)\b[^.?!]*\Z", re.I)
_RELATIVE = re.compile(r"\b(?:that|who|what)\b", re.IGNORECASE)


def double_barrelled(criterion: Criterion) -> Iterator[LintFinding]:
    """Find two qualities, acts or questions in one criterion."""
    text = criterion.requirement
    question = _find_joined_questions(text)
    if question is None:
        return
    quote, parts = question
    # The checks read only the beginning of a longer requirement, so it must not be split.
    complete = len(text) < READ
    edit = parts and complete and LintEdit("split", (), "Split into two criteria", list(parts))
    yield LintFinding(
        "double-barrelled",
        ("requirement",),
        f"Asks more than one thing: “{quote}”.",
        "Make one criterion of each, so that a text which has only one of them can be judged.",
        quote,
        edit or None,
    )


def _find_joined_questions(text: str) -> tuple[str, tuple[str, str] | None] | None:
    """Return the text that joins two questions, and the two parts if separable."""
    for pattern in (_ADJECTIVE_PAIR, _NOUN_PAIR):
        match = pattern.search(without_quotations(text))
        if match and not _IGNORED.search(text[: match.start()]):
            return match[0], _split_words(text, match)
    for pattern in (_VERB_PAIR, _ASKED_VERB_PAIR):
        match = pattern.search(text)
        if match and not _RELATIVE.search(match[2]):
            return match[0], _split_at_verbs(text, match) if pattern is _VERB_PAIR else None
    match = _BOTH.search(text)
    if match:
        return match[0], None
    if sum(sentence.endswith("?") for sentence in sentences(text)) > 1:
        return text[-60:], None
    return None


def _split_words(text: str, match: re.Match[str]) -> tuple[str, str] | None:
    in_parenthesis = text.count("(", 0, match.start()) > text.count(")", 0, match.start())
    if match[2] or in_parenthesis or "both" in match[0].lower() or len(sentences(text)) > 1:
        return None
    head, tail = text[: match.start()], text[match.end() :]
    return f"{head}{match[1]}{tail}", f"{head}{match[3]}{tail}"


def _split_at_verbs(text: str, match: re.Match[str]) -> tuple[str, str] | None:
    subject = text[: match.start()]
    if len(sentences(text)) > 1 or not 0 < len(subject.split()) <= 6 or "," in subject:
        return None
    first = text[: match.end(2)].rstrip(" ,")
    second = f"{subject}{text[match.start(3) :]}"
    # "it" in the second half would have no antecedent.
    if re.search(r"\b(?:it|its|them|they|this|these|that|both)\b", text[match.start(3) :], re.I):
        return None
    return f"{first}.", second


def lookalike_names(rubric: Rubric) -> Iterator[LintFinding]:
    """Find criteria whose names look the same."""
    names = [criterion.name for criterion in rubric.criteria]
    return _lookalike_findings(names, "criteria", "name", "criterion")


def lookalike_labels(criterion: Criterion) -> Iterator[LintFinding]:
    """Find options whose labels look the same."""
    labels = [option.label for option in criterion.options]
    return _lookalike_findings(labels, "options", "label", "option")


def _lookalike_findings(
    texts: list[str], place: str, field: str, noun: str
) -> Iterator[LintFinding]:
    for at, earlier in _lookalike_pairs(texts):
        yield LintFinding(
            "lookalike-names",
            (place, at, field),
            f"Looks like the {field} of {noun} {earlier + 1} but is another text.",
            f"Write both in one alphabet, or {field} one of them otherwise.",
            texts[at],
            also=((place, earlier, field),),
        )


def _lookalike_pairs(names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield (place, earlier place) of names that look like an earlier one."""
    seen = dict[tuple[int, str], int]()
    for at, name in enumerate(names):
        before = [
            seen.setdefault((kind_number, form), at)
            for kind_number, form in enumerate(skeletons(name))
        ]
        earlier = min(before)
        if earlier != at and fold(names[earlier]) != fold(name):
            yield at, earlier


# Length: requirements that need counting, reward length, or penalise length twice.

_UNIT = r"(?:words?|characters?|letters?|syllables?|lines?|sentences?|bullet points?|items?)"
#: For tokens only a limit is a demand; "for 20 tokens" is a model setting.
_LIMIT = r"(?:at (?:most|least)|no more than|(?:fewer|less|more) than|up to|within|under|exactly)"
_COUNTED = re.compile(
    rf"\b\d{{2,}}(?:[.,]\d+)?\s*(?:-|–|to|and|or)?\s*(?:\d+\s+)?(?:more\s+|fewer\s+)?{_UNIT}\b"
    rf"|\b(?:number|count|percentage|proportion) of (?:the )?{_UNIT}\b"
    rf"|\b{_LIMIT} \d{{2,}}(?:[.,]\d+)? tokens?\b"
    r"|\bword[- ]?(?:count|limit)\b"
    r"|\bexactly (?:\d+|[a-z]+) (?:words|characters|letters|syllables|tokens)\b",
    re.IGNORECASE,
)
_PAYS = alternatives(
    [
        "comprehensive(?:ly)?",
        "detailed",
        "elaborate(?:s|ly)?",
        "exhaustive(?:ly)?",
        "extensive(?:ly)?",
        "in[- ]depth",
        "in (?:great |much |full )?detail",
        "as much (?:detail|information) as",
        "lengthy",
        "long(?:er)? (?:answer|response|text|essay|explanation)",
        "more (?:detail|information)s?",
        "thorough(?:ly)?",
    ]
)
_TEXT = r"(?:answer|response|reply|text|essay|explanation|output|summary|report|article|it)s?"
_MORE = r"(?:better|best|higher|highest|more (?:points?|marks?|credit)|a bonus|extra)"
#: Words that openly reward length, whatever the anchors say.
_LONGER = alternatives(
    [
        rf"the (?:longer|lengthier)(?: (?:the |an? |your |its )?{_TEXT})?(?: (?:is|are))?"
        rf",?(?: then)?,? the {_MORE}",
        rf"the more (?:words|text|sentences|lines|{_TEXT} (?:says?|writes?)),? the {_MORE}",
        rf"(?:long(?:er)?|lengthi?er)(?: {_TEXT})? (?:is|are) (?:always |usually |generally )?"
        rf"{_MORE}",
        rf"(?:long(?:er)?|lengthi?er) {_TEXT} (?:should )?(?:gets?|earns?|deserves?|scores?|"
        rf"receives?)(?: an?| the)? {_MORE}",
        rf"(?:prefers?|favou?rs?|rewards?) (?:the |a )?(?:long(?:er|est)?|lengthi?er|more) "
        rf"(?:{_TEXT}|words|ones?)",
        r"(?:prefers?|favou?rs?|rewards?) (?:length|verbosity)",
        rf"{_MORE} (?:for|with) (?:more|additional) (?:words|text|sentences|lines|length)",
        rf"{_MORE} for (?:the )?(?:length|longer {_TEXT})",
    ]
)
_NOT = alternatives(["not", "never", "no", "nor", "without", r"\w+n['’]t", "avoid", "rather than"])
_BRIEF = alternatives(
    [
        "concise(?:ly)?",
        "conciseness",
        "brevity",
        "brief(?:ly)?",
        "verbos(?:e|ity)",
        "padding",
        "padded",
        "filler",
        "wordy",
        "wordiness",
        "rambl(?:es|ing)",
        "too long",
        "could be cut",
        "repeats? itself",
        "to the point",
    ]
)


def needs_counting(criterion: Criterion) -> Iterator[LintFinding]:
    """Find a question that only an exact count can answer."""
    match = _COUNTED.search(criterion.requirement)
    if match:
        yield LintFinding(
            "needs-counting",
            ("requirement",),
            f"“{match[0].strip()}” has to be counted, and language models count badly.",
            "Let the app count: a length penalty, or a pre-check; ask judges what needs reading.",
            match[0].strip(),
        )


def rewards_length(criterion: Criterion) -> Iterator[LintFinding]:
    """Find points for saying more if the required content is undefined."""
    if criterion.weight <= 0:
        return
    places: list[tuple[Path, str]] = [(("requirement",), criterion.requirement)]
    for at, option in scored_options(criterion):
        places.append((("options", at, "description"), option.description))
    praises = [(path, match) for path, text in places if (match := _praise_of_length(text))]
    unsettled = (
        None
        if defines_its_words(criterion)
        else _PAYS.search(without_quotations(criterion.requirement))
    )
    if unsettled and not praises:
        praises.append((("requirement",), unsettled))
    for path, match in praises:
        yield LintFinding(
            "rewards-length",
            path,
            f"“{match[0]}” is most easily met by writing more.",
            "Name the parts that must be there; then a short text that has them earns the points.",
            match[0],
        )


def _praise_of_length(text: str) -> re.Match[str] | None:
    """Return the match that calls longer better, unless its sentence denies it."""
    text_read = without_quotations(text)
    for match in _LONGER.finditer(text_read):
        sentence = re.split(r"[.?!;]", text_read[: match.start()])[-1]
        if not _NOT.search(sentence):
            return match
    return None


def length_counted_twice(rubric: Rubric) -> Iterator[LintFinding]:
    """Find several rules that deduct points for the same length."""
    brief = [at for at, c in enumerate(rubric.criteria) if _is_about_length(c)]
    penalty = rubric.scoring.length_penalty is not None
    names = {rubric.criteria[at].name for at in brief}
    gates = [at for at, gate in enumerate(rubric.gates) if gate.when.criterion in names]
    parts = [f"the criterion “{rubric.criteria[at].name}”" for at in brief]
    parts += [f"the gate “{rubric.gates[at].name}”" for at in gates]
    if not brief or not (penalty or gates):
        return
    if penalty:
        parts.append("the length penalty")
    edit = LintEdit("set", ("scoring", "length_penalty"), "Switch the length penalty off")
    yield LintFinding(
        "length-counted-twice",
        ("criteria", brief[0]),
        f"Length costs points {len(parts)} times: {', '.join(parts)}.",
        "Keep one of them. A long text then loses what you meant it to lose.",
        edit=edit if penalty else None,
        also=tuple(("gates", at) for at in gates),
    )


def _is_about_length(criterion: Criterion) -> bool:
    return bool(_BRIEF.search(criterion.name) or _BRIEF.search(criterion.requirement))
