"""Length: what judges cannot count, what pays for it, and what takes points for it twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.domain.rubric import Criterion, Rubric
from core.services.checking.finding import Edit, Finding, Path
from core.services.checking.language import alternatives, scored_options, settled
from core.services.checking.topic import of_the_text

_UNIT = (
    r"(?:words?|characters?|letters?|syllables?|tokens?|lines?|sentences?|bullet points?|items?)"
)
_COUNTED = re.compile(
    rf"\b\d{{2,}}(?:[.,]\d+)?\s*(?:-|–|to|and|or)?\s*(?:\d+\s+)?(?:more\s+|fewer\s+)?{_UNIT}\b"
    rf"|\b(?:number|count|percentage|proportion) of (?:the )?{_UNIT}\b"
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
#: Words that say outright that length earns points; no anchor takes that back.
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


def needs_counting(criterion: Criterion) -> Iterator[Finding]:
    """A question that only an exact count can answer."""
    match = _COUNTED.search(criterion.requirement)
    if match:
        yield Finding(
            "needs-counting",
            ("requirement",),
            f"“{match[0].strip()}” has to be counted, and language models count badly.",
            "Let the app count: a length penalty, or a pre-check; ask judges what needs reading.",
            match[0].strip(),
        )


def rewards_length(criterion: Criterion) -> Iterator[Finding]:
    """Points for saying more, where nothing says what has to be said."""
    if criterion.weight <= 0:
        return
    places: list[tuple[Path, str]] = [(("requirement",), criterion.requirement)]
    for at, option in scored_options(criterion):
        places.append((("options", at, "description"), option.description))
    said = [(path, match) for path, text in places if (match := _outright(text))]
    unsettled = None if settled(criterion) else _PAYS.search(of_the_text(criterion.requirement))
    if unsettled and not said:
        said.append((("requirement",), unsettled))
    for path, match in said:
        yield Finding(
            "rewards-length",
            path,
            f"“{match[0]}” is most easily met by writing more.",
            "Name the parts that must be there; then a short text that has them earns the points.",
            match[0],
        )


def _outright(text: str) -> re.Match[str] | None:
    """Where a text says that longer is better, and does not deny it in the same sentence."""
    read = of_the_text(text)
    for match in _LONGER.finditer(read):
        sentence = re.split(r"[.?!;]", read[: match.start()])[-1]
        if not _NOT.search(sentence):
            return match
    return None


def counted_twice(rubric: Rubric) -> Iterator[Finding]:
    """Several rules that take points for the same length."""
    brief = [at for at, c in enumerate(rubric.criteria) if _about_length(c)]
    penalty = rubric.scoring.length_penalty is not None
    names = {rubric.criteria[at].name for at in brief}
    gates = [at for at, gate in enumerate(rubric.gates) if gate.when.criterion in names]
    parts = [f"the criterion “{rubric.criteria[at].name}”" for at in brief]
    parts += [f"the gate “{rubric.gates[at].name}”" for at in gates]
    if not brief or not (penalty or gates):
        return
    if penalty:
        parts.append("the length penalty")
    edit = Edit("set", ("scoring", "length_penalty"), "Switch the length penalty off")
    yield Finding(
        "length-counted-twice",
        ("criteria", brief[0]),
        f"Length costs points {len(parts)} times: {', '.join(parts)}.",
        "Keep one of them. A long text then loses what you meant it to lose.",
        edit=edit if penalty else None,
        also=tuple(("gates", at) for at in gates),
    )


def _about_length(criterion: Criterion) -> bool:
    return bool(_BRIEF.search(criterion.name) or _BRIEF.search(criterion.requirement))
