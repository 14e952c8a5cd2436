"""Labels that came with a dataset and were declared to be drawn at random."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from core.cli.main import main
from core.domain.dataset import Dataset, Item, Label
from core.errors import Conflict, InputError, NotFound
from core.metrics.intervals.sampling import powered_mean
from core.services.agreement.metrics_report import metrics_source
from core.services.comparison.paired_runs import pair_runs
from core.services.comparison.rightness import accuracy_words, compare_accuracy
from core.services.datasets import label_draws
from core.services.pairwise.system_gaps import corrected_systems
from core.services.pairwise.system_gaps import in_words as of_systems
from core.services.reports.run_report import report_run
from core.services.review.corrected_estimates import corrected_data, corrected_means_of_run
from core.store.store import Store
from tests.services.comparison.world import RUBRIC, run_with
from tests.services.pairwise.test_corrected_systems import graded as two_systems

N, LABELLED = 60, 24
_rng = np.random.default_rng(4)
#: The truth of each item (clear: 0 is MET; tone: 0 Cold, 1 Fair, 2 Warm), and what the judge says.
CLEAR, TONE = _rng.integers(0, 2, N), _rng.integers(0, 3, N)
SAYS: dict[str, list[int | None]] = {
    "clear": [int(c) if at % 4 else 0 for at, c in enumerate(CLEAR)],
    "tone": [int(t) if at % 3 else 2 for at, t in enumerate(TONE)],
}
#: The tone of one item was not asked for, and nobody labelled it: its clearness is all it has.
HALF = 0
SAYS["tone"][HALF] = None
DRAWN = frozenset((1 + _rng.choice(N - 1, LABELLED, replace=False)).tolist())
WORDS = ("Cold", "Fair", "Warm")


def made(store: Store, chances: dict[int, object] | None = None, *, lack: int = -1) -> int:
    """A run over items of which some have labels; ``lack`` has none for its tone."""
    items = []
    for at in range(N):
        labels = {"clear": Label(label=("MET", "UNMET")[CLEAR[at]])}
        if at != lack:
            labels["tone"] = Label(label=WORDS[TONE[at]])
        meta = {"chance": chances[at]} if chances and at in chances else {}
        items.append(
            Item(
                id=f"i{at}",
                submission=f"Reply {at}",
                meta=meta,
                labels=labels if at in DRAWN else {},
            )
        )
    return run_with(store, Dataset(name="Replies", items=tuple(items)), {"one": SAYS})


def version_of(store: Store, run_id: int) -> int:
    return store.runs.row(run_id).dataset_version_id


def test_labels_speak_for_all_once_somebody_declares_them_and_no_longer_when_withdrawn(
    store: Store,
) -> None:
    run_id = made(store)
    version = version_of(store, run_id)
    assert "how likely each was to be picked" in corrected_means_of_run(store, run_id)[0][0].reason
    assert corrected_data(store, run_id) is None

    draw = label_draws.declare(store, version)
    with pytest.raises(Conflict, match="declared already"):
        label_draws.declare(store, version)
    told = corrected_data(store, run_id)
    assert told is not None
    words = f"Labels declared a simple random sample by {draw.by} on {draw.declared[:10]}."
    assert (told["declared"]["in_words"], told["declared"]["by"]) == (words, draw.by)

    # One criterion: its labelled items are a draw from all.
    clear_says, tone_says = (np.array([o or 0 for o in SAYS[c]]) for c in ("clear", "tone"))
    said = 1.0 - clear_says
    known = np.array([at in DRAWN for at in range(N)])
    alone = powered_mean(said, (1.0 - CLEAR)[known], known)
    clear = told["criteria"]["clear"]["corrected"]
    assert [clear["value"], *clear["ci"]] == pytest.approx(alone.mean[:3])
    # All together: items were drawn with all of their cells, so that an item counts once.
    first, second = (one.weight for one in RUBRIC.criteria)

    def scores(clear: np.ndarray, tone: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        both = (first * (1.0 - clear) + second * tone / 2) / (first + second)
        return np.where(np.arange(N) == HALF, 1.0 - clear, both)

    together = powered_mean(scores(clear_says, tone_says), scores(CLEAR, TONE)[known], known)
    whole = told["score"]["corrected"]
    assert [whole["value"], *whole["ci"]] == pytest.approx(together.mean[:3])
    heard = list[str]()
    metrics_source(lambda: store, str(run_id), tell=heard.append)
    assert heard[-1].startswith(
        f"Corrected by people's labels of {2 * LABELLED} cells, the mean score of all 119 is"
    )
    assert heard[-1].endswith(words)
    made_report = report_run(store, run_id)
    assert made_report.labels_declared == words
    assert made_report.corrected[0].mean.value == pytest.approx(together.mean.value)

    label_draws.withdraw(store, version)
    assert corrected_data(store, run_id) is None
    with pytest.raises(NotFound, match="No draw"):
        label_draws.withdraw(store, version)


def test_groups_with_other_chances_are_weighed_by_them(store: Store) -> None:
    # The first 20 items have the chance 1 and labels; of the others as many as were drawn.
    first = [at for at in range(20) if at in DRAWN]
    share = (LABELLED - len(first)) / (N - len(first))
    run_id = made(store, {at: 1 if at in first else str(share) for at in range(N)})
    label_draws.declare(store, version_of(store, run_id), "chance")
    found = corrected_means_of_run(store, run_id)[0][1]
    known = np.array([at in DRAWN for at in range(N)])
    strata = np.array([at not in first for at in range(N)])
    said = 1.0 - np.array([o or 0 for o in SAYS["clear"]])
    alone = powered_mean(said, (1.0 - CLEAR)[known], known, strata)
    assert found.powered is not None
    assert found.powered.mean[:3] == pytest.approx(alone.mean[:3])


def test_an_item_that_lacks_a_label_silences_all_criteria_together_and_no_one_alone(
    store: Store,
) -> None:
    run_id = made(store, lack=min(DRAWN))
    label_draws.declare(store, version_of(store, run_id))
    whole, clear, tone = corrected_means_of_run(store, run_id)[0]
    assert "1 of the items with labels lacks one on some criterion" in whole.reason
    assert (clear.labelled, tone.labelled) == (LABELLED, LABELLED - 1)
    assert clear.powered is not None
    assert tone.powered is not None


@pytest.mark.parametrize(
    ("chances", "says"),
    [
        (dict.fromkeys(range(N - 2), 0.4), "2 items of 60 have no chance in 'chance'"),
        (dict.fromkeys(range(N), 40), "60 items of 60 have no chance"),
        ({at: 0 if at == 3 else 0.4 for at in range(N)}, "1 item of 60 has no chance"),
        (dict.fromkeys(range(N), "often"), "i0: often"),
        ({at: (at + 1) / 100 for at in range(N)}, "There are 60 different chances."),
        (dict.fromkeys(range(N), 0.04), "about 2 would have a label; 24 do."),
        (dict.fromkeys(range(N), 1), "about 60 would have a label; 24 do."),
    ],
)
def test_chances_that_cannot_be_are_refused(
    store: Store, chances: dict[int, object], says: str
) -> None:
    run_id = made(store, chances)
    with pytest.raises(InputError) as refused:
        label_draws.declare(store, version_of(store, run_id), "chance")
    assert says in str(refused.value)
    assert label_draws.declared_draw(store, version_of(store, run_id)) is None


def test_systems_and_runs_are_corrected_by_them_and_say_who_declared_it(store: Store) -> None:
    # Of 40 tasks the first 20 have labels, of both systems: a draw, as the tasks are alike.
    runs = [two_systems(store, 20), two_systems(store, 20)]
    label_draws.declare(store, version_of(store, runs[0]))
    words = "Labels declared a simple random sample by"
    # The judge says MET of all of bold and half of calm; people of all of calm and none of bold.
    found = corrected_systems(store, store.runs.get(runs[0]))
    assert [one.system for one in found.systems] == ["calm", "bold"]
    assert found.gaps[0].better_system == "calm"
    assert words in of_systems(found)
    # The same run twice: they differ nowhere.
    said = accuracy_words(compare_accuracy(store, pair_runs(store, *runs)))
    assert said.startswith("Of the 80 cells that both decide, labelled or not, neither run")
    assert words in said


def test_the_command_declares_says_and_withdraws(store: Store) -> None:
    made(store)

    def labels(*words: str) -> str:
        found = CliRunner().invoke(main, ["labels", "Replies", *words, "--db", str(store.path)])
        assert found.exit_code == (2 if words[:1] == ("--chances",) else 0)
        return found.output

    assert "24 of 60 items have labels. Nothing is declared" in labels()
    assert "60 items of 60 have no chance in 'share'" in labels("--chances", "share")
    assert "Labels declared a simple random sample by" in labels("--random")
    assert json.loads(labels("--json"))["declared"]["draw"] == "simple random sample"
    assert "Nothing is declared" in labels("--withdraw")
