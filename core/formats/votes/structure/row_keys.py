"""Items and raters of a table with a row for each pair, found by what identifies rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from core.formats.columns.answer_columns import columns_by_scale
from core.formats.columns.headings import (
    names_a_criterion,
    names_a_person,
    names_an_occasion,
)
from core.formats.columns.label_words import is_yes
from core.formats.source.csv_writer import number_of
from core.formats.source.heading import names_the_truth
from core.formats.source.heading_words import (
    ASPECTS,
    COURSES,
    ITEMS,
    RATED,
    RATERS,
    has_word,
    plain_heading,
)
from core.formats.tables.table import Table
from core.formats.votes.structure.key_answers import RowKeys, answer_keys, rater_heading_level
from core.formats.votes.structure.marks import without_derived
from core.formats.votes.structure.rater_columns import (
    IP,
    is_sheet_of_raters,
    item_columns,
    names_a_respondent,
    sheet_column,
)
from core.formats.votes.structure.texts import best_texts
from core.formats.votes.structure.values import TRAITS, Values, values_of
from core.formats.votes.structure.vote_headings import (
    IDS,
    RANGED,
    heads_label,
    names_a_system,
)
from core.formats.votes.structure.word_scales import is_scale

_BEGINS = re.compile(r"\b(begin|start|from|von|anfang|debut|inicio|inizio)|нач|起|开始|開始")
_ENDS = re.compile(r"\b(end|stop|to\b|bis|fin)|кон|止|结束|終")
#: Headings of questions, which are no raters.
_QUESTIONS = frozenset({"q", "question", "question id", "prompt", "task", "problem", "exercise"})
#: At most this many columns are tried in pairs.
_TRIED = 12
#: At most this many columns named for items are tried in threes.
_NAMED = 6


def row_keys(table: Table, *, sure: bool = True) -> tuple[RowKeys, ...]:
    """Return which columns are item and rater: the more likely reading, or both if they are equally
    likely.

    Items and raters repeat, and each row is a different pair. A column that headings, addresses or
    initials identify as people is the rater; otherwise the column that determines the texts is the
    item. Without ``sure`` less evidence is enough.
    """
    values = values_of(table)
    if values.size < 3:
        return ()
    numbers = [c for c in values.columns if values.is_number(c) and not _is_item_heading(c)]
    coded = [c for c in numbers if has_word(c, RATERS) and not heads_label(c)]
    numbers = [c for c in numbers if c not in coded or len(coded) > 1]
    texts = values.text_columns()
    numbers = [c for c in numbers if all(_group_differently(values, c, t) for t in texts)]
    rated = next((g for g in columns_by_scale(values.table, numbers) if len(g) > 2), [])
    keys = [c for c in values.columns if values.may_be_key(c) and c not in rated]
    levels = {c: rater_heading_level(values, c) for c in keys}
    sheet = sheet_column(values)
    if sheet in levels and max(levels.values()) < 3:
        named = is_sheet_of_raters(values, sheet) or _are_sheets_of_people(values, sheet)
        levels[sheet] = 3 if named else levels[sheet]
    people = sorted((c for c in keys if levels[c] > 1), key=lambda c: -levels[c])
    if once := next(_keys_answered_once(values, keys), None):
        return (once,)
    gaps = [c for c in values.columns if has_word(c, RATERS) and not values.is_number(c)]
    if _are_answers(values, people) or columns_by_scale(values.table, gaps):
        return ()  # each rater has a column
    once_rated = _keys_rated_once(values) if people and levels[people[0]] > 2 else None
    for rater in people:
        if once_rated and levels[rater] < 3:
            break
        for candidate in _keys_of_rater(values, keys, rater, sure=levels[rater] > 2):
            alone = [c for c in keys if levels[c] >= levels[rater]] == [rater]
            return (candidate._replace(sure=alone and _is_certain(values, candidate)),)
    if people:
        return (once_rated,) if once_rated else ()
    if any(values.uniqueness([c]) == 1 for c in gaps):
        return ()  # a row is a rater
    return tuple(_unnamed_keys(values, keys, levels, 2 if sure else 1))


def _are_sheets_of_people(values: Values, sheet: str) -> bool:
    """Return whether sheets with names, not numbers or criteria, repeat one another's ids."""
    names = values.distinct[sheet]
    others = (ASPECTS, COURSES, ITEMS)
    if any(re.search(r"\d", n) or any(has_word(n, of) for of in others) for n in names):
        return False
    if any(names_a_criterion(n) or names_a_system(n) or names_an_occasion(n) for n in names):
        return False
    ids = [c for c in values.columns[1:3] if values.may_be_key(c) and not heads_label(c)]
    ids = [c for c in ids if values.uniqueness([c, sheet]) == 1]
    return any(3 * values.size >= 2 * len(values.distinct[c]) * len(names) for c in ids)


def _keys_rated_once(values: Values) -> RowKeys | None:
    """Return the items of a table with one row for each, with the column of its rater."""
    raters = [c for c in values.columns if has_word(c, RATERS) and values.may_be_key(c)]
    item = item_columns(values)
    if len(raters) != 1 or len(item) != 1:
        return None
    free = [c for c in values.columns if c not in (*item, *raters) and values.can_be_answers(c)]
    alike = next(iter(columns_by_scale(values.table, free)), [])
    scales = [c for c in free if c in alike or heads_label(c) or is_scale(values.distinct[c], c)]
    if 3 * len(scales) < len(free):
        return None  # records of something else: trips, orders
    answers = tuple(without_derived(values, scales))
    texts = best_texts(values, [t for t in values.text_columns() if t not in answers], item)
    reason = next(iter(values.remarks), "")
    return RowKeys(item, raters[0], answers, texts=texts, reason=reason) if answers else None


def _is_certain(values: Values, keys: RowKeys) -> bool:
    """Return whether headings or all pairs identify the item, without contrary evidence."""
    rated = any(has_word(c, RATED) or _BEGINS.search(plain_heading(c)) for c in keys.item)
    heads = values.distinct[keys.rater] if keys.rater == sheet_column(values) else [keys.rater]
    heads = [head for head in heads if not names_the_truth(head)]
    if not (rated or all(has_word(head, RATERS) for head in heads)):
        return False
    tell = [*keys.item, keys.rater, *filter(None, (keys.criterion, keys.replicate))]
    if values.uniqueness(tell) < 1 or keys.texts.second or any(map(names_a_person, keys.answers)):
        return False
    share = 1 / (values.uniqueness(keys.item) * len(values.distinct[keys.rater]))
    crossed = share >= 1
    if share < 0.5 and any(values.varies(keys.item, text) for text in values.text_columns()):
        return False  # raters' own texts about an item, such as a product, may be the judged texts
    named = all(_is_item_heading(c) or names_a_system(c) for c in keys.item)
    return crossed or named or rated


def keys_named(table: Table, item: Sequence[str], rater: str) -> RowKeys | None:
    """Return the columns of answers and texts for given item and rater columns, or ``None``."""
    values = values_of(table)
    known = bool(item) and {*item, rater} <= {*values.columns}
    return answer_keys(values, tuple(item), rater, "", values.text_columns()) if known else None


def _keys_answered_once(values: Values, keys: Sequence[str]) -> Iterator[RowKeys]:
    """Yield the items of raters who answered once each: an id that repeats with its text, or the
    only column that names what each response is about.
    """
    people = [c for c in values.columns if names_a_respondent(c) and values.uniqueness([c]) == 1]
    people.sort(key=lambda c: (plain_heading(c) == IP, -rater_heading_level(values, c)))
    texts = [t for t in values.text_columns() if len(values.distinct[t]) < values.size]
    named = [c for c in keys if has_word(c, ITEMS)]
    items = [
        (c,) for c, t in product(named, texts) if c != t and not _group_differently(values, c, t)
    ]
    things = [c for c in named if 2 * len(values.distinct[c]) <= values.size]
    things = [c for c in things if c[-1] != "]" and not is_scale(values.distinct[c], c)]
    pairs = [*product(items, people)]
    if len(things) == 1 and not values.text_columns():  # what each response is about
        pairs += [((things[0],), person) for person in people if not names_a_person(person)]
    readings = (answer_keys(values, item, person, "", texts) for item, person in pairs)
    yield from filter(None, readings)


def _group_differently(values: Values, left: str, right: str) -> bool:
    """Return whether two columns group rows differently."""
    return values.varies([left], right) or values.varies([right], left)


def _is_item_heading(column: str) -> bool:
    """Return whether a short heading is a word for items; a question may contain such a word."""
    return has_word(column, ITEMS) and len(plain_heading(column).split()) < 4


def _are_answers(values: Values, people: Sequence[str]) -> bool:
    """Return whether columns named for people hold their answers, on one scale or as numbers."""
    numbers = [c for c in people if values.is_number(c)]
    answers = [c for c in numbers if not has_word(c, ITEMS)]
    return bool(columns_by_scale(values.table, list(people))) or len(answers) > 1


def heads_raters(candidates: Sequence[RowKeys]) -> bool:
    """Return whether the rater's heading is a word for raters."""
    return bool(candidates) and has_word(candidates[0].rater, RATERS)


def _keys_of_rater(values: Values, keys: list[str], rater: str, *, sure: bool) -> Iterator[RowKeys]:
    """Yield the items of a rater: one column or two, with a criterion, or nearly."""
    candidates = [c for c in keys if c != rater and values.are_crossed(c, rater)]
    candidates = [c for c in candidates if rater_heading_level(values, c) < 3 or not sure]
    candidates = [c for c in candidates if not _is_position(values, c, candidates, rater)]
    candidates = [c for c in candidates if not (_rarely_repeats(values, c) or _opines(values, c))]
    texts = values.text_columns()
    if spans := [k for k in _span_keys(values, candidates) if values.uniqueness([*k, rater]) == 1]:
        candidates = []
    singles = [(c,) for c in candidates if c != sheet_column(values)]
    asked_of = [c for c in candidates if _is_question(values, c, texts)]
    asked_of = [c for c in asked_of if not has_word(c, RATERS)]
    asked_of = [c for c in asked_of if not _tells_texts_with(values, c, candidates, texts)]
    criteria = sum(RANGED.search(c) is not None for c in values.columns) > 1
    asked_of = [] if criteria else asked_of  # `Tone (0-4)` beside `Depth (0-4)` is what was asked
    pairs = list(combinations([c for c in candidates if c not in asked_of][:_TRIED], 2))
    pairs = [pair for pair in pairs if criteria or _identify_item(values, pair, texts)]
    likely = [c for c in candidates if _is_item_heading(c) or names_a_system(c)]
    triples = combinations(likely[:_NAMED], 3)
    whole = [
        key for key in (*spans, *singles, *pairs, *triples) if values.uniqueness([*key, rater]) == 1
    ]
    for item in sorted(whole, key=lambda key: -_item_rank(values, key, rater, texts)):
        if candidate := answer_keys(values, item, rater, "", texts):
            yield candidate
    again = [*_repeated_keys(values, singles, rater, texts)]
    yield from (keys_found for keys_found in again if names_an_occasion(keys_found.replicate))
    for asked in sorted(asked_of, key=lambda c: not has_word(c, ASPECTS)):
        items = [(c,) for c in candidates if c != asked and values.are_crossed(c, asked)]
        identified = [key for key in items if values.uniqueness([*key, rater, asked]) == 1]
        for item in sorted(identified, key=lambda key: -_item_rank(values, key, rater, texts)):
            if candidate := answer_keys(values, item, rater, asked, texts):
                yield candidate
    yield from again
    near = [key for key in (*singles, *pairs) if values.uniqueness([*key, rater]) >= 0.75]
    for item in sorted(near, key=lambda key: -_item_rank(values, key, rater, texts)):
        named = sure and all(has_word(c, ITEMS) or names_a_system(c) for c in item)
        if named and (candidate := answer_keys(values, item, rater, "", texts)):
            yield candidate


def _rarely_repeats(values: Values, column: str) -> bool:
    """Return whether numbers that no heading calls items coincide in a few rows only."""
    unnamed = values.is_number(column) and not has_word(column, ITEMS)
    return unnamed and values.uniqueness([column]) > 0.67


def _opines(values: Values, column: str) -> bool:
    """Return whether a column holds yes and no, perhaps with words between them: no items."""
    words = set[str]() if values.is_number(column) else {*values.distinct[column]}
    return len(words) < 5 and {True, False} <= {*map(is_yes, words)} and is_scale(words, column)


def _is_position(values: Values, column: str, others: Sequence[str], rater: str) -> bool:
    """Return whether a column is the position at which a rater saw the item of another column."""
    if not values.is_number(column):
        return False
    names = (c for c in others if has_word(c, ITEMS) and not values.is_number(c))
    met = (c for c in names if values.are_crossed(c, column))
    return any(values.uniqueness([c, rater]) == 1 for c in met)


def _span_keys(values: Values, others: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield each document's column with the columns of a span's beginning and end."""
    numbers = [c for c in values.columns if values.is_number(c) and values.share_filled(c) == 1]
    numbers = [c for c in numbers if values.measures_nothing(c)]
    for first, last in product(numbers, numbers):
        if _BEGINS.search(plain_heading(first)) and _ENDS.search(plain_heading(last)):
            ends = zip(values.words[first], values.words[last], strict=True)
            if all((number_of(a) or 0) <= (number_of(b) or 0) for a, b in ends):
                yield from ((c, first, last) for c in others if c not in (first, last))


def _repeated_keys(
    values: Values, items: Sequence[tuple[str, ...]], rater: str, texts: Sequence[str]
) -> Iterator[RowKeys]:
    """Yield items that a rater answered several times, distinguished by a number."""
    again = [c for c in values.columns if c != rater and values.is_number(c)]
    for item, number in product(items, again):
        if number in item or not has_word(item[0], ITEMS):
            continue
        if values.may_be_key(number) and values.uniqueness([*item, rater, number]) == 1:
            candidate = answer_keys(values, (*item, number), rater, "", texts)
            if candidate and (len(candidate.answers) == 1 or names_an_occasion(number)):
                yield candidate._replace(item=item, replicate=number)


def _identify_item(values: Values, pair: Sequence[str], texts: Sequence[str]) -> bool:
    """Return whether two columns name an item together, or determine a text only together."""
    if all(has_word(c, ITEMS) or names_a_system(c) for c in pair):
        return True
    return any(_tell_text(values, pair, t) for t in texts)


def _tell_text(values: Values, pair: Sequence[str], text: str) -> bool:
    """Return whether two columns determine a text, and neither does alone."""
    if text in pair or values.varies(pair, text):
        return False
    return all(values.varies([c], text) for c in pair)


def _tells_texts_with(
    values: Values, column: str, others: Sequence[str], texts: Sequence[str]
) -> bool:
    """Return whether a column is a condition of the items: with their ids it tells the texts."""
    if has_word(column, ASPECTS):
        return False
    return any(_tell_text(values, (c, column), t) for c, t in product(others, texts) if c != column)


def _is_question(values: Values, column: str, texts: Sequence[str]) -> bool:
    """Return whether a column names the question: few words that determine no text."""
    if has_word(column, ASPECTS):
        return True
    distinct = values.distinct[column]
    codes = all(re.fullmatch(r"\D*\d+(\.\d+)*", word) for word in distinct)
    codes = codes or bool({*plain_heading(column).split()[-1:]} & {*IDS, "uid", "uuid", "code"})
    if codes or values.is_number(column) or names_a_system(column):
        return False
    other_texts = [text for text in texts if text != column]
    identified = any(not values.varies([column], text) for text in other_texts)
    # A question about all rated things, without a text that answers it, is the criterion.
    named = has_word(column, ITEMS) and not (column in texts and not other_texts)
    return len(distinct) * 4 <= values.size and not (identified or named)


def _item_rank(values: Values, key: tuple[str, ...], rater: str, texts: Sequence[str]) -> float:
    """Return how likely these columns are the item; texts that they determine count most."""
    identified = [t for t in texts if t not in key and not values.varies(key, t)]
    identified = [t for t in identified if values.varies([rater], t)]
    named = sum(1.5 * (has_word(c, ITEMS) or names_a_system(c)) for c in key) / len(key)
    numbers = [c for c in key if values.is_number(c)]
    weak = len(key) == 1 and any(not has_word(c, ITEMS) for c in numbers)
    weak = weak and all(values.varies([text], key[0]) for text in identified)
    size = values.uniqueness(key)
    likely = 2 * len(identified) + named + size
    return likely - 1.2 * (len(key) - 1) - 4 * weak - 2 * any(c in texts for c in key)


def _unnamed_keys(
    values: Values, keys: list[str], levels: dict[str, int], least: float
) -> Iterator[RowKeys]:
    """Yield pairs of item and rater columns if no heading names people.

    Both orders are yielded, unless the texts show which column is the item.
    """
    texts = values.text_columns()
    able = [c for c in keys if c not in texts and c != sheet_column(values)][:_TRIED]
    pairs = [pair for pair in combinations(able, 2) if _identify_item(values, pair, texts)]
    candidates = list[tuple[float, RowKeys]]()
    for item, rater in product([*((c,) for c in able), *pairs], able):
        if rater in item or levels[rater] < 0 or values.is_number(rater):
            continue
        if plain_heading(rater) in _QUESTIONS:
            continue
        likelihood = _evidence_for(values, item, rater, texts, levels)
        if likelihood <= 0 or not _is_crossed(values, item, rater, texts):
            continue
        if keys_found := answer_keys(values, item, rater, "", texts):
            candidates.append((likelihood, keys_found))
    candidates.sort(key=lambda pair: -pair[0])
    best = candidates[0][0] if candidates else 0
    yield from (keys_found for rank, keys_found in candidates[:2] if rank >= max(least, best - 1))


def _is_crossed(values: Values, item: Sequence[str], rater: str, texts: Sequence[str]) -> bool:
    """Return whether most pairs of an item and a rater occur once, with the item's texts."""
    cells = values.uniqueness(item) * values.size * len(values.distinct[rater])
    if values.uniqueness([*item, rater]) < 1 or 2 * values.size < cells:
        return False
    crossed = values.varies(item, rater) and all(values.varies([rater], c) for c in item)
    return crossed and not any(values.varies(item, t) for t in texts)


def _evidence_for(
    values: Values, item: Sequence[str], rater: str, texts: Sequence[str], levels: dict[str, int]
) -> float:
    """Return the evidence for an item and a rater if no heading names people."""
    identifies = any(values.varies([rater], t) for t in texts)
    size = values.uniqueness(item) * values.size
    fewer = len(values.distinct[rater]) < size
    person = levels[rater] == 1 and (len(item) > 1 or levels[item[0]] < 1)
    columns = [c for c in values.columns if c not in (*item, rater) and len(values.distinct[c]) > 1]
    own = [c for c in columns if not values.varies([rater], c) and values.varies(item, c)]
    of_person = 2 * any(TRAITS.search(plain_heading(c)) for c in own)  # an age, a sex
    named = sum(has_word(c, ITEMS) for c in item) / len(item)
    rated = has_word(rater, ITEMS) and not has_word(item[0], COURSES)
    return 3 * identifies + 1.5 * named + fewer + 2 * person + bool(own) + of_person - 3 * rated
