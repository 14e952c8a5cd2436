"""Tables with a row for each item and criterion, and a column of answers for each rater."""

from __future__ import annotations

from core.formats.columns.answer_columns import columns_by_scale
from core.formats.columns.headings import is_sum, names_a_criterion
from core.formats.source.heading_words import ASPECTS, ITEMS, RATERS, has_word
from core.formats.tables.table import Table
from core.formats.votes.structure.marks import without_derived
from core.formats.votes.structure.named_fields import names_a_model
from core.formats.votes.structure.texts import best_texts
from core.formats.votes.structure.values import values_of
from core.formats.votes.structure.vote_headings import item_changes


def raters_beside_criterion(table: Table) -> tuple[str, ...]:
    """Return the roles of a table with a row for each item and criterion, or ().

    The heading of the criterion's column shows this. Columns that share a scale are then the
    raters, whatever their headings.
    """
    values = values_of(table)
    texts = values.text_columns()
    keys = [c for c in values.columns if c not in texts and values.share_filled(c) == 1]
    keys = [c for c in keys if not (values.is_number(c) or names_a_model(c))]
    asked_of = [c for c in keys if has_word(c, ASPECTS) and values.may_be_key(c)]
    if len(asked_of) != 1 or any(
        has_word(c, RATERS) and values.may_be_key(c) for c in keys if c not in asked_of
    ):
        return ()  # a column that names who rated
    (asked,) = asked_of
    items = [c for c in keys if c != asked and values.uniqueness([c, asked]) == 1]
    items = [c for c in items if values.uniqueness([c]) < 1]
    items.sort(key=lambda c: not has_word(c, ITEMS))
    able = [c for c in values.columns if c not in (asked, *items, *texts)]
    able = [c for c in able if values.can_be_answers(c) and not is_sum(c)]
    group = next(iter(columns_by_scale(values.table, able)), [])
    raters = [c for c in without_derived(values, group) if not names_a_criterion(c)]
    if not items or len(raters) < 2 or len(raters) < len(without_derived(values, group)):
        return ()
    item = (items[0],)
    judged = best_texts(values, [t for t in texts if not values.varies(item, t)], item)
    return (
        *item_changes(item),
        *judged.changes(item),
        f"criterion={asked}",
        *(f"raters={c}" for c in raters),
    )
