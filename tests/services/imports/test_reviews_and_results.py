"""Reviews with remarks for a few, how sure a reviewer was, and tables of results."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from core.errors import InputError
from core.store.store import Store
from tests.formats.strangers import essay, table
from tests.services.imports.test_strangers import brought


@pytest.mark.parametrize(
    "secret",
    [
        "confidential remarks for the PC",
        "Comments to the editor",
        "Vertrauliche Anmerkungen",
        "Commentaires confidentiels",
    ],
)
def test_confidential_remarks_are_never_the_reason(
    store: Store, tmp_path: Path, secret: str
) -> None:
    who = ("Ada Lund", "Ben Roth", "Cy Marsh")
    rows = [
        {"paper #": p, "reviewer": name, "overall evaluation": f"{(p + k) % 4 - 1}: fair"}
        | {
            "reviewer's confidence": f"{1 + (p * k) % 4}: (some)",
            "originality (1-5)": 1 + (2 * p + k) % 5,
        }
        | {"review text": essay(3 * p + k), secret: f"I know the authors of {p}{k}." if k else ""}
        for p in range(8)
        for k, name in enumerate(who)
    ]
    file = tmp_path / "reviews.csv"
    file.write_text(table(rows))
    report = brought(store, file)
    roles = {role["column"]: role["role"] for role in report["roles"]}
    assert (roles["review text"], roles[secret]) == ("reason", "ignored")
    assert report["votes"] == 48
    (mend,) = (n["mend"] for n in report["notices"] if "How sure the raters were" in n["message"])
    words = shlex.split(mend.removeprefix("As one more criterion: ").removesuffix("."))
    more = ("item=paper #", "rater=reviewer", *(word for word in words if word != "--map"))
    assert brought(store, file, more)["votes"] == 72


BOARDS = {
    "arena": {"Rank": "n", "Model": "m", "Arena score": "s", "95% CI": "ci", "Votes": "v"},
    "elo": {"#": "n", "System": "m", "Elo": "s", "Battles": "v"},
    "rates": {"player": "m", "win rate": "s", "std": "d", "games": "v"},
    "german": {"Rang": "n", "Modell": "m", "Wertung": "s", "Stimmen": "v"},
}


@pytest.mark.parametrize("name", BOARDS)
def test_a_leaderboard_is_refused_in_its_own_words(store: Store, tmp_path: Path, name: str) -> None:
    cells = {"n": lambda n: n + 1, "m": lambda n: f"otter-{n}b", "s": lambda n: 1190 - 13 * n * n}
    cells |= {"ci": lambda n: f"+{9 + n}/-{8 + n}", "v": lambda n: 2085 - 31 * n}
    cells |= {"d": lambda n: 0.5 + n}
    rows = [{head: cells[of](n) for head, of in BOARDS[name].items()} for n in range(8)]
    file = tmp_path / "board.csv"
    file.write_text(table(rows))
    with pytest.raises(InputError, match=r"It holds results, not votes: .* Bring the votes that"):
        brought(store, file)


def test_votes_on_models_are_no_leaderboard(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    rows = [
        {"item": f"i{n}", "model": f"otter-{n}b", "rater": who, "score": 1 + (n + k) % 5}
        for n in range(6)
        for k, who in enumerate(("kim", "lee"))
    ]
    file.write_text(table(rows))
    assert brought(store, file)["votes"] == 12
