"""The library: ready-made criteria in packs, each with a worked example, to be put into a rubric.

A pack is a rubric file of its own, so that it is read, checked and tested like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.domain.base import build
from core.domain.dataset import Item
from core.domain.rubric import Criterion, Rubric, Scale
from core.formats.rubrics.rubric_file import parse_rubric
from core.services.rubrics.draft_criteria import append_criterion
from core.services.rubrics.draft_shapes import RubricDraft, new_draft
from core.settings import SAMPLES
from core.text.names import fold

FOLDER = SAMPLES / "library"


@dataclass(frozen=True, slots=True)
class PackExample:
    """A submission, the option that fits it, and why; ``item`` is what a judge would be sent."""

    item: Item
    option: str
    why: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One criterion of the library. ``key`` names it: pack and criterion."""

    pack: str
    criterion: Criterion
    example: PackExample

    @property
    def key(self) -> str:
        """The name that is kept of it, e.g. ``rag/Question answered``."""
        return f"{self.pack}/{self.criterion.name}"

    @property
    def known_as(self) -> tuple[str, ...]:
        """What others call it, e.g. ``("faithfulness", "groundedness")``: it is found by these."""
        return tuple(self.criterion.meta["known_as"])


@dataclass(frozen=True, slots=True)
class Pack:
    """A group of criteria for one kind of text, with the guidelines that they rely on."""

    name: str
    title: str
    description: str
    guidelines: str
    entries: tuple[Entry, ...]


@lru_cache(maxsize=1)
def packs() -> tuple[Pack, ...]:
    """The packs that come with the program, by title; empty where they are not installed."""
    files = sorted(FOLDER.glob("*.yaml"))
    found = [_pack(f.stem, parse_rubric(f.read_bytes(), f.name).value) for f in files]
    return tuple(sorted(found, key=lambda pack: fold(pack.title)))


def _pack(name: str, rubric: Rubric) -> Pack:
    entries = tuple(Entry(name, c, _example(c)) for c in rubric.criteria)
    return Pack(name, rubric.name, rubric.description, rubric.guidelines.strip(), entries)


def _example(criterion: Criterion) -> PackExample:
    given = dict(criterion.meta["example"])
    option, why = given.pop("option"), given.pop("why")
    item = build(Item, {"id": "example", **given}, "worked example", criterion.name)
    return PackExample(item, str(option), str(why))


def find(
    search: str = "", *, pack: str | None = None, scale: Scale | None = None
) -> list[tuple[Pack, list[Entry]]]:
    """The criteria that hold every word of ``search``, by pack; packs without any are left out.

    What others call a criterion counts, and so does the singular of a word.
    """
    words = fold(search).split()
    found = []
    for one in packs():
        if pack is not None and one.name != pack:
            continue
        entries = [e for e in one.entries if _fits(one, e, words, scale)]
        if entries:
            found.append((one, entries))
    return found


def _fits(pack: Pack, entry: Entry, words: Sequence[str], scale: Scale | None) -> bool:
    criterion = entry.criterion
    if scale is not None and criterion.scale != scale:
        return False
    options = (f"{o.label} {o.description}" for o in criterion.options)
    said = (pack.title, criterion.name, criterion.requirement, *options, *entry.known_as)
    text = fold(" ".join(said))
    return all(word in text or (len(word) > 4 and word.rstrip("s") in text) for word in words)


def entry(key: str) -> Entry | None:
    """The criterion of that key, or ``None``."""
    return next((e for pack in packs() for e in pack.entries if e.key == key), None)


def missing_guidelines(draft: RubricDraft, keys: Iterable[str]) -> tuple[Pack, ...]:
    """The packs of these criteria whose guidelines the draft does not hold."""
    names = {found.pack for key in keys if (found := entry(key))}
    held = draft["guidelines"]
    return tuple(
        one
        for one in packs()
        if one.name in names and one.guidelines and one.guidelines not in held
    )


def with_entries(draft: RubricDraft, keys: Sequence[str], *, guided: bool = True) -> RubricDraft:
    """The draft with these criteria at its end, and below its guidelines those they rely on.

    A name that is taken gets a number. Each keeps its worked example and its ``library`` key under
    ``meta``, but not what others call it. Unknown keys are left out. Without ``guided`` the
    guidelines stay as they are.
    """
    grown = draft
    for one in (found for key in keys if (found := entry(key))):
        kept = {k: v for k, v in one.criterion.meta.items() if k != "known_as"}
        meta = {**kept, "library": one.key}
        grown = append_criterion(grown, one.criterion.model_copy(update={"meta": meta}))
    more = missing_guidelines(draft, keys) if guided else ()
    if not more:
        return grown
    texts = (draft["guidelines"].strip(), *(pack.guidelines for pack in more))
    return {**grown, "guidelines": "\n\n".join(text for text in texts if text)}


def new_with(keys: Sequence[str], *, guided: bool = True) -> RubricDraft:
    """A new draft with these criteria, named after their pack where they have one in common."""
    titles = {pack.title for pack in packs() for e in pack.entries if e.key in keys}
    draft = with_entries(new_draft(), keys, guided=guided)
    return {**draft, "name": titles.pop() if len(titles) == 1 else "From the library"}


def held(draft: RubricDraft) -> set[str]:
    """The keys of the library's criteria that a draft holds."""
    return {str(c["meta"]["library"]) for c in draft["criteria"] if "library" in c["meta"]}
