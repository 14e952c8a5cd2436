"""A printable rubric sheet: criteria by levels with points, penalties and rules."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from core.domain.rubric import Criterion, Option, Rubric
from core.formats.rubrics.foreign import shown_label
from core.formats.source.csv_writer import points_text
from core.text.names import visible

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root{color-scheme:light dark;--ink:#1F2428;--quiet:#565D64;--back:#FCFAF5;--line:#CFC8B8;
--head:#F1ECE0;--bad:#A3341F;--badback:#FBEDE8}
@media (prefers-color-scheme:dark){:root{--ink:#E6E9EB;--quiet:#B4BBC1;--back:#14191E;
--line:#3A454E;--head:#1E262D;--bad:#F2A08D;--badback:#2C1E1B}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:2rem 1.2rem 3rem;background:var(--back);
color:var(--ink);font:15px/1.45 system-ui,-apple-system,"Segoe UI",sans-serif;
overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.2;margin:0}
h2{font-size:1.05rem;margin:1.6rem 0 .5rem}
p{margin:.3rem 0;max-width:80ch;white-space:pre-wrap}
.quiet{color:var(--quiet)}
.fill{display:flex;gap:2rem;margin:1rem 0 0;color:var(--quiet)}
.fill span{flex:1;border-bottom:1px solid var(--line);padding-bottom:.2rem;min-height:1.8rem}
.fill span:last-child{flex:.45}
.grid{display:flex;flex-direction:column}
article{display:grid;grid-template-columns:minmax(9rem,24%) 1fr;border:1px solid var(--line);
border-top:0;break-inside:avoid}
.grid>article:first-child{border-top:1px solid var(--line)}
.what{padding:.6rem .7rem;background:var(--head)}
.what b{display:block}
.what p{font-size:.9rem;margin:.25rem 0 0}
.worth{float:right;margin-left:.6rem;font-variant-numeric:tabular-nums;white-space:nowrap;
color:var(--quiet)}
ol{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap}
li{flex:1 1 8.5rem;padding:.6rem .7rem;border-left:1px solid var(--line);min-height:4rem}
li b{font-weight:600}
li p{font-size:.9rem}
.box{float:right;width:.85rem;height:.85rem;border:1.5px solid var(--quiet);
border-radius:2px;margin:.2rem 0 0 .4rem}
.na{border-left-style:dashed;color:var(--quiet)}
.penalty .what{background:var(--badback)}
.penalty .worth{color:var(--bad);font-weight:600}
footer{margin-top:1.4rem;font-size:.85rem}
ul{margin:.3rem 0;padding-left:1.2rem}ul li{all:revert;margin:.25rem 0;max-width:85ch}
@media (max-width:620px){article{grid-template-columns:1fr}
li{border-left:0;border-top:1px solid var(--line);flex-basis:100%;min-height:0}.fill{gap:1rem}}
@media print{:root{color-scheme:light;--ink:#000;--quiet:#444;--back:#fff;--line:#888;
--head:#f3f3f3;--bad:#8a1f0c;--badback:#fbeeea}
body{max-width:none;padding:0;font-size:10pt;print-color-adjust:exact;
-webkit-print-color-adjust:exact}
h2{break-after:avoid}@page{size:A4 landscape;margin:12mm}}
"""


@dataclass(frozen=True)
class SheetRules:
    """Scoring rules in addition to points, as complete sentences."""

    gates: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def rubric_sheet(rubric: Rubric, rules: SheetRules = SheetRules(), created: str = "") -> str:
    """Return the sheet as an HTML file without network access or script.

    Args:
        rubric: the rubric to print; its texts are escaped, invisible characters are shown as signs.
        rules: gates and the like in words.
        created: the line at the foot.

    >>> rubric = Rubric(name="<b>", criteria=[{"name": "a", "requirement": "b"}])
    >>> "<h1>&lt;b&gt;</h1>" in rubric_sheet(rubric)
    True
    """
    style = re.sub(r"\n", "", _STYLE)
    count = len(rubric.criteria)
    head = f"{'1 criterion' if count == 1 else f'{count} criteria'}, {_total_html(rubric)}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{_escape(rubric.name)}</title><style>{style}</style></head>\n<body>"
        f'<header><h1>{_escape(rubric.name)}</h1><p class="quiet">{head}</p>'
        f"{_paragraph_html(rubric.description)}"
        '<div class="fill"><span>Name</span><span>Graded by</span><span>Points</span></div>'
        f"</header><main>{_sections_html(rubric)}{_rules_html(rubric, rules)}</main>"
        f'<footer class="quiet">{_escape(created)}</footer></body></html>\n'
    )


def _are_shares(rubric: Rubric) -> bool:
    """Return whether the weights are shares of a whole, rather than points."""
    return 0 < rubric.max_points <= 1 + 1e-9


def _total_html(rubric: Rubric) -> str:
    if _are_shares(rubric):
        return "weights in per cent"
    return (
        f"{points_text(rubric.max_points)} points at best" if rubric.max_points > 0 else "no points"
    )


def _sections_html(rubric: Rubric) -> str:
    """Return the criteria under their section headings, in order."""
    criteria = rubric.criteria
    parts, at, shares = list[str](), 0, _are_shares(rubric)
    while at < len(criteria):
        end = at
        while end < len(criteria) and criteria[end].section == criteria[at].section:
            end += 1
        title = criteria[at].section or ("Other" if parts else "Criteria")
        rows = "".join(_criterion_html(criterion, shares) for criterion in criteria[at:end])
        parts.append(f'<section><h2>{_escape(title)}</h2><div class="grid">{rows}</div></section>')
        at = end
    return "".join(parts)


def _criterion_html(criterion: Criterion, shares: bool) -> str:
    penalty = criterion.weight < 0
    worth = (
        f"{'up to ' if len(criterion.scored) > 2 else ''}{_signed_points(criterion.weight, shares)}"
    )
    scored = (option for option in criterion.options if not option.na)
    options = sorted(scored, key=lambda option: option.value or 0.0, reverse=not penalty)
    cells = "".join(_option_html(criterion, option, shares) for option in options)
    cells += "".join(
        f'<li class="na"><span class="box"></span><b>{_escape(option.label)}</b> not counted'
        f"{_paragraph_html(option.description)}</li>"
        for option in criterion.options
        if option.na
    )
    kind = "Penalty: " if penalty else ""
    return (
        f'<article{" class=penalty" if penalty else ""}><div class="what">'
        f'<span class="worth">{kind}{worth}</span><b>{_escape(criterion.name)}</b>'
        f"{_paragraph_html(criterion.requirement)}</div><ol>{cells}</ol></article>"
    )


def _signed_points(points: float, shares: bool) -> str:
    # A true minus sign, which cannot be mistaken for a dash.
    text = f"{points_text(points * 100)}%" if shares else points_text(points)
    return text.replace("-", "\u2212").replace(" ", "\u00a0")


def _option_html(criterion: Criterion, option: Option, shares: bool) -> str:
    points = _signed_points((option.value or 0.0) * criterion.weight, shares)
    return (
        f'<li><span class="box"></span><b>{_escape(shown_label(criterion, option))}</b> '
        f'<span class="quiet">{points}</span>{_paragraph_html(option.description)}</li>'
    )


def _rules_html(rubric: Rubric, rules: SheetRules) -> str:
    parts = list[str]()
    if rubric.guidelines:
        parts.append(f"<h2>For whoever grades</h2>{_paragraph_html(rubric.guidelines)}")
    for title, lines in (("Whatever the points", rules.gates), ("Scoring", rules.others)):
        if lines:
            items = "".join(f"<li>{_escape(line)}</li>" for line in lines)
            parts.append(f"<h2>{title}</h2><ul>{items}</ul>")
    return f"<section>{''.join(parts)}</section>" if parts else ""


def _paragraph_html(text: str) -> str:
    return f"<p>{_escape(text)}</p>" if text.strip() else ""


def _escape(text: str) -> str:
    return html.escape(visible(text))
