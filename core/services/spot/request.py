"""The request of a spot check, which is also everything that the page's form stores."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from core import clock
from core.domain.base import Noun, build_model
from core.domain.dataset import Dataset, Item, Message, Sections, Submission
from core.domain.panel import Asking, Judge, Rules
from core.domain.rubric import Rubric
from core.errors import InputError
from core.services.access.allowing import allowed
from core.services.judges.registry import list_judges, list_panels
from core.services.rubrics import library
from core.services.rubrics.drafts import rubric_from
from core.services.rubrics.library import KeptDraft
from core.services.rubrics.prompt_preview import preview_item
from core.services.spot import trials
from core.services.spot.trials import Trial, teaching_datasets
from core.store.store import Store

Way = Literal["text", "chat", "sections", "item"]
DRAFT = "draft:"
#: The item id of a typed submission, in the dataset of one item that is made for it.
ITEM = "spot"
NAME = "Spot check"
_KEPT = "spot/form"
#: The number of models chosen at first: a spot check compares several judges on one text.
MODELS = 3


class SpotTurn(Noun):
    """One message of a conversation; its ``uid`` stays while other messages are added and
    removed.
    """

    uid: str = Field(default_factory=lambda: secrets.token_hex(4))
    role: str = "user"
    content: str = ""


class SpotRequest(Noun):
    """What to ask, by names and ids; fields of the modes that are not used stay as typed.

    ``rubric`` is an id as text, or ``draft:`` and a draft's name. ``dataset`` is a dataset
    version's id; ``judges`` are names; ``panel`` is the saved panel that chose them and whose
    ``rules`` apply. Offline judges learn, and examples come, from ``learn_from``.
    """

    rubric: str = ""
    way: Way = "text"
    text: str = ""
    thinking: str = ""
    output: str = ""
    turns: tuple[SpotTurn, ...] = Field(
        default_factory=lambda: (SpotTurn(), SpotTurn(role="assistant"))
    )
    prompt: str = ""
    context: dict[str, str] = Field(default_factory=dict)
    reference: str = ""
    dataset: int | None = None
    item: str | None = None
    judges: tuple[str, ...] = ()
    panel: int | None = None
    rules: Rules = Rules()
    asking: Asking = Asking()
    learn_from: int | None = None
    replicates: int = 1
    seed: int | None = None

    @property
    def submission(self) -> Submission:
        """Return the typed submission of the chosen mode."""
        if self.way == "sections":
            return Sections(thinking=self.thinking, output=self.output)
        if self.way == "chat":
            turns = [t for t in self.turns if t.content.strip()]
            return tuple(Message(role=t.role or "user", content=t.content) for t in turns)
        return self.text


def opened_form(store: Store) -> SpotRequest:
    """Return the form as it was left, or a fresh form with a rubric and judges.

    A field that is missing, or that this version of the program cannot read, starts fresh.
    """
    form = dict(_fresh_form(store))
    draft = store.drafts.get(_KEPT)
    typed = {} if draft is None else draft.content
    values = {name: value for name, value in typed.items() if name in form}
    try:
        return build_model(SpotRequest, form | values, "form")
    except InputError as error:
        unreadable = {problem.path[0] for problem in error.problems}
        readable = {name: value for name, value in values.items() if name not in unreadable}
        return build_model(SpotRequest, form | readable, "form")


@allowed("draft")
def keep(store: Store, request: SpotRequest) -> None:
    """Store the form for another page, another tab and another day."""
    store.drafts.save(_KEPT, request.model_dump(mode="json"), now=clock.now())


def rubric_choices(
    store: Store, kept: Sequence[tuple[KeptDraft, str]] | None = None
) -> dict[str, str]:
    """Return the rubrics to check with, last changed first: a choice, and its name with its state.

    These are stored drafts, and saved rubrics at their latest version. ``kept`` are the drafts to
    list, in this order, each with words about its writer; by default all.
    """
    if kept is None:
        kept = [(draft, "") for draft in library.all_kept_drafts(store)]
    drafts = {
        DRAFT + draft.name: f"{draft.draft['name'] or 'Untitled rubric'} · "
        + ("unsaved draft" if draft.draft["rubric_id"] is None else "unsaved changes")
        + written
        for draft, written in kept
    }
    saved = {str(row.id): f"{row.name} · version {row.number}" for row in store.rubrics.list()}
    return drafts | saved


def rubric_of(store: Store, choice: str) -> Rubric:
    """Return the rubric of a choice.

    Raises:
        InputError: no rubric is chosen, or its draft is not valid yet.
    """
    if not choice.startswith(DRAFT):
        if not choice:
            raise InputError("No rubric is chosen. Choose one, or write one first.")
        return store.rubrics.latest(int(choice)).rubric
    draft = library.unsaved_work(store, choice.removeprefix(DRAFT))
    if draft is None:
        raise InputError("This draft was saved or discarded. Choose a rubric again.")
    if draft.text is not None:
        return library.read_rubric(draft.text, "rubric.yaml").value
    return rubric_from(draft.draft)


def with_panel(store: Store, request: SpotRequest, panel_id: int | None) -> SpotRequest:
    """Return the request with everything that a saved panel sets; ``None`` keeps only the
    judges.
    """
    if panel_id is None:
        plain = {"panel": None, "rules": Rules(), "asking": Asking()}
        return request.model_copy(update=plain)
    panel = store.panels.get(panel_id).panel
    names = tuple(judge.name for judge in panel.judges)
    filled = {"panel": panel_id, "judges": names, "rules": panel.rules, "asking": panel.asking}
    return request.model_copy(update=filled)


def judges_of(store: Store, request: SpotRequest) -> tuple[Judge, ...]:
    """Return the chosen judges as registered, or as in the panel if only that has them."""
    by_name = dict[str, Judge]()
    for row in list_panels(store):
        if row.id == request.panel:
            by_name |= {judge.name: judge for judge in row.panel.judges}
    by_name |= {row.name: row.judge for row in store.judges.list()}
    return tuple(by_name[name] for name in request.judges if name in by_name)


def needs_labels(store: Store, request: SpotRequest) -> bool:
    """Return whether a chosen judge learns from labelled items, or is shown some as examples."""
    judges = judges_of(store, request)
    shown = request.asking.few_shot and not all(judge.offline for judge in judges)
    return bool(judges) and (bool(shown) or any(judge.learns for judge in judges))


def trial_of(store: Store, request: SpotRequest) -> Trial:
    """Return the trial that the request asks for.

    Raises:
        InputError: the rubric, the judges or the item are missing or invalid.
    """
    rubric = rubric_of(store, request.rubric)
    judges = judges_of(store, request)
    if not judges:
        raise InputError("No judge is chosen. Choose at least one.")
    saved = request.way == "item"
    return Trial(
        name=f"{NAME}: {rubric.name}",
        rubric=rubric,
        panel=trials.panel_of(NAME, judges, request.asking, request.rules),
        texts=Dataset(name=NAME, items=(_item_of_request(store, request),)),
        source="spot check",
        dataset_version=request.dataset if saved else None,
        learn_from=request.learn_from if needs_labels(store, request) else None,
        replicates=request.replicates,
        seed=request.seed,
    )


def _item_of_request(store: Store, request: SpotRequest) -> Item:
    if request.way == "item":
        if request.dataset is None or request.item is None:
            raise InputError("No item is chosen. Choose a dataset and one of its items.")
        return preview_item(store, request.dataset, request.item)
    typed = {
        "id": ITEM,
        "submission": request.submission,
        "prompt": request.prompt,
        "context": {name: text for name, text in request.context.items() if text.strip()},
        "reference": request.reference,
    }
    return build_model(Item, typed, "submission")


def _fresh_form(store: Store) -> SpotRequest:
    saved = store.rubrics.list()
    rubric = str(saved[0].id) if saved else ""
    return SpotRequest(rubric=rubric, judges=_judges_to_start_with(store, rubric))


def _judges_to_start_with(store: Store, rubric: str) -> tuple[str, ...]:
    """Return models that can be called, else the offline judges if they can learn the rubric."""
    entries = list_judges(store)
    models = [entry.name for entry in entries if entry.ready_model]
    if models:
        return tuple(models[:MODELS])
    if rubric and teaching_datasets(store, rubric_of(store, rubric)):
        return tuple(entry.name for entry in entries if entry.judge.learns)
    return ()
