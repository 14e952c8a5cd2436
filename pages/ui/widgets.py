"""Small parts that every page uses: errors, empty states, headers, tags, figures, style."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import streamlit as st

from core.domain.rubric import Rubric
from core.errors import InputError, Problem, RubricStudioError
from core.metrics.estimate import USUAL, Confidence, Estimate, IntervalChoice
from core.scoring.explanation import assessed_words
from core.scoring.trace import Outcome, Trace
from core.text import numbers as fmt
from pages.ui import routes, state
from pages.ui.browser import tables
from pages.ui.text import esc, label, one_line

#: The most unknown answers of a criterion that a page asks about.
MOST_WORDS = 60

#: The few styles that themes cannot express.
CSS = Path(__file__).with_name("style.css").read_text(encoding="utf-8")


def frame_css() -> None:
    """Put the style sheet into the page, once per run, before anything else."""
    # Dialogs are outside the app's element in the document, where its colour scheme does not apply.
    scheme = "dark" if st.context.theme.type == "dark" else "light"
    st.html(f"<style>:root{{color-scheme:{scheme}}}\n{CSS}</style>")


#: With at least this many votes, a page's figures take seconds and are computed on request.
MANY = {"agreement": 400_000, "report": 50_000, "rescored": 10_000}
WORKED_OUT = "worked_out"

Tone = Literal["neutral", "good", "bad", "warn", "info"]
Choice = TypeVar("Choice", bound=str)


class LabelledFigure(NamedTuple):
    """One number of a row of figures: already formatted, with an explanation in `help`."""

    name: str
    value: str
    help: str = ""


@contextlib.contextmanager
def shown_errors() -> Iterator[None]:
    """Show errors that a person can fix; raise others, which are bugs.

    Every callback and fragment needs this, because the frame's own does not cover them.
    """
    try:
        yield
    except InputError as error:
        show_refusal(error, place=error.where)
    except RubricStudioError as error:
        st.error(label(str(error)), icon=":material/error:")


def show_refusal(error: InputError, *, place: str = "") -> None:
    """Draw an error and every problem in it; ``place`` names its place if the page does not."""
    head = f"{place}: {error.message}" if place else error.message
    st.error(label(head), icon=":material/error:")
    problem_list(error.problems)


def problem_list(problems: Sequence[Problem]) -> None:
    """Draw every problem: where, what, and how to fix it."""
    if not problems:
        return
    items = "".join(
        "<li>"
        + (f"<b>{esc(p.place)}</b> " if p.place else "")
        + esc(p.message)
        + (f' <span class="rs-quiet">{esc(p.mend)}</span>' if p.mend else "")
        + "</li>"
        for p in problems
    )
    st.html(f'<ul class="rs-list">{items}</ul>')


def page_header(title: str, caption: str = "", *, own_words: bool = True) -> None:
    """Draw the page's title, a link to its documentation, and one quiet line.

    `own_words=False` if the title is a user's.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="rs_head"):
        st.title(title if own_words else label(title), anchor=False, width="stretch")
        routes.about_this_page()
    if caption:
        st.caption(caption if own_words else label(caption))


def empty_state(title: str, body: str, action: Callable[[], object] | None = None) -> None:
    """Draw an empty page: its purpose, and what to do next.

    `action` draws the button or link, centred below the text.
    """
    st.html(f'<div class="rs-empty"><b>{esc(title)}</b><br>{esc(body)}</div>')
    if action is not None:
        with st.container(
            horizontal=True, horizontal_alignment="center", vertical_alignment="center"
        ):
            action()


def compute_now(page: str, votes: int, cache_key: tuple[object, ...]) -> bool:
    """Return whether to compute a page's figures now; otherwise draw a button for it.

    `cache_key` changes whenever the figures would, so that the button appears again.
    """
    request_key = state.key(WORKED_OUT, page, *cache_key)
    if votes <= MANY[page] or state.get(request_key):
        return True
    empty_state(
        f"{fmt.count(votes)} votes",
        "Computing this many figures takes some seconds. The figures are then cached.",
        lambda: st.button(
            "Work them out",
            key=state.key(WORKED_OUT, page),
            type="primary",
            on_click=state.put,
            args=(request_key, True),
        ),
    )
    return False


def show_figures(values: Sequence[LabelledFigure], columns: int = 4) -> None:
    """Draw a row of figures of equal width that reflows on a narrow screen."""
    with st.grid(columns, min_column_width=150):
        for figure in values:
            st.metric(label(figure.name), label(figure.value), help=label(figure.help) or None)


def choose_meanings(
    unknown: Mapping[str, Sequence[str]], rubric: Rubric, key: Callable[[str, str], str]
) -> dict[str, dict[str, str]]:
    """Choose the option that each unknown answer of a file means; return the choices made.

    Args:
        unknown: the unknown answers by criterion.
        rubric: the rubric whose options can be chosen.
        key: returns the key of the choice for an answer of a criterion.
    """
    meanings: dict[str, dict[str, str]] = {}
    if not unknown:
        return meanings
    with st.expander("Meaning of the file's labels", expanded=True, icon=":material/translate:"):
        st.caption(
            "These words in the file are not options of the rubric. Choose an option for each."
        )
        for name, answers in unknown.items():
            options = [option.label for option in rubric.criterion(name).choices]
            with st.grid(3, min_column_width=200):
                for word in answers[:MOST_WORDS]:
                    chosen = st.selectbox(
                        label(f"{name}: {word}", 80),
                        options,
                        index=None,
                        format_func=lambda option: one_line(option, 60),
                        key=key(name, word),
                        placeholder="Choose an option",
                    )
                    if chosen is not None:
                        meanings.setdefault(name, {})[word] = chosen
    return meanings


def draw_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    name: str,
    numbers: Sequence[int] = (),
) -> None:
    """Draw a small table to read (not to click); `name` describes it to screen readers.

    Args:
        headings: the text above the columns.
        rows: cells as our own HTML: `esc`, `tag`, formatted numbers.
        name: the table's accessible name.
        numbers: the columns to align as numbers.
    """

    def cells_html(kind: str, texts: Sequence[str]) -> str:
        classes = [' class="n"' if index in numbers else "" for index in range(len(texts))]
        scope = ' scope="col"' if kind == "th" else ""
        return "".join(
            f"<{kind}{scope}{css}>{text}</{kind}>" for css, text in zip(classes, texts, strict=True)
        )

    body = "".join(f"<tr>{cells_html('td', texts)}</tr>" for texts in rows)
    head = cells_html("th", [esc(title) for title in headings])
    st.html(
        f'<div class="rs-tabled">{tables.table_buttons(name)}'
        f'<div class="rs-scroll"><table class="rs-table" aria-label="{esc(name)}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def tag(words: str, tone: Tone = "neutral") -> str:
    """Return the HTML of a small tag; its text means the same as its colour."""
    return f'<span class="rs-tag rs-{tone}">{esc(words)}</span>'


def quiet_html(words: str) -> str:
    """Return HTML of secondary text."""
    return f'<span class="rs-quiet">{esc(words)}</span>'


def figure_cell(
    figure: Estimate, form: Callable[[float | None], str] = fmt.score, *, interval: bool = True
) -> str:
    """Return HTML of a figure, below it its interval, or why either is missing.

    Without ``interval`` the figure never has one, and only an undefined figure has a reason.
    """
    value, ends, reason = figure.words(form)
    if ends:
        return f"{value}<br>{quiet_html(ends)}"
    if not reason or (figure.value is not None and not interval):
        return value
    return f'{value}<br><span class="rs-quiet rs-wrap">{esc(reason)}</span>'


def draw_row(parts: Iterable[str], *, width: Literal["stretch", "content"] = "stretch") -> None:
    """Draw pieces of our own HTML (`tag`, `votes.option_chips`) side by side."""
    st.html(f'<div class="rs-row">{"".join(parts)}</div>', width=width)


def choose_one(
    words: str, options: Mapping[Choice, str] | Sequence[Choice], *, key: str, **more: Any
) -> Choice | None:
    """Draw a row of choices, one of which is always selected; a mapping gives their captions.

    `words` describe it to screen readers; `more` goes to the widget.
    """
    if isinstance(options, Mapping):
        more["format_func"] = options.__getitem__
    chosen: Choice | None = st.segmented_control(
        words, list(options), key=key, required=True, label_visibility="collapsed", **more
    )
    return chosen


def draw_pager(pages: int, key: str, on_change: Callable[[str], None]) -> None:
    """Draw the page numbers in a row, wide enough for seven of them."""
    # In a narrower row the widget omits all pages but the current one.
    wide = 48 * min(pages, 7) + 120
    st.pagination(pages, key=key, width=wide, on_change=on_change, args=(key,))


def search_box(
    key: str,
    placeholder: str,
    *,
    width: int = 260,
    name: str = "Search",
    on_change: Callable[..., None] | None = None,
    args: tuple[str, ...] = (),
) -> str:
    """Draw the search field above a list; typing takes effect at once, without Enter."""
    return st.text_input(
        name,
        key=key,
        type="search",
        live="300ms",
        placeholder=placeholder,
        label_visibility="collapsed",
        width=width,
        on_change=on_change,
        args=args,
    )


def show_flash() -> None:
    """Show the short message of the last act, as a toast."""
    message = state.take_flash()
    if message:
        st.toast(label(message), icon=":material/check:")


OUTCOMES: Mapping[Outcome, tuple[str, Tone]] = {
    "pass": ("✓ Passes", "good"),
    "fail": ("✕ Fails", "bad"),
    "review": ("Needs a person", "warn"),
}
#: The words for an outcome within a sentence.
OUTCOME_WORDS: Mapping[Outcome, str] = {
    "pass": "passes",
    "fail": "fails",
    "review": "needs a person",
}


def outcome_tags(trace: Trace) -> list[str]:
    """Return tags: the outcome, whether it also needs a person, pre-checks' hits, and flags."""
    marks = [] if trace.outcome is None else [tag(*OUTCOMES[trace.outcome])]
    if trace.review and trace.outcome != "review":
        marks.append(tag(*OUTCOMES["review"]))
    marks += [tag(f"Found: {mark.name}", "warn") for mark in trace.checks if mark.found]
    return marks + [tag(f"Flag: {flag}", "info") for flag in trace.flags]


def partly_tags(trace: Trace) -> list[str]:
    """Return tags for an item's unassessed points; empty if all were assessed."""
    return [] if trace.complete else [tag(assessed_words(trace.criteria), "warn")]


def sheet_choice(sheets: Sequence[str], key: str) -> str | None:
    """Return the chosen sheet of a workbook; ``None`` until one is chosen."""
    chosen: str | None = st.selectbox(
        f"This workbook has rows on {len(sheets)} sheets",
        list(sheets),
        index=None,
        format_func=lambda name: one_line(name, 80),
        key=key,
        placeholder="Choose the sheet to read",
    )
    return chosen


# The confidence level of intervals: chosen once, for every page of this tab.

CONFIDENCE, CONFIDENCE_FIELD = "confidence", "confidence_field"
LEVELS = (0.8, 0.9, 0.95, 0.99)
METHODS: dict[IntervalChoice, str] = {
    "auto": "Whichever holds best",
    "percentile": "Percentile",
    "bca": "BCa",
    "basic": "Basic",
}


def chosen_confidence() -> Confidence:
    """Return this tab's choice, made on any page; 95% until then."""
    return Confidence(*state.get(CONFIDENCE, USUAL))


def level_words() -> str:
    """Return the chosen level: `95%`."""
    return fmt.level_words(chosen_confidence().level)


def interval_choice(*, methods: bool = True) -> Confidence:
    """Draw a popover that chooses level and method; `methods` if resampling makes the intervals."""
    choice = chosen_confidence()
    with st.popover(f"{level_words()} intervals", icon=":material/straighten:", width="content"):
        interval_fields(methods=methods)
    return choice


def interval_fields(*, methods: bool = True) -> None:
    """Draw the fields of level and method, within another popover."""
    _confidence_choice(
        "level", "How often an interval contains the true value", LEVELS, fmt.level_words
    )
    if methods:
        caption = METHODS.__getitem__
        _confidence_choice(
            "method", "How intervals are computed from resamples", tuple(METHODS), caption
        )
    st.caption(
        "Applies to Agreement, Report, Compare runs and Compare systems in this tab. Words "
        "such as trusted, better, strict, found or refused are still decided at 95%, "
        "whatever you choose here."
    )


def _confidence_choice(
    part: str, caption: str, options: Sequence[Any], format_func: Callable[[Any], str]
) -> None:
    key = state.key(CONFIDENCE_FIELD, part)
    # A widget's own value disappears with its page; this keeps the choice.
    state.put(key, getattr(chosen_confidence(), part))
    st.selectbox(
        caption, options, key=key, format_func=format_func, on_change=_on_choice, args=(part, key)
    )


def _on_choice(part: str, key: str) -> None:
    state.put(CONFIDENCE, tuple(chosen_confidence()._replace(**{part: state.get(key)})))
