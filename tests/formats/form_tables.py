"""Tables of a twentieth stranger's kinds: numbered pairs of rater and score, grids of forms.

The shapes were met in the wild; the texts are made up here.
"""

from __future__ import annotations

from tests.formats.strangers import Stranger, essay, table

CROWD = ("w3", "w1", "w9", "w4", "w6", "w7", "w2")


def _numbered_pairs(rater: str, score: str, *, derived: str = "", first: int = 1) -> str:
    """Six requests that five of seven people scored; `#` in a heading is the number of a pair."""
    rows = []
    for n in range(6):
        of_row: dict[str, object] = {"Id": 40 + n, "Request": essay(n)}
        pairs = {k: (CROWD[(n + k) % 7], 1 + n * k % 9) for k in range(first, first + 5)}
        of_row |= {score.replace("#", str(k)): mark for k, (_, mark) in pairs.items()}
        of_row |= {rater.replace("#", str(k)): who for k, (who, _) in pairs.items()}
        rows.append(of_row | ({derived: f"{n * 0.37 - 1:.4f}"} if derived else {}))
    return table(rows)


FORM_TABLES = (
    Stranger(
        "crowd of five.csv",
        _numbered_pairs("TurkId#", "Score#", derived="Normalized Score"),
        "at once",
        (30, 7, 6, 1),
        maps=("item=Id submission=Request rater=TurkId label=Score",),
    ),
    Stranger(
        "crowd from 0.csv",
        _numbered_pairs("rater#_id", "rater#_style", first=0),
        "at once",
        (30, 7, 6, 1),
        maps=("item=Id submission=Request rater=Rater id criteria=style",),
    ),
)
