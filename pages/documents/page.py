"""Documents: the program's own documentation (`?document=NAME&part=HEADING`)."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.documents import reading
from pages.documents.reading import GuidePart
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
#: Folders whose documents are listed together.
FOLDERS = {"tutorials": "Tutorial: ", "decisions": "Decision "}


def show() -> None:
    """Draw the page."""
    page_header(
        "Documents",
        ("The documents that come with the program. The program's folder `docs` has them, too."),
    )
    name = st.query_params.get(state.DOCUMENT, reading.SCREENS)
    guide = reading.document(name)
    _document_choice(name if guide else None)
    if guide is None:
        empty_state("There is no such document", "The list above has all documents.")
        return
    st.html(CSS)
    title, sections = guide
    part = st.query_params.get(state.PART, "")
    chosen_part = next((section for section in sections if part and section.part == part), None)
    if chosen_part:
        _show_section(name, title, chosen_part)
    else:
        _show_whole(name, sections)


def _document_choice(name: str | None) -> None:
    """Choose the document to read; the address follows."""
    key = state.key(DOCUMENTS_FIELD, state.DOCUMENT, name)
    names = list(reading.document_names())
    st.selectbox(
        "Document",
        names,
        index=names.index(name) if name else None,
        format_func=_list_title,
        key=key,
        placeholder="Choose a document",
        on_change=_on_choice,
        args=(key,),
    )


def _on_choice(key: str) -> None:
    state.new_address(**{state.DOCUMENT: state.get(key) or reading.SCREENS})


def _list_title(name: str) -> str:
    """Return a document's title in the list.

    A decision's title begins with its number, taken from the start of the file's name.
    """
    folder, _, own_name = name.rpartition("/")
    number = f"{int(own_name[:4])}: " if folder == "decisions" else ""
    return f"{FOLDERS.get(folder, '')}{number}{reading.document_title(name)}"


def _show_section(name: str, title: str, only: GuidePart) -> None:
    st.html(f'<div class="rs-doc">{only.html}</div>')
    routes.draw_link(routes.DOCUMENTS, label(f"All of: {title}"), {state.DOCUMENT: name})


def _show_whole(name: str, sections: Sequence[GuidePart]) -> None:
    if len(sections) > 1:
        st.html(reading.links_to_parts(name, sections))
    st.html(f'<div class="rs-doc">{"".join(section.html for section in sections)}</div>')


show()
