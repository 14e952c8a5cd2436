"""Labels of a dataset that a person declared to be a random draw: by whom, when, and how.

Corrected results need labels with known chances. This program draws those of a queue. For labels
made elsewhere a person states the chances: equal for all items, or given in a field of each item's
meta. The statement is checked as far as possible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from getpass import getuser
from math import sqrt

from core import clock
from core.domain.library import LabelDraw
from core.errors import InputError, Problem
from core.services.access.allowing import allowed
from core.services.access.blindness import require_labels_open
from core.store.store import Store
from core.text.numbers import count, plural

#: With more distinct chances, the groups are too small for comparisons.
MOST_CHANCES = 20
#: The largest allowed deviation of the number of labels from the chances, in standard errors.
FAR = 4.0
SHOWN = 5


@allowed("write")
def declare(store: Store, version_id: int, note: str = "") -> LabelDraw:
    """Declare that the labels of a dataset version are a random sample of all its items.

    ``note`` names the field of the items' meta with their chances; if empty, all chances are equal.

    Raises:
        InputError: chances are missing, outside (0, 1], have too many values, or contradict the
            labels; or no item has a label, or every item has.
        Conflict: they are declared already.
        NotFound: unknown version.
    """
    require_labels_open(store, store.datasets.version(version_id).dataset_id)
    chances, labelled = _chances_and_labelled(store, version_id, note)
    if not labelled:
        raise InputError("No item has a label.")
    if len(labelled) == len(chances):
        raise InputError("Every item has a label: they speak of all without being declared.")
    if note:
        _check_groups(chances, labelled)
    return store.datasets.declare_draw(
        version_id, note, member=_acting_person(store), now=clock.now()
    )


@allowed("write")
def withdraw(store: Store, version_id: int) -> None:
    """Withdraw a declaration. Raises ``NotFound`` if there is none."""
    store.datasets.withdraw_draw(version_id, member=_acting_person(store), now=clock.now())


def _acting_person(store: Store) -> str:
    """Return the acting person; on a private machine, its signed-in user."""
    if store.actor.name or not store.actor.trusted:
        return store.actor.name
    try:
        return getuser()
    except (KeyError, OSError):  # In a container the system may not know a user name.
        return ""


def declared_draw(store: Store, version_id: int) -> LabelDraw | None:
    """Return the declaration of a version's labels, if any."""
    return store.datasets.label_draw(version_id)


def item_chances(store: Store, version_id: int, note: str) -> dict[str, float]:
    """Return the chance of every item, in the dataset's order. Raises ``InputError``."""
    return _chances_and_labelled(store, version_id, note)[0]


def _chances_and_labelled(
    store: Store, version_id: int, note: str
) -> tuple[dict[str, float], set[str]]:
    chances, labelled, bad = dict[str, float](), set[str](), list[tuple[str, str]]()
    for item in store.datasets.items(version_id):
        if item.labels:
            labelled.add(item.id)
        chance = _chance_of(item.meta.get(note)) if note else 1.0
        if chance is None:
            bad.append((item.id, str(item.meta.get(note, "nothing"))))
        else:
            chances[item.id] = chance
    if bad:
        raise InputError(
            f"{plural(len(bad), 'item')} of {count(len(bad) + len(chances))} "
            f"{'has' if len(bad) == 1 else 'have'} no chance in {note!r}: a number above 0 and at "
            "most 1, of the items without a label, too.",
            tuple(
                Problem(f"{item_id}: {text[:60]}", "", (item_id,)) for item_id, text in bad[:SHOWN]
            ),
        )
    if not note:
        share = len(labelled) / len(chances) if chances else 0.0
        chances = dict.fromkeys(chances, share)
    return chances, labelled


def _chance_of(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 < number <= 1 else None


def _check_groups(chances: Mapping[str, float], with_label: Iterable[str]) -> None:
    groups = Counter(chances.values())
    if len(groups) > MOST_CHANCES:
        raise InputError(
            f"There are {count(len(groups))} different chances. Labels are compared within groups "
            f"of items that had the same; at most {MOST_CHANCES} groups can be told."
        )
    labelled = Counter(chances[item_id] for item_id in with_label)
    for chance, items in groups.items():
        tolerance = FAR * sqrt(items * chance * (1 - chance)) + 0.5
        if abs(labelled[chance] - items * chance) > tolerance:
            raise InputError(
                f"Of {plural(items, 'item')} with the chance {chance:g} about "
                f"{count(round(items * chance))} would have a label; {count(labelled[chance])} do. "
                "These are not the chances that they were drawn with."
            )


def draw_words(draw: LabelDraw | None) -> str:
    """Return who declared what, and when; empty without a declaration."""
    if draw is None:
        return ""
    manner = f"drawn with the chances in {draw.note!r}" if draw.note else "a simple random sample"
    person = draw.by or "the user of this machine"
    return f"Labels declared {manner} by {person} on {draw.declared[:10]}."


def draw_data(draw: LabelDraw) -> dict[str, str]:
    """Return the declaration for ``--json``."""
    kind = "chances" if draw.note else "simple random sample"
    data = {"draw": kind, "by": draw.by, "on": draw.declared[:10], "in_words": draw_words(draw)}
    return data | ({"note": draw.note} if draw.note else {})
