"""A paper as one HTML file that opens without network: no script, nothing fetched; light, dark."""

from __future__ import annotations

import html
import re

from core.files.paper import (
    Bars,
    Block,
    Facts,
    Forest,
    Histogram,
    Paper,
    PaperTable,
    Sentences,
    Words,
)
from core.files.svg_plots import plot
from core.files.visible import visible

#: Nothing may be fetched and no script may run, whatever a text says.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root{color-scheme:light dark;--ink:#1F2428;--quiet:#565D64;--back:#FCFAF5;--line:#E0DACD;
--accent:#0B6B68;--bar:#3E7CB1;--mark:#B4540A}
@media (prefers-color-scheme:dark){:root{--ink:#E6E9EB;--quiet:#B4BBC1;--back:#14191E;
--line:#333D45;--accent:#6CCBC1;--bar:#6FA8D6;--mark:#F0A35C}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:2rem 1.2rem 4rem;background:var(--back);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.25;margin:0}
h2{font-size:1.2rem;margin:2.4rem 0 .6rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}
h3{font-size:1rem;margin:1.4rem 0 .4rem}
p{margin:.3rem 0;max-width:75ch}li{margin:.25rem 0;max-width:75ch}
.quiet,small,footer{color:var(--quiet);font-size:.85rem}
small{display:block;font-weight:400}
nav{margin:1rem 0;font-size:.9rem}nav a{color:var(--accent);margin-right:1rem;display:inline-block}
.wide{overflow-x:auto}
table{border-collapse:collapse;min-width:min(26rem,100%);font-size:.92rem}
caption{text-align:left;font-weight:600;padding:.9rem 0 .3rem}
th{text-align:left;color:var(--quiet);font-size:.85rem;vertical-align:bottom}
td,th{padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:normal}
td:first-child{overflow-wrap:anywhere;min-width:7rem}
.t{overflow-wrap:anywhere}
.n{text-align:right;font-variant-numeric:tabular-nums}
.n small{min-width:6.5rem}
th[scope=row]{color:var(--ink);font-weight:400;font-size:inherit;width:40%}
figure{margin:1rem 0;overflow-x:auto}figcaption{font-weight:600;margin-bottom:.3rem}
svg{width:100%;min-width:32rem;height:auto;max-width:46rem;font:12px system-ui,sans-serif}
svg text{fill:var(--ink)}svg text[fill]{fill:revert-layer}
.bar{fill:var(--bar)}.piece{stroke:var(--back)}.axis,.mean{stroke:var(--quiet)}
.mean{stroke-dasharray:5 4}.grid{stroke:var(--line)}
.reach{stroke:var(--bar);stroke-width:3}.point{fill:var(--bar);stroke:var(--back)}
.mark{fill:none;stroke:var(--mark);stroke-width:2}
@media print{body{max-width:none;padding:0;font-size:11pt;background:#fff}nav{display:none}
h2,h3,caption{break-after:avoid}tr,figure{break-inside:avoid}.wide{overflow:visible}}
"""


def html_paper(paper: Paper) -> str:
    """The paper as the text of an HTML file.

    >>> from core.files.paper import Section
    >>> found = html_paper(Paper("A <b>", "", (Section("S", (Sentences(("1 < 2",)),)),)))
    >>> "<h1>A &lt;b&gt;</h1>" in found, "<p>1 &lt; 2</p>" in found
    (True, True)
    """
    heads = [(f"part-{at}", section.title) for at, section in enumerate(paper.sections)]
    links = "".join(f'<a href="#{name}">{_esc(title)}</a>' for name, title in heads)
    body = "".join(
        f'<section id="{name}"><h2>{_esc(section.title)}</h2>'
        f"{''.join(map(_block, section.blocks))}</section>\n"
        for (name, _), section in zip(heads, paper.sections, strict=True)
    )
    style = re.sub(r"\n", "", _STYLE)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{_esc(paper.title)}</title><style>{style}</style></head>\n<body>"
        f'<header><h1>{_esc(paper.title)}</h1><p class="quiet">{_esc(paper.subtitle)}</p></header>'
        f'<nav aria-label="Contents">{links}</nav>\n<main>{body}</main>'
        f"<footer>{_esc(paper.made)}</footer></body></html>\n"
    )


def _block(block: Block) -> str:
    if isinstance(block, Sentences):
        return _sentences(block)
    if isinstance(block, Histogram | Forest | Bars):
        caption = f"<figcaption>{_esc(block.name)}</figcaption>"
        return f"<figure>{caption}{plot(block)}</figure>" if _drawn(block) else ""
    return _facts(block) if isinstance(block, Facts) else _table(block)


def _drawn(block: Histogram | Forest | Bars) -> bool:
    return bool(block.bins if isinstance(block, Histogram) else block.rows)


def _sentences(block: Sentences) -> str:
    if block.listed:
        return f"<ul>{''.join(f'<li>{_esc(line)}</li>' for line in block.lines)}</ul>"
    return "".join(f"<p>{_esc(line)}</p>" for line in block.lines)


def _facts(block: Facts) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_esc(name)}</th><td class="t">{_words(words)}</td></tr>'
        for name, words in block.rows
    )
    return f'<div class="wide"><table aria-label="{_esc(block.name)}">{rows}</table></div>'


def _table(block: PaperTable) -> str:
    def kind(at: int) -> str:
        return ' class="n"' if at in block.numbers else ' class="t"'

    head = "".join(
        f'<th scope="col"{kind(at)}>{_esc(one)}</th>' for at, one in enumerate(block.heads)
    )
    rows = "".join(
        f"<tr>{''.join(f'<td{kind(at)}>{_words(one)}</td>' for at, one in enumerate(row))}</tr>"
        for row in block.rows
    )
    note = f'<p class="quiet">{_esc(block.note)}</p>' if block.note else ""
    return (
        f'<div class="wide"><table><caption>{_esc(block.name)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}"
    )


def _words(words: Words) -> str:
    below = f"<small>{_esc(words.below)}</small>" if words.below else ""
    return _esc(words.text) + below


def _esc(text: str) -> str:
    return html.escape(visible(text))
