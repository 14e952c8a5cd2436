"""Documents: what comes with the program to be read (`?document=NAME&part=HEADING`)."""

from __future__ import annotations

import streamlit as st

from pages.documents import reading
from pages.documents.reading import Guide, GuidePart
from pages.ui import routes, state
from pages.ui.text import label
from pages.ui.widgets import empty_state, page_header

CSS = """<style>
.rs-doc{max-width:92ch;line-height:1.55;overflow-wrap:anywhere}
.rs-doc a,.rs-list a{color:light-dark(#0B6B68,#83D6CC)}
.rs-doc h1,.rs-doc h2,.rs-doc h3{padding:.5rem 0 .3rem;margin:0}
.rs-doc h1{font-size:1.5rem}.rs-doc h2{font-size:1.2rem}.rs-doc h3{font-size:1.05rem}
.rs-doc table{border-collapse:collapse;font-size:.9rem;display:block;overflow-x:auto}
.rs-doc :is(th,td){text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;min-width:6rem;
 border-bottom:1px solid light-dark(#D8D3C7,#38424A)}
.rs-doc code{font-family:"Source Code Pro",ui-monospace,monospace;font-size:.86em;
 background:light-dark(#F3F0E8,#1E252B);padding:.05em .25em;border-radius:.25em}
.rs-doc pre{background:light-dark(#F3F0E8,#1E252B);padding:.7rem .9rem;border-radius:.45rem;
 overflow-x:auto;line-height:1.45}
.rs-doc pre code{background:none;padding:0}
.rs-doc img{max-width:100%;background:#FDFCF9;border-radius:.45rem}
</style>"""
DOCUMENTS_FIELD = "documents_field"
#: Documents within a folder of these are offered together.
FOLDERS = {"tutorials": "Tutorial: ", "decisions": "Decision "}


def show() -> None:
    """The page."""
    page_header("Documents", "What comes with the program to be read; also in its folder `docs`.")
    asked = st.query_params.get(state.DOCUMENT, reading.SCREENS)
    found = reading.document(asked)
    _choice(asked if found else None)
    if found is None:
        empty_state("There is no such document", "The list above has all there are.")
        return
    st.html(CSS)
    part = st.query_params.get(state.PART, "")
    only = next((one for one in found.sections if part and one.part == part), None)
    if only:
        _section(found, only)
    else:
        _whole(found)


def _choice(asked: str | None) -> None:
    """Which document to read; the address follows."""
    key = state.key(DOCUMENTS_FIELD, state.DOCUMENT, asked)
    names = list(reading.names())
    st.selectbox(
        "Document",
        names,
        index=names.index(asked) if asked else None,
        format_func=_called,
        key=key,
        placeholder="Choose a document",
        on_change=_chosen,
        args=(key,),
    )


def _chosen(key: str) -> None:
    state.new_address(**{state.DOCUMENT: state.get(key) or reading.SCREENS})


def _called(name: str) -> str:
    """What a document is called in the list.

    A decision's number, which is the beginning of its file's name, stands before its title.
    """
    found = reading.document(name)
    folder, _, own = name.rpartition("/")
    number = f"{int(own[:4])}: " if folder == "decisions" else ""
    return f"{FOLDERS.get(folder, '')}{number}{found.title if found else name}"


def _section(found: Guide, only: GuidePart) -> None:
    st.html(f'<div class="rs-doc">{only.html}</div>')
    routes.link(routes.DOCUMENTS, label(f"All of: {found.title}"), {state.DOCUMENT: found.name})


def _whole(found: Guide) -> None:
    if len(found.sections) > 1:
        st.html(reading.contents(found))
    st.html(f'<div class="rs-doc">{"".join(one.html for one in found.sections)}</div>')


show()
