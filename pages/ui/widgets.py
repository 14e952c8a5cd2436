"""Small parts that every page uses: errors, empty states, headers, tags, figures, and their CSS."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

import streamlit as st

from core.domain.rubric import Rubric
from core.errors import InputError, Problem, RubricStudioError
from core.metrics.estimate import Estimate
from core.scoring.trace import Outcome, Trace
from core.text import numbers as fmt
from pages.ui import routes, state
from pages.ui.text import esc, label, one_line

#: So many words of a criterion can be given a meaning on a page.
MOST_WORDS = 60

# The little CSS that themes cannot say. Static text only; colours follow light and dark.

CSS = """<style>
.stMainBlockContainer{padding-left:2.2rem;padding-right:2.2rem;max-width:1560px}
@media (max-width:640px){.stMainBlockContainer{padding-left:1rem;padding-right:1rem}}
.st-key-rs_source textarea{font-family:"Source Code Pro",ui-monospace,monospace;font-size:.84rem;
 line-height:1.5;white-space:pre;overflow-x:auto}
.st-key-rs_numbered{position:relative;overflow:hidden}
.st-key-rs_numbered>:has(.rs-numbers){position:absolute;inset:1px auto 1px 1px;width:3.4rem;
 pointer-events:none;z-index:1;overflow:hidden;border-radius:.45rem;
 background:light-dark(#F3F0E8,#1E252B)}
.st-key-rs_numbered textarea{padding-left:3.6rem}
.rs-numbers{padding-top:.75rem;font:.84rem/1.5 "Source Code Pro",ui-monospace,monospace;
 width:3rem;text-align:right;color:light-dark(#6B7178,#98A0A7)}
.rs-numbers>*{display:block;font-style:normal}
.rs-numbers b{color:light-dark(#98201A,#FFA79F)}
button[data-variant][data-selected="true"][type],[role="tab"][aria-selected="true"],button[kind="tertiary"]:hover,
button[kind="secondary"]:hover,button[kind="tertiary"]:focus:not(:active)
{color:light-dark(#0B6B68,#83D6CC)}
.rs-prose{white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.55;max-width:78ch}
.rs-mark{background:light-dark(#F6E2A6,#4A3D12);color:inherit;border-bottom:2px solid
 light-dark(#A67C00,#E0B94A);padding:0 .1em;border-radius:.15em}
.rs-row{display:flex;flex-wrap:wrap;gap:.35rem;align-items:center}
.rs-tag{display:inline-flex;gap:.3rem;align-items:center;font-size:.82rem;line-height:1.5;
 padding:.02rem .5rem;border-radius:1rem;border:1px solid transparent;overflow-wrap:anywhere}
.rs-neutral{background:light-dark(#ECE8DF,#2A323A);color:light-dark(#454C53,#C3C9CE)}
.rs-good{background:light-dark(#DDF1E5,#173829);color:light-dark(#0F6440,#7FD8A8)}
.rs-bad{background:light-dark(#FBE6E3,#43201E);color:light-dark(#98201A,#FFA79F)}
.rs-warn{background:light-dark(#FDEBD2,#40301A);color:light-dark(#7A4200,#F5B868)}
.rs-info{background:light-dark(#DDEFF5,#17323D);color:light-dark(#0B5F7A,#8AD0E6)}
.rs-chip{display:inline-flex;gap:.4rem;align-items:baseline;font-size:.88rem;line-height:1.5;
 padding:.1rem .6rem;border-radius:.45rem;border:1px solid light-dark(#D8D3C7,#38424A);
 overflow-wrap:anywhere}
.rs-chip small,.rs-quiet{color:light-dark(#565D64,#B4BBC1);font-size:.82rem}
.rs-chosen{border:2px solid light-dark(#0B6B68,#4DB6AD);font-weight:650}
.rs-na{border-style:dashed}
.rs-list{margin:.1rem 0 .3rem 0;padding-left:1.1rem}
.rs-list li{margin:.15rem 0;overflow-wrap:anywhere}
.rs-card{border:1px solid light-dark(#D8D3C7,#38424A);border-radius:.45rem;padding:.6rem .8rem}
.rs-card>*+*{margin-top:.4rem}
.rs-quote{border-left:3px solid light-dark(#A67C00,#E0B94A);padding-left:.6rem;
 white-space:pre-wrap;overflow-wrap:anywhere}
.rs-empty{text-align:center;padding:2.2rem 1rem .6rem;max-width:46ch;margin:0 auto}
.rs-empty b{font-size:1.1rem}
.rs-table{border-collapse:collapse;width:100%;font-size:.9rem}
.rs-table th{text-align:left;font-weight:600;color:light-dark(#565D64,#B4BBC1);font-size:.82rem;
 overflow-wrap:break-word}
.rs-table td{overflow-wrap:anywhere}
.rs-table th,.rs-table td{padding:.3rem .6rem .3rem 0;vertical-align:top;
 border-bottom:1px solid light-dark(#E4DFD4,#2A333A)}
.rs-table td.n,.rs-table th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.rs-table .n+:not(.n){padding-left:.8rem}
.rs-table .rs-wrap{display:inline-block;white-space:normal;min-width:7rem;max-width:26ch}
.rs-table td:first-child{min-width:8rem}
.rs-table .rs-tag{white-space:nowrap}
.rs-diff .rs-text{white-space:pre-wrap;width:42%}
.rs-diff .rs-group{font-size:.95rem;color:inherit;padding-top:.9rem}
.rs-scroll{overflow-x:auto}
.rs-table a{color:light-dark(#0B6B68,#83D6CC)}
.st-key-rs_report{max-width:60rem}
.st-key-rs_report .rs-table{width:auto;min-width:min(26rem,100%)}
.st-key-rs_report .rs-table :is(th,td){padding-right:1.4rem}
@media (min-width:900px){.st-key-rs_beside{position:sticky;top:3.6rem;
 max-height:calc(100vh - 4.5rem);overflow:auto}}
@media (min-width:900px){.st-key-rs_bar{position:sticky;top:2.6rem;z-index:50;
 padding:.5rem 0;background:light-dark(#FDFCF9,#14191D);
 box-shadow:0 -3rem 0 0 light-dark(#FDFCF9,#14191D)}
 .stMainBlockContainer:has(.st-key-rs_bar) :has(>.stHeading h1){position:relative;z-index:51}
 .stMainBlockContainer:has(.st-key-rs_bar) [data-testid="stElementContainer"]:has(h1){
 position:relative;z-index:51}
 .stMainBlockContainer:has(.st-key-rs_bar) .st-key-rs_beside{top:6.8rem;
 max-height:calc(100vh - 7.6rem)}
 .st-key-rs_sides{position:sticky;top:6rem;z-index:49;padding:.1rem 0 .4rem;
 background:light-dark(#FDFCF9,#14191D)}
 .stMainBlockContainer:has(.st-key-rs_sides) .st-key-rs_beside{top:9.2rem;
 max-height:calc(100vh - 10rem)}}
.st-key-rs_beside>*{flex-shrink:0}
.rs-cell,:is(h1,h2).rs-cell{font-weight:650;font-size:1.02rem;font-family:inherit;padding:0;margin:0}
.st-key-rs_cell_active{border-color:light-dark(#0B6B68,#4DB6AD);scroll-margin:4rem 0}
.st-key-rs_options :is([data-testid="stIconMaterial"],:has(>[data-testid="stIconMaterial"])):not(
 div,button,[data-has-shortcut]){align-self:flex-start;margin-top:.1rem}
[data-testid="stLayoutWrapper"]:has(>:is(.st-key-rs_beside,.st-key-rs_bar,.st-key-rs_sides)){display:contents}
[class*="st-key-rs_cell_"]:not(.st-key-rs_cell_active){padding:.3rem .9rem}
.st-key-rs_options button{padding:.4rem .7rem;min-height:0}
:is(.st-key-rs_options,[class*="st-key-rs_cell_"]>[class*="st-key-review_act-open"]) button>div,
:is(.st-key-rs_options,[class*="st-key-rs_cell_"]>[class*="st-key-review_act-open"]) button>div>span
{justify-content:flex-start;text-align:left;width:100%}
.st-key-rs_options kbd{order:-1;min-width:1.5rem;margin:0 .5rem 0 0;padding:.05rem .4rem;
 text-align:center;
 border:1px solid currentColor;border-radius:.3rem;font-weight:650;opacity:.8;align-self:flex-start}
.st-key-rs_options button:focus-visible{outline:3px solid light-dark(#0B6B68,#83D6CC);
 outline-offset:2px}
@keyframes rs-late{from{visibility:hidden}to{visibility:visible}}
.st-key-rs_late{animation:rs-late 0s .6s both}
.rs-section{font-weight:650;font-size:.92rem;letter-spacing:.01em;padding-top:.4rem}
.rs-cut{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.rs-line{display:flex;gap:.45rem;align-items:center;white-space:nowrap;overflow:hidden}
.rs-section .rs-quiet{font-weight:400}
.rs-keys kbd{border:1px solid currentColor;border-radius:.3rem;padding:0 .3rem;opacity:.85}
@media (hover:none){.rs-keys{display:none}}
.rs-num{font-variant-numeric:tabular-nums}
[data-testid="stSidebarUserContent"]:has(.st-key-ways-hand){
 position:sticky;bottom:0;padding-bottom:.6rem;background:light-dark(#F3F0E8,#0F1317)}
.st-key-start_way-grade button{padding:.7rem 1.5rem}
.st-key-start_way-grade button *{font-size:1.08rem}
</style>"""


def frame_css() -> None:
    """Put the style sheet into the page, once per run, before anything else."""
    # Dialogs stand beside the app in the document, where its scheme does not reach.
    scheme = "dark" if st.context.theme.type == "dark" else "light"
    st.html(CSS.replace("<style>", f"<style>:root{{color-scheme:{scheme}}}", 1))


#: From so many votes on, working a page's figures out takes some seconds: it is asked for.
MANY = {"agreement": 400_000, "report": 50_000}
WORKED_OUT = "worked_out"

Tone = Literal["neutral", "good", "bad", "warn", "info"]
Choice = TypeVar("Choice", bound=str)


class LabelledFigure(NamedTuple):
    """One number of a row of figures: already formatted, with what it means in `help`."""

    name: str
    value: str
    help: str = ""


@contextlib.contextmanager
def shown_errors() -> Iterator[None]:
    """Show what a person can mend instead of failing; anything else is a bug and passes.

    Every callback and fragment has one, because the frame's does not reach them.
    """
    try:
        yield
    except InputError as error:
        head = f"{error.where}: {error.message}" if error.where else error.message
        st.error(label(head), icon=":material/error:")
        problem_list(error.problems)
    except RubricStudioError as error:
        st.error(label(str(error)), icon=":material/error:")


def problem_list(problems: Sequence[Problem]) -> None:
    """Every problem: where, what, and how to mend it."""
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
    """The page's title, what is written about it, and one quiet line.

    `own_words=False` where the title is a user's.
    """
    with st.container(horizontal=True, vertical_alignment="center", key="rs_head"):
        st.title(title if own_words else label(title), anchor=False, width="stretch")
        routes.about_this_page()
    if caption:
        st.caption(caption if own_words else label(caption))


def empty_state(title: str, body: str, action: Callable[[], object] | None = None) -> None:
    """What stands where nothing is yet: what this is for, and what to do next.

    `action` draws the button or link, centred below the words.
    """
    st.html(f'<div class="rs-empty"><b>{esc(title)}</b><br>{esc(body)}</div>')
    if action is not None:
        with st.container(horizontal=True, horizontal_alignment="center"):
            action()


def worked_out(page: str, votes: int, about: tuple[object, ...]) -> bool:
    """Whether a page's figures are to be worked out now; else a button asks for them.

    `about` changes whenever the figures would, so that they are asked for anew.
    """
    asked = state.key(WORKED_OUT, page, *about)
    if votes <= MANY[page] or state.get(asked):
        return True
    empty_state(
        f"{fmt.count(votes)} votes",
        "Working out the figures of so many takes some seconds. They are kept afterwards.",
        lambda: st.button(
            "Work them out",
            key=state.key(WORKED_OUT, page),
            type="primary",
            on_click=state.put,
            args=(asked, True),
        ),
    )
    return False


def figures(values: Sequence[LabelledFigure], columns: int = 4) -> None:
    """A row of figures of equal width that reflows on a narrow screen."""
    with st.grid(columns, min_column_width=150):
        for figure in values:
            st.metric(label(figure.name), label(figure.value), help=label(figure.help) or None)


def meanings(
    strange: Mapping[str, Sequence[str]], rubric: Rubric, key: Callable[[str, str], str]
) -> dict[str, dict[str, str]]:
    """Which option each word of a file is that is none of the rubric's, as far as it was said.

    Args:
        strange: the words by criterion.
        rubric: whose options can be chosen.
        key: the key of the choice for a word of a criterion.
    """
    said: dict[str, dict[str, str]] = {}
    if not strange:
        return said
    with st.expander("What their words mean", expanded=True, icon=":material/translate:"):
        st.caption("These words in the file are no options of the rubric. Say which each is.")
        for name, theirs in strange.items():
            options = [option.label for option in rubric.criterion(name).choices]
            with st.grid(3, min_column_width=200):
                for word in theirs[:MOST_WORDS]:
                    chosen = st.selectbox(
                        label(f"{name}: {word}", 80),
                        options,
                        index=None,
                        format_func=lambda option: one_line(option, 60),
                        key=key(name, word),
                        placeholder="Choose an option",
                    )
                    if chosen is not None:
                        said.setdefault(name, {})[word] = chosen
    return said


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, name: str, numbers: Sequence[int] = ()
) -> None:
    """A small table to read (not to click); `name` says what it is to those who do not see it.

    Args:
        heads: the words above the columns.
        rows: cells as HTML of our own: `esc`, `tag`, formatted numbers.
        name: the table's accessible name.
        numbers: the columns to be aligned as numbers.
    """

    def cells(kind: str, texts: Sequence[str]) -> str:
        classes = [' class="n"' if at in numbers else "" for at in range(len(texts))]
        scope = ' scope="col"' if kind == "th" else ""
        return "".join(
            f"<{kind}{scope}{of}>{text}</{kind}>" for of, text in zip(classes, texts, strict=True)
        )

    body = "".join(f"<tr>{cells('td', one)}</tr>" for one in rows)
    head = cells("th", [esc(one) for one in heads])
    st.html(
        f'<div class="rs-scroll"><table class="rs-table" aria-label="{esc(name)}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def tag(words: str, tone: Tone = "neutral") -> str:
    """The HTML of a small tag; its words say what its colour says."""
    return f'<span class="rs-tag rs-{tone}">{esc(words)}</span>'


def quiet(words: str) -> str:
    """HTML of words that are read second."""
    return f'<span class="rs-quiet">{esc(words)}</span>'


def with_ends(share: Estimate) -> str:
    """HTML of a share with its interval below; a dash where either is missing."""
    if share.value is None or share.low is None or share.high is None:
        return fmt.DASH
    ends = quiet(f"{fmt.percent(share.low)} to {fmt.percent(share.high)}")
    return f"{fmt.percent(share.value)}<br>{ends}"


def row(parts: Iterable[str], *, width: Literal["stretch", "content"] = "stretch") -> None:
    """Show pieces of our own HTML (`tag`, `votes.option_chips`) side by side."""
    st.html(f'<div class="rs-row">{"".join(parts)}</div>', width=width)


def one_of(
    words: str, options: Mapping[Choice, str] | Sequence[Choice], *, key: str, **more: Any
) -> Choice | None:
    """A row of choices, one of which is always taken; a mapping says what each is called.

    `words` are for those who cannot see it; `more` goes to the widget.
    """
    if isinstance(options, Mapping):
        more["format_func"] = options.__getitem__
    found: Choice | None = st.segmented_control(
        words, list(options), key=key, required=True, label_visibility="collapsed", **more
    )
    return found


def search_box(
    key: str,
    placeholder: str,
    *,
    width: int = 260,
    name: str = "Search",
    on_change: Callable[..., None] | None = None,
    args: tuple[str, ...] = (),
) -> str:
    """The search field of a bar above a list: what is typed counts at once, without Enter."""
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
    """The short message that the last act left, as a toast."""
    message = state.take_flash()
    if message:
        st.toast(label(message), icon=":material/check:")


OUTCOMES: Mapping[Outcome, tuple[str, Tone]] = {
    "pass": ("✓ Passes", "good"),
    "fail": ("✕ Fails", "bad"),
    "review": ("Needs a person", "warn"),
}
#: The same within a sentence.
OUTCOME_WORDS: Mapping[Outcome, str] = {
    "pass": "passes",
    "fail": "fails",
    "review": "needs a person",
}


def outcome_tags(trace: Trace) -> list[str]:
    """The outcome, whether a person is needed beside it, what pre-checks found, and flags."""
    marks = [] if trace.outcome is None else [tag(*OUTCOMES[trace.outcome])]
    if trace.review and trace.outcome != "review":
        marks.append(tag(*OUTCOMES["review"]))
    marks += [tag(f"Found: {mark.name}", "warn") for mark in trace.checks if mark.found]
    return marks + [tag(f"Flag: {flag}", "info") for flag in trace.flags]


def sheet_choice(sheets: Sequence[str], key: str) -> str | None:
    """Which sheet of a workbook is meant; nothing is taken before somebody says so."""
    chosen: str | None = st.selectbox(
        f"This workbook has rows on {len(sheets)} sheets",
        list(sheets),
        index=None,
        format_func=lambda name: one_line(name, 80),
        key=key,
        placeholder="Choose the sheet to read",
    )
    return chosen
