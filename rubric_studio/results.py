"""What grading, importing and comparing give: frozen objects, with DataFrames and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from core.domain.base import Noun, build_model
from core.errors import InputError
from core.settings import load_settings

if TYPE_CHECKING:
    import pandas as pd

    from core.domain.runs import RunRow
    from core.store.store import Store

#: The key of a pair of ``metrics --json`` for a reference; any other is a rater's name.
_PAIRS = {"gold": "vs_gold", "human": "vs_human_majority"}
#: What of a pair is no single number.
_PARTS = ("ci", "undefined", "confusion", "more")
#: Rows of a table that are shown under a run.
_SHOWN = 10


class Resampled(Noun):
    """How the intervals of a call are made, within the bounds of the commands."""

    bootstrap: Annotated[int, Field(ge=0, le=1_000_000)] = 1000
    seed: Annotated[int, Field(ge=0)] = 0
    level: Annotated[float, Field(ge=0.5, le=0.999)] = 0.95


@contextmanager
def opened(db: str | Path | None) -> Iterator[Store]:
    """The data file of the app, or the one named; made on first use, closed afterwards."""
    from core.services import open_store

    settings = load_settings()
    own = None if db is None else replace(settings, db=Path(db).expanduser().absolute())
    chosen = own or settings.only()
    store = open_store(chosen)
    try:
        yield store
    finally:
        store.close()


@dataclass(frozen=True)
class Run:
    """One panel's votes over one dataset, as kept in the data file: the run that the app shows.

    ``Run(3)`` is run 3 of the app's own data file; ``db`` names another. Every table is read when
    it is asked for, so what people settle on screen is in it.
    """

    id: int
    db: str | Path | None = None

    def __post_init__(self) -> None:
        """Its file stays the same where the program goes to another folder."""
        if self.db is not None:
            object.__setattr__(self, "db", Path(self.db).expanduser().absolute())

    @property
    def status(self) -> str:
        """How it stands: done, incomplete, running, interrupted, cancelled, budget or failed."""
        from core.services.runs import lifecycle

        return lifecycle.shown_status(self._row)

    @property
    def items(self) -> pd.DataFrame:
        """A row an item: score, how sure it is, and each criterion's verdict."""
        return self._table("item_rows")

    @property
    def votes(self) -> pd.DataFrame:
        """A row a judgement: every vote, abstention and failure, and what people settled."""
        return self._table("judgements")

    @property
    def verdicts(self) -> pd.DataFrame:
        """A row a cell: the verdict beside the label, agreement, entropy, votes."""
        return self._table("verdict_rows")

    @property
    def failures(self) -> pd.DataFrame:
        """A row a failure: who, about what, which kind, and why."""
        return self._table("failure_rows")

    def metrics(
        self,
        reference: str = "gold",
        *,
        bootstrap: int = 1000,
        seed: int = 0,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """How judges and panel agree with the labels (``gold``), people (``human``) or one rater.

        A row for each criterion and rater, the panel first; ``NAME_low`` and ``NAME_high`` are the
        ends of the interval at ``level``; ``undefined`` says why a figure is missing.
        """
        import pandas as pd

        from core.metrics.estimate import Confidence
        from core.services.agreement import metrics_report

        asked = {"bootstrap": bootstrap, "seed": seed, "level": level}
        build_model(Resampled, asked, "call")
        with opened(self.db) as store:
            report = metrics_report.metrics_source(
                lambda: store,
                str(self.id),
                reference,
                bootstrap,
                seed,
                confidence=Confidence(level),
            )
        return pd.DataFrame(list(_figure_rows(report, _PAIRS.get(reference, "vs_reference"))))

    @property
    def trust(self) -> dict[str, Any]:
        """How right the verdicts in force are, as ``trust`` of ``metrics --json``; ``in_words``."""
        from core.services.agreement import load_ratings, overall

        with opened(self.db) as store:
            return overall.trust_of(load_ratings.run_ratings(store, self.id)).as_data()

    def report(self, path: str | Path, *, level: float = 0.95) -> Path:
        """Write the report (.html, or Markdown for .md) to ``path``; returns where it is.

        Its intervals are at ``level``.
        """
        from core.formats.folder import write_bytes
        from core.metrics.estimate import Confidence
        from core.services.exports import run_export
        from core.services.reports import run_report

        target = Path(path).expanduser()
        forms = {".html": "html", ".htm": "html", ".md": "markdown"}
        form = forms.get(target.suffix.lower())
        if form is None:
            raise InputError("A report is written as .html or .md.", (), str(path))
        build_model(Resampled, {"level": level}, "call")
        with opened(self.db) as store:
            found = run_report.report_run(store, self.id, confidence=Confidence(level))
        text = run_export.report_as_file(found, "html" if form == "html" else "markdown")
        write_bytes(target, text.encode())
        return target

    @property
    def _row(self) -> RunRow:
        with opened(self.db) as store:
            return store.runs.row(self.id)

    def _table(self, rows: str) -> pd.DataFrame:
        import pandas as pd

        from core.services.exports import call_rows, judgement_rows

        made = getattr(call_rows if rows == "failure_rows" else judgement_rows, rows)
        with opened(self.db) as store:
            found = judgement_rows.load_graded(store, self.id)
            # A table without a row has its columns, too.
            heads = {"failure_rows": call_rows.FAILURE, "judgements": found.long}.get(rows)
            return pd.DataFrame(list(made(found)), columns=heads)

    def _said(self) -> str:
        row = self._row
        failed = f", {row.failures_open:,} failed" if row.failures_open else ""
        return f"Run {row.id}, {row.name}: {self.status}, {row.votes:,} votes{failed}"

    def __repr__(self) -> str:
        return f"<{self._said()}>"

    def _repr_html_(self) -> str:
        """For notebooks. Everything that others wrote is escaped."""
        items = self.items
        more = len(items) - _SHOWN
        tail = f"<p>and {more:,} more items</p>" if more > 0 else ""
        shown = items.dropna(axis="columns", how="all").head(_SHOWN)
        return f"<p><b>{escape(self._said())}</b></p>{shown.to_html(escape=True)}{tail}"


def _figure_rows(report: Mapping[str, Any], pair: str) -> Iterator[dict[str, Any]]:
    """The panel's and the raters' figures of a metrics report, flat."""
    for criterion, found in report["criteria"].items():
        everyone = {"panel": found["panel"], **found["raters"]}
        for rater, against in everyone.items():
            if pair not in against:
                continue
            figures = against[pair]
            row = {"criterion": criterion, "rater": rater}
            for name, value in figures.items():
                if name not in _PARTS:
                    row[name] = value
            for name, ends in figures.get("ci", {}).items():
                row |= dict(zip((f"{name}_low", f"{name}_high"), ends or (), strict=False))
            reasons = figures.get("undefined", {})
            yield row | {"undefined": "; ".join(f"{k}: {why}" for k, why in reasons.items())}


@dataclass(frozen=True)
class Comparison:
    """What moved from one run to another, on the items of both; ``data`` is ``compare --json``."""

    data: Mapping[str, Any]
    text: str

    @property
    def criteria(self) -> pd.DataFrame:
        """A row for each criterion and figure: in both runs, the change, and its interval."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"criterion": name, "figure": figure, **_flat(delta)}
                for name, found in self.data["criteria"].items()
                for figure, delta in found.items()
                if isinstance(delta, Mapping) and "difference" in delta
            ]
        )

    @property
    def overall(self) -> pd.DataFrame:
        """The same over all criteria: accuracy and mean score."""
        import pandas as pd

        found = self.data["overall"].items()
        return pd.DataFrame([{"figure": name, **_flat(delta)} for name, delta in found])

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        """For notebooks."""
        return f"<pre>{escape(self.text)}</pre>"


def _flat(delta: Mapping[str, Any]) -> dict[str, Any]:
    row = {key: value for key, value in delta.items() if not isinstance(value, Mapping | list)}
    for key, value in delta.items():
        if isinstance(value, Mapping):
            row |= {f"{key}_{part}": inner for part, inner in value.items()}
        elif isinstance(value, list) and len(value) == 2:
            row |= {f"{key}_low": value[0], f"{key}_high": value[1]}
    return row
