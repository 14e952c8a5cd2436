"""Scales told in words beside a table: `Tone, depth: 1-5`, `All criteria out of 10`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from core.errors import Problem
from core.formats.columns.label_words import holds_no_answer
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import RANKS, SUMMARIES, has_word, plain_heading
from core.formats.votes.structure.scale_ends import ends_of, lowest_is_best
from core.formats.votes.structure.word_scales import no_opinion, scale_order
from core.text.names import fold


class ToldScale(NamedTuple):
    """What a line says of a scale: its ends, or its words, lowest first; and what numbers mean."""

    line: str
    ends: tuple[float, float] | None = None
    order: tuple[str, ...] = ()
    means: Mapping[float, str] = {}


_N, _ALONE = r"-?\d{1,3}(?![\w/]|[.,]\d)", r"(?<![\w.,/–-])"
_TO = r" ?(?:[-–—~〜…]|\.{2,}|\b(?:to|bis|a|à|al|au|até|hasta|tot|do|till|до)\b|至|到) ?"
#: `1-5`, `1 (poor) to 5 (good)`.
_SPAN = re.compile(rf"{_ALONE}({_N})(?: ?\(([^()=]+)\))?{_TO}({_N})(?: ?\(([^()=]+)\))?")
#: `out of 10`, `max. 5`, `5点満点`.
_MOST = re.compile(
    r"(?:\b(?:out of|max(?:imum|imal|imaal|imo|\.)?|sur|sobre)[ .:]+|满分 ?|(?<!\w)/ ?)"
    r"(\d{1,3}(?:[.,]\d+)?)(?!\w|[.,/]\d)|(\d{1,3}) ?点満点",
    re.I,
)
#: `1 = poor`, one of several.
_MEANING = re.compile(
    rf"{_ALONE}({_N}) ?[=:] ?([^\W\d_][^=;,/…·|()]*?)(?= ?(?:[=;,/…·|()]|\.\.|\Z|(?<!\w){_N}))"
)
#: A number of pages or people is no mark.
_NEXT = re.compile(
    r"(?! ?[^\W\d_])| ?(?:each|per|on|for|in|auf|f[üu]r|je|sur|pour|para|por|voor|op|dla|scale"
    r"|points?|pts|marks?|punkte?n?|pkt|puntos|punti|pontos|punten|and|und|et|y|e|en|i)\b"
)
_SCALE = re.compile(
    r"\b(scale|rat(e|ed|ings?)\b|scor(e|ed|es|ing)\b|graded\b|marks?\b|marked|criteri|points\b"
    r"|skal|noten|bewert|punkte|kriteri|echelle|bareme|not[ae][srn]?\b|vot[io]\b|critere|escala|puntua"
    r"|puntaje|calific|scala|punteggi|valuta|pontua|avalia|schaal|beoordeel|ocen|шкал|оцен|балл)"
    r"|量表|评分|評分|分数|每项|各項目|採点|評価|点数|척도|점수"
)
#: `1-5 scale`, `0-100 on both scales`.
_SCALE_AFTER = re.compile(
    r"\W*(?:(?:on|for|per|auf|f[üu]r|pour|para|por|each|both|all|beide\w*|alle\w*) )*"
    r"(?:scales?|skal|criteri|kriteri|crit[eè]re|escala|scala|schaal|шкал)"
)
_EACH = re.compile(r"\b(each|every|all|per|alle|jede[rsn]?|je|chaque|cada|ogni|elk|kazd\w*)\b")
#: Words between what is rated and its ends.
_BETWEEN = re.compile(
    r"an?|the|of|on|from|in|is|are|be|both|all|each|every|for|between|at|to|with|by|von|auf|der"
    r"|einer|beiden?|alle|je|jeweils|fur|zwischen|sind|ist|de|du|la|les?|sur|pour|chacun|en|una?"
    r"|para|da|di|su|uma|op|van|een|voor|od|na|w"
)
#: Words that mean no answer elsewhere, and the end of a scale in a legend.
_NONE = frozenset({"none", "keine", "kein", "aucun", "aucune", "ninguno", "nessuno", "geen"})
#: The most levels of marks that criteria share.
_LEVELS = 11
_CLAUSES = re.compile(r"[;。\n]|(?<![.\d]\.)(?<!max)(?<=[^.])\.(?=\s|\Z)")
_LISTED = re.compile(r"(.+?) ?: +([^:]+)\Z")
#: Full-width signs of East Asian keyboards.
_NARROW = str.maketrans("＜＞；：／", "<>;:/")
_STEP = re.compile(r" */ *| *\| *| *[<>→] *|, *")


def told_scales(
    lines: Iterable[str],
    used: Mapping[str, Collection[str]],
    own: Mapping[str, str] = MappingProxyType({}),
) -> tuple[dict[str, ToldScale], list[Problem]]:
    """Return the scales that lines tell, by criterion or empty, and notices.

    A line that names criteria speaks of them; one that only names a scale, of all others. ``used``
    are the labels, ``own`` is what a row says of a criterion. Told scales without a label that was
    given are not used, nor are two different ones of a criterion.

    >>> used = {"AO1": ["4", "9"], "AO5": ["2", "5"]}
    >>> [t.ends for t in told_scales(["AO1 out of 10, AO5 out of 5"], used)[0].values()]
    [(0.0, 10.0), (0.0, 5.0)]
    >>> [t.ends for t in told_scales(["Rate 1-5 (1 = poor, 5 = good)"], used)[0].values()]
    [None, (1.0, 5.0)]
    """
    lines = _legends_in_a_line(dict.fromkeys(lines))
    said = [claim for line in lines for claim in _claims_of(line, tuple(used))]
    told, notices = dict.fromkeys(used, ToldScale("")), list[Problem]()
    of_line = dict[str, dict[bool, list[str]]]()
    for criterion, labels in used.items():
        given = [label for label in labels if not holds_no_answer(None, label)]
        in_row = _claims_of(f"it: {own.get(criterion, '')}", ("it",))
        near = [t for _, t in in_row]
        near = near or [t for names, t in said if criterion in names]
        near = near or [t for names, t in said if not names]
        numbers = [number_of(label) for label in given]
        near = [t for t in near if t.order or None not in numbers]
        if headed := ends_of(criterion, {n for n in numbers if n is not None}):
            near = [t for t in near if {*(t.ends or ())} == headed]  # the heading goes first
        near = [t for t in near if t.ends or {*map(fold, given)} & {*map(fold, t.order)}]
        if not near or not given:
            continue
        scale = near[0]._replace(means=next((t.means for t in near if t.means), {}))
        fits = len({(t.ends, t.order) for t in near}) == 1 and _fits(scale, given)
        if fits:
            told[criterion] = scale
        if fits and criterion in own:
            continue  # said with its row
        of_line.setdefault(scale.line, {}).setdefault(fits, []).append(criterion)
    notices += _share_scales(used, told)
    for line, of in of_line.items():
        for fits, criteria in of.items():
            listed = ", ".join(map(repr, criteria[:20]))
            message = f"The scale of {listed} is the one that the file tells: {line[:200]!r}."
            if not fits:
                message = f"The file tells a scale, but not one that all labels of {listed} fit: "
                message += f"{line[:200]!r}. It is not used."
            notices.append(Problem(message))
    return told, notices


def may_be_about(line: str, criterion: str, names: Iterable[str]) -> bool:
    """Return whether a line is no legend of another name alone (`Mark: 1 = best`).

    >>> [may_be_about(line, "Tone", ["Tone", "Mark"]) for line in ("Mark: 1 = best", "1 = best")]
    [False, True]
    """
    headed = _named_in(line.partition(":")[0] if ":" in line else "", tuple(names))
    return not headed or criterion in headed


def _share_scales(
    used: Mapping[str, Collection[str]], told: dict[str, ToldScale]
) -> Iterator[Problem]:
    """Give criteria the words and the ends of those beside them, and yield what is said of it."""
    for criterion, (others, words) in _shared_words(used, told).items():
        told[criterion] = ToldScale("", order=words)
        listed = ", ".join(map(repr, others))
        yield Problem(f"The words of {criterion!r} are taken as those of {listed}.")
    for ends, criteria in _shared_ends(used, told).items():
        told |= {criterion: ToldScale("", ends) for criterion in criteria}
        listed, (low, high) = ", ".join(map(repr, criteria)), ends
        span = f"{low:g} and {high:g}"
        yield Problem(f"The ends of {listed} are taken as those of others beside: {span}.")


def _shared_words(
    used: Mapping[str, Collection[str]], told: Mapping[str, ToldScale]
) -> dict[str, tuple[list[str], tuple[str, ...]]]:
    """Return criteria with some words of a scale, the criteria with its others, and all words.

    >>> used = {"form": ["poor", "fair"], "tone": ["fair", "good"], "age": ["new", "old"]}
    >>> _shared_words(used, dict.fromkeys(used, ToldScale("")))["tone"]
    (['form'], ('poor', 'fair', 'good'))
    """
    real = {
        c: {fold(word): word for word in labels if not holds_no_answer(None, word)}
        for c, labels in used.items()
        if not told[c].line and _in_order(labels)
    }
    scales = list[dict[str, str]]()
    for words in sorted(real.values(), key=len, reverse=True):
        alike = [s for s in scales if s.keys() & words and _in_order({**words, **s}.values())]
        for scale in alike[:1]:
            scale.update({**words, **scale})
        scales += [] if alike else [{**words}]
    shared = {c: next(s for s in scales if words.keys() <= s.keys()) for c, words in real.items()}
    return {
        c: ([o for o in real if real[o].keys() & scale.keys() - real[c]], _in_order(scale.values()))
        for c, scale in shared.items()
        if real[c].keys() < scale.keys()
    }


def _shared_ends(
    used: Mapping[str, Collection[str]], told: Mapping[str, ToldScale]
) -> dict[tuple[float, float], list[str]]:
    """Return the ends of a criterion's marks in halves, and those that lack few levels at one end.

    Points have other maxima, and 0 may be a level that others lack.

    >>> used = {"form": ["1", "3", "5"], "tone": ["2", "4", "5"], "plan": ["1", "2", "3"]}
    >>> _shared_ends(used, dict.fromkeys(used, ToldScale("")))
    {(1.0, 5.0): ['tone']}
    """
    spans = dict[str, tuple[float, float]]()
    for criterion, labels in used.items():
        numbers = [number_of(label) for label in labels if not holds_no_answer(None, label)]
        marks = [n for n in numbers if n is not None and n >= 0 and (2 * n).is_integer()]
        free = not (told[criterion].line or ends_of(criterion, {*marks}))
        if free and 2 < len(marks) == len(numbers) and not has_word(criterion, RANKS, whole=True):
            spans[criterion] = min(marks), max(marks)
    shared, seen = dict[tuple[float, float], list[str]](), dict.fromkeys(spans.values())
    for criterion, span in spans.items():
        wide = max(seen, key=lambda other: (_lacks_few(span, other), other[1] - other[0]))
        if _lacks_few(span, wide):
            shared.setdefault(wide, []).append(criterion)
    return shared


def _lacks_few(span: tuple[float, float], wide: tuple[float, float]) -> bool:
    """Return whether a span of marks lacks at most a quarter of a scale's levels, at one end."""
    (low, high), (least, most) = span, wide
    few = 0 < (low - least) + (most - high) <= max(1, (most - least + 1) // 4)
    one_end = (least < low and most == high) or (least == low and high < most and least > 0)
    return few and one_end and most - least < _LEVELS and not (least == 0 and low <= 1)


def _in_order(labels: Collection[str]) -> tuple[str, ...]:
    """Return the words of a usual scale, the least first; none of numbers and of other words."""
    places = scale_order([label for label in labels if not holds_no_answer(None, label)])
    if not places or any(number_of(label) is not None for label in places):
        return ()
    ordered = sorted(places, key=lambda word: places[word])
    return tuple(ordered) if len({*places.values()}) == len(ordered) else ()


def _legends_in_a_line(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, those of one legend (`1 = poor`, `2 = fair`) together below their heading.

    >>> [*_legends_in_a_line(["Score: Meaning", "2 = good", "1 = poor", "Thanks"])]
    ['Score: 2 = good, 1 = poor', 'Thanks']
    """
    parts = [(is_step, [*part]) for is_step, part in groupby(lines, _is_legend_step)]
    for at, (is_step, part) in enumerate(parts):
        if is_step and len(part) > 1:
            last = parts[at - 1][1][-1].rstrip(" .:") if at else ""
            heading = last.partition(":")[0]
            yield f"{heading if _SCALE.match(_words(heading)) else last}: {', '.join(part)}"
        else:
            follows = at + 1 < len(parts) and len(parts[at + 1][1]) > 1 and not is_step
            yield from part[:-1] if follows else part


def _is_legend_step(line: str) -> bool:
    return _MEANING.match(line) is not None and line.count("=") == 1


def _fits(scale: ToldScale, given: Sequence[str]) -> bool:
    if scale.ends is None:
        return {*map(fold, given)} <= {*map(fold, scale.order)}
    numbers = [n for label in given if (n := number_of(label)) is not None]
    return scale.ends[0] <= min(numbers) and max(numbers) <= scale.ends[1]


def _claims_of(line: str, criteria: Sequence[str]) -> Iterator[tuple[frozenset[str], ToldScale]]:
    """Yield what a line says, with the criteria that it names; none for all."""
    for clause in filter(None, map(str.strip, _CLAUSES.split(line.translate(_NARROW)))):
        listed = _LISTED.match(clause)
        signed = _order_in(clause.rpartition(":")[2]) if {*"<>"} & {*clause} else ()
        if len(signed) > 2 and not _named_in(clause, criteria):
            yield frozenset(), ToldScale(line, order=signed)
            continue
        order = _order_in(listed[2]) if listed and "=" not in listed[2] else ()
        if listed and order and (names := _named_in(listed[1], criteria)):
            yield names, ToldScale(line, order=order)
            continue
        found = _ends_in(clause)
        edges = [0, *(edge for ends in found for edge in ends[:2]), len(clause)]
        parts = [clause[edges[at] : edges[at + 1]] for at in range(0, len(edges), 2)]
        follow = bool(found) and not _named_in(parts[0], criteria)
        follow = follow and bool(_named_in(parts[1], criteria))
        for at, (start, end, ends, means) in enumerate(found):
            names = _named_in(parts[at + follow], criteria)
            if names and (follow or _leads_to(parts[at], names)):
                yield names, ToldScale(line, ends, means=means)
            if names or has_word(parts[at], SUMMARIES, whole=True) or ends[0] > 1:
                continue
            after = parts[at + 1] if at + 1 == len(found) else ""
            each = _MOST.match(clause, start) and _EACH.search(_words(parts[at] + " " + after))
            graded = means and _are_grades(clause[start:end], [*means.values()])
            if graded or each or _leads_to(parts[at]) or _SCALE_AFTER.match(after):
                yield names, ToldScale(line, ends, means=means)


def _leads_to(before: str, names: Collection[str] = ()) -> bool:
    """Return whether the words before two ends say what they are: a scale, or a criterion."""
    words = [word for word in _words(before).split() if not _BETWEEN.fullmatch(word)]
    last = words[-1] if words else ""
    return bool(_SCALE.match(last)) or last in {_words(_bare(name)).split()[-1] for name in names}


def _are_grades(text: str, words: list[str]) -> bool:
    ends = {words[0], words[-1]}
    return lowest_is_best(text) is not None or scale_order(ends) is not None


class _Ends(NamedTuple):
    start: int
    end: int
    ends: tuple[float, float]
    means: Mapping[float, str]


def _ends_in(clause: str) -> list[_Ends]:
    """Return each pair of ends, from where to where it stands, and what its numbers mean."""
    found = list[_Ends]()
    meant = [m for m in _MEANING.finditer(clause) if not no_opinion(m[2])]
    meant = [m for m in meant if fold(m[2]) in _NONE or not holds_no_answer(None, m[2])]
    if len({m[1] for m in meant}) > 1:
        means = {float(m[1]): m[2].strip(" .-–") for m in meant}
        ends = min(means), max(means)
        found.append(_Ends(meant[0].start(), meant[-1].end(), ends, means))
    for match in _SPAN.finditer(clause):
        ends = float(match[1]), float(match[3])
        words = zip(ends, (match[2], match[4]), strict=True)
        found.append(_Ends(*match.span(), ends, {n: word for n, word in words if word}))
    for match in _MOST.finditer(clause):
        most = number_of(match[1] or match[2]) or 0.0
        found.append(_Ends(*match.span(), (0.0, most), {}))
    kept = list[_Ends]()
    for one in sorted(found, key=lambda one: one.start):
        last = kept[-1] if kept else _Ends(0, 0, (0.0, 0.0), {})
        if one.start < last.end or one.ends[0] >= one.ends[1] or not _NEXT.match(clause, one.end):
            continue
        if last.ends[1] == one.ends[1] and not _words(clause[last.end : one.start]):
            # `1-5 (1 = poor, 5 = good)`
            kept[-1] = one._replace(start=last.start, means=one.means or last.means)
        else:
            kept.append(one)
    return kept


def _named_in(text: str, criteria: Sequence[str]) -> frozenset[str]:
    """Return the criteria that a text names, the longer ones first, each word once."""
    rest, names = f" {_words(text)} ", set[str]()
    for criterion in sorted(criteria, key=len, reverse=True):
        word = _words(_bare(criterion))
        if len(word) > 1 and f" {word} " in rest:
            names.add(criterion)
            rest = rest.replace(f" {word} ", "  ")
    return frozenset(names)


def _bare(criterion: str) -> str:
    return re.sub(r"(?<=.)[(\[].*", "", criterion)


def _words(text: str) -> str:
    return " ".join(re.sub(r"[^\w°%+]+", " ", plain_heading(text)).split())


def _order_in(text: str) -> tuple[str, ...]:
    """Return the words of a list from the least to the most, if usual or if told by < or >."""
    words = tuple(word.strip(" '\"“”„") for word in _STEP.split(text.strip()))
    if len(words) < 2 or not all(words) or max(map(len, words)) > 60:
        return ()
    if set("<>") & {*text} and not set("<>") <= {*text}:
        return words if "<" in text else words[::-1]
    places = scale_order(words)
    known = places is not None and len({*places.values()}) == len(words)
    return tuple(sorted(words, key=lambda word: places[word])) if places and known else ()
