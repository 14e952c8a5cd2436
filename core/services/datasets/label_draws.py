"""Labels that came with a dataset, declared to be drawn at random: by whom, when, and how.

Corrected results need labels with known chances. Those of a queue are drawn here; of labels that
were made elsewhere only a person knows how, and says so: all items had the same chance, or each
the chance that stands in a note of its own. What can be checked is, and nothing is assumed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from getpass import getuser
from math import sqrt
from typing import NamedTuple

from core import clock
from core.domain.library import LabelDraw
from core.errors import InputError, Problem
from core.services.access.allowing import allowed
from core.services.access.blindness import require_labels_open
from core.store.store import Store
from core.text.numbers import count, plural

#: With more different chances groups are too small to be compared within.
MOST_CHANCES = 20
#: Labels may be so many standard errors more or fewer than the chances would have.
FAR = 4.0
SHOWN = 5


class DrawnItems(NamedTuple):
    """The chance of every item, and which have a label, by id; in the order of the dataset."""

    chances: Mapping[str, float]
    labelled: frozenset[str]

    @property
    def groups(self) -> Counter[float]:
        """How many items had each chance."""
        return Counter(self.chances.values())


@allowed("write")
def declare(store: Store, version_id: int, note: str = "") -> LabelDraw:
    """Declare that the labels of a dataset version are a random sample of all its items.

    ``note`` names the meta of the items that holds their chances; empty: all had the same.

    Raises:
        InputError: the chances are missing, outside (0, 1], too many different ones, or cannot be
            those the labels were drawn with; or there are no labels, or one on every item.
        Conflict: it is declared already.
        NotFound: there is no such version.
    """
    foresee(store, version_id, note)
    return store.datasets.declare_draw(version_id, note, by=_by(store), now=clock.now())


@allowed("write")
def withdraw(store: Store, version_id: int) -> None:
    """Take a declaration back. Raises ``NotFound`` where there is none."""
    store.datasets.withdraw_draw(version_id, by=_by(store), now=clock.now())


def _by(store: Store) -> str:
    """Who acts; alone on a machine, whoever is signed in to it."""
    if store.actor.name or not store.actor.trusted:
        return store.actor.name
    try:
        return getuser()
    except (KeyError, OSError):  # a container may know no name
        return ""


def declared(store: Store, version_id: int) -> LabelDraw | None:
    """What is declared of the labels of a version."""
    return store.datasets.label_draw(version_id)


def foresee(store: Store, version_id: int, note: str = "") -> DrawnItems:
    """What would be declared; refused as ``declare`` does."""
    version = store.datasets.version(version_id)
    require_labels_open(store, version.dataset_id)
    found = drawn_items(store, version_id, note)
    labelled, items = len(found.labelled), len(found.chances)
    if not labelled:
        raise InputError("No item has a label, so there is nothing that could have been drawn.")
    if labelled == items:
        raise InputError("Every item has a label: they speak of all without being declared.")
    if note:
        _check_groups(found)
    return found


def drawn_items(store: Store, version_id: int, note: str) -> DrawnItems:
    """The chances as they stand in the items, and who has a label. Raises ``InputError``."""
    chances, labelled, bad = dict[str, float](), set[str](), list[tuple[str, str]]()
    for item in store.datasets.items(version_id):
        if item.labels:
            labelled.add(item.id)
        chance = _chance(item.meta.get(note)) if note else 1.0
        if chance is None:
            bad.append((item.id, str(item.meta.get(note, "nothing"))))
        else:
            chances[item.id] = chance
    if bad:
        raise InputError(
            f"{plural(len(bad), 'item')} of {count(len(bad) + len(chances))} "
            f"{'has' if len(bad) == 1 else 'have'} no chance in {note!r}: a number above 0 and at "
            "most 1, of the items without a label, too.",
            tuple(Problem(f"{one}: {text[:60]}", "", (one,)) for one, text in bad[:SHOWN]),
        )
    if not note:
        share = len(labelled) / len(chances) if chances else 0.0
        chances = dict.fromkeys(chances, share)
    return DrawnItems(chances, frozenset(labelled))


def _chance(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 < number <= 1 else None


def _check_groups(found: DrawnItems) -> None:
    groups = found.groups
    if len(groups) > MOST_CHANCES:
        raise InputError(
            f"There are {count(len(groups))} different chances. Labels are compared within groups "
            f"of items that had the same; at most {MOST_CHANCES} groups can be told."
        )
    labelled = Counter(found.chances[one] for one in found.labelled)
    for chance, items in groups.items():
        far = FAR * sqrt(items * chance * (1 - chance)) + 0.5
        if abs(labelled[chance] - items * chance) > far:
            raise InputError(
                f"Of {plural(items, 'item')} with the chance {chance:g} about "
                f"{count(round(items * chance))} would have a label; {count(labelled[chance])} do. "
                "These are not the chances that they were drawn with."
            )


def in_words(draw: LabelDraw | None) -> str:
    """Who declared what, when; empty for nothing."""
    if draw is None:
        return ""
    how = f"drawn with the chances in {draw.note!r}" if draw.note else "a simple random sample"
    who = draw.by or "whoever works at this machine"
    return f"Labels declared {how} by {who} on {draw.declared[:10]}."


def as_data(draw: LabelDraw) -> dict[str, str]:
    """The same for ``--json``."""
    kind = "chances" if draw.note else "simple random sample"
    data = {"draw": kind, "by": draw.by, "on": draw.declared[:10], "in_words": in_words(draw)}
    return data | ({"note": draw.note} if draw.note else {})
