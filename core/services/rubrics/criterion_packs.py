"""The library: ready-made criteria in packs, each with a worked example, to add to a rubric.

A pack is a rubric file, so it is read, checked and tested like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from core.domain.base import build_model
from core.domain.dataset import Item
from core.domain.rubric import Criterion, Rubric, Scale
from core.formats.rubrics.rubric_file import parse_rubric
from core.services.rubrics.draft_criteria import append_criterion
from core.services.rubrics.draft_shapes import RubricDraft, new_draft
from core.settings import SAMPLES
from core.text.names import fold

FOLDER = SAMPLES / "library"


@dataclass(frozen=True, slots=True)
class Entry:
    """One criterion of the library, with an example: what a judge would see, its correct option
    and the reason. Its ``key`` is pack and criterion.
    """

    pack: str
    criterion: Criterion
    example: Item
    option: str
    why: str

    @property
    def key(self) -> str:
        """Return the key stored with copies, e.g. ``rag/Question answered``."""
        return f"{self.pack}/{self.criterion.name}"

    @property
    def known_as(self) -> tuple[str, ...]:
        """Return other names of the criterion to search by, e.g. ``("faithfulness",
        "groundedness")``.
        """
        return tuple(self.criterion.meta["known_as"])


@dataclass(frozen=True, slots=True)
class Pack:
    """A group of criteria for one kind of text, with the guidelines that they need."""

    name: str
    title: str
    description: str
    guidelines: str
    entries: tuple[Entry, ...]


@lru_cache(maxsize=1)
def all_packs() -> tuple[Pack, ...]:
    """Return the packs that come with the program, by title; empty if not installed."""
    files = sorted(FOLDER.glob("*.yaml"))
    loaded = [_pack_from(f.stem, parse_rubric(f.read_bytes(), f.name).value) for f in files]
    return tuple(sorted(loaded, key=lambda pack: fold(pack.title)))


def _pack_from(name: str, rubric: Rubric) -> Pack:
    entries = tuple(_entry_of_criterion(name, c) for c in rubric.criteria)
    return Pack(name, rubric.name, rubric.description, rubric.guidelines.strip(), entries)


def _entry_of_criterion(pack: str, criterion: Criterion) -> Entry:
    example = dict(criterion.meta["example"])
    option, reason = example.pop("option"), example.pop("why")
    item = build_model(Item, {"id": "example", **example}, "worked example", criterion.name)
    return Entry(pack, criterion, item, str(option), str(reason))


def find_criteria(
    search: str = "", *, pack: str | None = None, scale: Scale | None = None
) -> list[tuple[Pack, list[Entry]]]:
    """Return the criteria with every word of ``search``, by pack, without empty packs.

    The search includes other names of a criterion, and the singular of words.
    """
    terms = fold(search).split()
    matches = []
    for candidate in all_packs():
        if pack is not None and candidate.name != pack:
            continue
        entries = [e for e in candidate.entries if _fits_search(candidate, e, terms, scale)]
        if entries:
            matches.append((candidate, entries))
    return matches


def _fits_search(pack: Pack, entry: Entry, terms: Sequence[str], scale: Scale | None) -> bool:
    criterion = entry.criterion
    if scale is not None and criterion.scale != scale:
        return False
    options = (f"{option.label} {option.description}" for option in criterion.options)
    texts = (pack.title, criterion.name, criterion.requirement, *options, *entry.known_as)
    text = fold(" ".join(texts))
    return all(word in text or (len(word) > 4 and word.rstrip("s") in text) for word in terms)


def entry_by_key(key: str) -> Entry | None:
    """Return the criterion of that key, or ``None``."""
    return next((e for pack in all_packs() for e in pack.entries if e.key == key), None)


def missing_guidelines(draft: RubricDraft, keys: Iterable[str]) -> tuple[Pack, ...]:
    """Return the packs of these criteria whose guidelines are missing in the draft."""
    names = {library_entry.pack for key in keys if (library_entry := entry_by_key(key))}
    guidelines = draft["guidelines"]
    return tuple(
        pack
        for pack in all_packs()
        if pack.name in names and pack.guidelines and pack.guidelines not in guidelines
    )


def with_entries(draft: RubricDraft, keys: Sequence[str], *, guided: bool = True) -> RubricDraft:
    """Return the draft with these criteria at its end, and the guidelines they need.

    A repeated name gets a number. Each criterion keeps its worked example and its ``library`` key
    under ``meta``, but not its other names. Unknown keys are skipped. Without ``guided`` the
    guidelines do not change.
    """
    grown = draft
    for added in (library_entry for key in keys if (library_entry := entry_by_key(key))):
        facts = {k: v for k, v in added.criterion.meta.items() if k != "known_as"}
        meta = {**facts, "library": added.key}
        grown = append_criterion(grown, added.criterion.model_copy(update={"meta": meta}))
    packs_needed = missing_guidelines(draft, keys) if guided else ()
    if not packs_needed:
        return grown
    texts = (draft["guidelines"].strip(), *(pack.guidelines for pack in packs_needed))
    return {**grown, "guidelines": "\n\n".join(text for text in texts if text)}


def draft_from_entries(keys: Sequence[str], *, guided: bool = True) -> RubricDraft:
    """Return a new draft with these criteria, named after their pack if they share one."""
    titles = {pack.title for pack in all_packs() for e in pack.entries if e.key in keys}
    draft = with_entries(new_draft(), keys, guided=guided)
    return {**draft, "name": titles.pop() if len(titles) == 1 else "From the library"}
