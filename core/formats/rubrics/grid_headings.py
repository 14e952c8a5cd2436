"""Headings of rubric grids: points, names of levels, and the roles of columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from core.errors import Problem
from core.formats.source.csv_reader import MAX_COLUMNS
from core.formats.source.heading_words import (
    REMARKS,
    has_word,
    heads_a_summary,
    name_parts,
    plain_heading,
)
from core.text.names import fold, kept_if_short

NUMBER = r"[-−+]?\d+(?:[.,]\d+)?"
_UNIT = (
    r"(?:points?|pts?\.?|p\.|marks?|punkte?n?|pkte?\.?|pkt\.?|punt[oi]s?|ptos\.?|pontos?|poäng"
    r"|баллов|балла|баллы?|分|点)"
)
_SPAN = rf"(?P<first>{NUMBER})(?:\s*(?:-|–|—|to|bis|à|a)\s*(?P<second>{NUMBER}))?"
#: Words before the number of a level: `Livello 4 – Avanzato`.
_LEVEL = (
    r"(?:level|lvl\.?|score|rating|grade|stufe|niveaustufe|niveau|niv\.?|note|punktzahl|nivel"
    r"|nível|livello|liv\.?|punteggio|puntaje|puntuación|pontuação|score|schaal|nivå|poziom"
    r"|уровень)"
)


def _ignoring_case(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


#: Points before or after words, with a unit or alone.
_SURE = _ignoring_case(
    rf"^(?P<label>){_SPAN}\s*{_UNIT}?$",
    rf"^(?P<label>.*\S)\s*[\[(]\s*{_SPAN}\s*{_UNIT}\s*[\])]\.?$",
    rf"^(?P<label>.*\S)\s*(?:[:,–—-]\s*|\s){_SPAN}\s*{_UNIT}$",
    rf"^[\[(]?\s*{_SPAN}\s*{_UNIT}\s*[\])]?\s*[:.=–—-]?\s+(?P<label>\S.*)$",
)
#: The same without a unit, for headings.
_BARE = _ignoring_case(
    rf"^(?P<label>){_LEVEL}\s*{_SPAN}$",
    rf"^{_LEVEL}\s*{_SPAN}\s*(?:[:.=)–—-]\s*(?P<label>[^\W\d].*)|\((?P<within>[^\W\d].*)\))$",
    rf"^(?P<label>.*\S)\s*[\[(]\s*{_LEVEL}?\s*{_SPAN}\s*[\])]$",
    rf"^(?P<label>.*[^\s\d])\s*[:,–—-]\s*{_LEVEL}?\s*{_SPAN}$",
    rf"^[\[(]?\s*{_SPAN}\s*[\])]?\s*[:.=)–—-]\s*(?P<label>[^\W\d].*)$",
    rf"^(?P<label>[^\W\d].*\S)\s+{_SPAN}$",
)


class Points(NamedTuple):
    """The words and points of a heading or a cell; ``None`` without points.

    In a range of points (8-10) ``points`` is the maximum and ``least`` the minimum.
    """

    label: str
    points: float | None
    least: float | None


def points_in(text: str, *, heading: bool = False) -> Points:
    """Return the points at either end of a text; a ``heading`` needs no unit.

    >>> points_in("Good (3 points)"), points_in("8-10")
    (Points(label='Good', points=3.0, least=3.0), Points(label='8-10', points=10.0, least=8.0))
    >>> points_in("Good (3)").points, points_in("Good (3)", heading=True).points
    (None, 3.0)
    >>> points_in("Stufe 4: gut", heading=True)
    Points(label='gut', points=4.0, least=4.0)
    """
    text = " ".join(text.split())
    for pattern in (*_SURE, *_BARE) if heading else _SURE:
        match = pattern.match(text)
        if match:
            parts = match.groupdict()
            given = filter(None, (match["first"], match["second"]))
            ends = [float(n.replace("−", "-").replace(",", ".")) for n in given]
            label = parts["label"] or parts.get("within") or text
            return Points(label, max(ends), min(ends))
    return Points(text, None, None)


_MOST = re.compile(
    rf"(?P<name>.*\S)\s*(?:[\[(]|[:,–—-]\s|/)\s*(?:[^\W\d]+[.:]?\s+){{0,2}}{_SPAN}\s*(?:%|{_UNIT})?"
    r"[^()\d]*[\])]?",
    re.IGNORECASE,
)


def maximum_in(heading: str) -> tuple[str, float | None]:
    """Return a criterion's name and its weight or most points.

    >>> maximum_in("Voice (30 %)"), maximum_in("Clareza (máx. 5 pontos)"), maximum_in("Ton")
    (('Voice', 30.0), ('Clareza', 5.0), ('Ton', None))
    """
    match = _MOST.fullmatch(heading)
    if not match:
        return heading, None
    ends = filter(None, (match["first"], match["second"]))
    return match["name"], max(float(n.replace("−", "-").replace(",", ".")) for n in ends)


#: The end of a name that may be its weight: in brackets, behind a sign, or `x2`.
_END = re.compile(
    r"(.*\S)\s*(?:[\[(]([^\[\]()]+)[\])]|(?:[:,;]\s|\s[–—-]\s|\s(?=/\s*\d|[x×]\s?\d))\s*([^:,;()\[\]]+))\.?"
)
_N = r"(?P<n>\d+(?:[.,]\d+)?)"
_MAXIMUM = (
    r"(?:max(?:imum|imal|imo)?|m[aá]x(?:imo)?|massimo|höchstens|bis zu|up to|out of|jusqu'à|hasta"
    r"|fino a|sur|su|sobre|/)"
)
_COUNTS = (
    r"(?:(?:counts?|weigh(?:s|ted)|worth|zählt|gewichtet|wiegt|compte|vale|cuenta|conta|pesa|telt"
    r"|weegt)\s+(?:(?:as|for|por|mit|il|a|em|el|o)\s+)*)?"
)
_TWICE = (
    r"doubled?|twice|doppelte?|zweifach|doublé|deux fois|doppio|due volte|doble|dos veces|dobro"
    r"|dobrar|duas vezes|dubbel|twee keer|podwójnie|dubbelt"
)
_THRICE = (
    r"tripled?|three times|thrice|dreifache?|trois fois|triplo|tre volte|triple|tres veces"
    r"|três vezes|driedubbel|drie keer"
)
#: How a name gives a weight: of the whole, by the word *weight*, or as a factor.
Weighing = Literal["whole", "weight", "factor"]
_WEIGHINGS: tuple[tuple[Weighing, re.Pattern[str]], ...] = (
    ("whole", re.compile(
        rf"{_COUNTS}(?:{_MAXIMUM}\.?:?\s*)?{_N}\s*(?:%|percent|per cent|prozent|{_UNIT})"
        r"(?:\s+[^\W\d]+){0,3}"
        rf"|{_MAXIMUM}\.?:?\s*{_N.replace('<n>', '<most>')}", re.I)),
    ("weight", re.compile(
        rf"(?:weight(?:ing)?|gewicht(?:ung)?|poids|pond[eé]ration|peso|ponderaci[oó]n|waga|weging)"
        rf"\s*[:=]?\s*{_N}\s*%?", re.I)),
    ("factor", re.compile(
        rf"(?:factor|faktor|facteur|fattore|weighted|coef(?:f(?:icient)?|ficiente)?|[x×*])(?:\s?[x×])?\.?\s*[:=]?\s*{_N}"
        rf"|{_COUNTS}{_N.replace('<n>', '<times>')}"
        r"\s*(?:[x×]|-?fach|times|mal|fois|veces|volte|keer)"
        rf"|{_COUNTS}(?:(?P<twice>{_TWICE})|(?P<thrice>{_THRICE}))"
        r"(?:\s+(?:weight\w*|gewicht\w*|wertung|poids|peso))?", re.I)),
)  # fmt: skip


def weight_in_name(name: str) -> tuple[str, float, Weighing] | None:
    """Return a criterion's name without its weight, the weight, and how it is meant.

    >>> weight_in_name("Style – 15 %"), weight_in_name("Aufbau (zählt doppelt)")
    (('Style', 15.0, 'whole'), ('Aufbau', 2.0, 'factor'))
    >>> weight_in_name("Task 2 (draft)")
    """
    match = _END.fullmatch(" ".join(name.split()))
    for kind, pattern in _WEIGHINGS if match else ():
        assert match
        if found := pattern.fullmatch((match[2] or match[3]).strip()):
            words = {"twice": "2", "thrice": "3"}
            (key, text), *_ = [(k, v) for k, v in found.groupdict().items() if v]
            return match[1], float(words.get(key, text).replace(",", ".")), kind
    return None


_LEADING = re.compile(rf"({NUMBER})\s+([^\W\d].*)")


def points_of_levels(heads: Sequence[str]) -> list[Points]:
    """Return the points of levels' headings; numbers before all of the words count if they differ.

    >>> [(entry.label, entry.points) for entry in points_of_levels(["2 Exceeds", "1 Meets"])]
    [('Exceeds', 2.0), ('Meets', 1.0)]
    """
    points = [points_in(head, heading=True) for head in heads]
    leading = [match for head in heads if (match := _LEADING.fullmatch(" ".join(head.split())))]
    numbers = [float(match[1].replace("−", "-").replace(",", ".")) for match in leading]
    if len({*numbers}) < len(heads) or any(entry.points is not None for entry in points):
        return points
    return [Points(match[2], n, n) for match, n in zip(leading, numbers, strict=True)]


Role = Literal["criterion", "requirement", "weight", "section", "aside", "level"]
#: Whether the best level comes first; ``None`` if neither points nor words decide.
Order = Literal["best_first", "worst_first"] | None


def words_between_bars(text: str) -> frozenset[str]:
    """Return the words between bars, as plain headings.

    >>> sorted(words_between_bars("item_id|Critère"))
    ['critere', 'item id']
    """
    return frozenset(map(plain_heading, text.split("|")))


#: Words for a column of criteria that make any table a grid.
CRITERION_WORDS = words_between_bars(
    """criterion|criteria|aspect|category|dimension|trait|element|component|objective|
    standard|skill|learning outcome|outcome|task|area|name|title|what is assessed"""
)
ROLE_WORDS: dict[Role, frozenset[str]] = {
    "criterion": CRITERION_WORDS
    | words_between_bars(
        """indicator|kriterium|kriterien|bewertungskriterium|bewertungskriterien|aspekt|merkmal|
        kompetenz|critère|critères|critère d'évaluation|compétence|indicateur|criterio|criterios|
        criterios de evaluación|aspecto|aspectos|indicador|indicadores|dimensión|competencia|
        indicatore|indicatori|criteri|criterio di valutazione|dimensione|competenza|
        beoordelingscriterium|beoordelingscriteria|criterium|competentie|aspecten|critério|
        critérios|critério de avaliação|dimensão|competência|kryterium|kriterie|критерий|
        标准|指标|評価項目|観点"""
    ),
    "requirement": words_between_bars(
        """requirement|description|question|text|definition|what to look for|what we look for|
        guiding question|descriptor|descriptors|descrittore|descrittori|descripteurs|
        deskriptor|deskriptoren|descriptores|anforderung|beschreibung|leitfrage|frage|exigence|consigne|descripción|
        pregunta|definición|descrizione|domanda|definizione|descripteur|beschrijving|omschrijving|
        vraag|toelichting|descrição|pergunta|definição"""
    ),
    "weight": words_between_bars(
        """weight|weighting|points|pts|max|max points|max. points|maximum|maximum points|worth|
        points possible|possible points|out of|barème|coefficient"""
    ),
    "section": words_between_bars(
        """section|group|part|abschnitt|bereich|teil|teilbereich|gruppe|kategorie|partie|domaine|
        rubrique|catégorie|categoría|categoria|sección|apartado|bloque|parte|ámbito|grupo|sezione|ambito|gruppo|onderdeel|deel|
        groep|rubriek|categorie|seção|bloco|âmbito|część|раздел"""
    ),
    "aside": words_between_bars(
        """score|points earned|earned|your score|grade|mark|comment|comments|feedback|notes|total|
        erreicht|erreichte punkte|punkte erreicht|note obtenue|points obtenus|puntaje obtenido|
        puntos obtenidos|punteggio ottenuto|punti ottenuti|behaald|behaalde punten|
        pontos obtidos|nota obtida"""
    ),
}
#: Beginnings of headings of weights in other forms and languages: `Weight (%)`, `Gewicht in %`.
_WEIGHTS = re.compile(
    r"(?:weight|gewicht|anteil|faktor|poids|pond\b|ponder|pondér|coef|bar[eè]me|peso\b|weging|"
    r"waga\b|vekt\b|vikt\b|вес\b|权重|權重|分值|满分|配点|배점|가중치|max\b|maximum|punkte\b|"
    r"puntos\b|pontos\b|punti\b|punten\b|(?:possible |total |available )?(?:points?|marks)\b)"
)
#: Headings of vote tables; a table with any of them is not a rubric grid.
_VOTES = words_between_bars(
    """item|item_id|item id|rater|rater_id|annotator|coder|judge|label|vote|rating|segment|
    excerpt|email|e-mail|email address|e mail adresse|adresse mail|correo electrónico"""
)
#: Words for levels, from best to worst; words on the same line are equal.
_RANKS = (
    "exemplary|excellent|outstanding|exceptional|distinguished|advanced|superior|mastery|mastered|"
    "exceeds expectations|exceeds|expert|full marks|full points|full credit|fully met|complete|"
    "strong|high|always|very good|a|strong yes|strong hire|well above bar|above bar|sehr gut|"
    "hervorragend|ausgezeichnet|voll erfüllt|vollständig erfüllt|volledig|pienamente raggiunto|"
    "très bien|excellente|"
    "très satisfaisant|très bonne maîtrise|excelente|sobresaliente|destacado|muy bueno|muy bien|"
    "avanzado|avanzato|ottimo|eccellente|uitstekend|zeer goed|ótimo|muito bom|avançado",
    "good|proficient|accomplished|meets expectations|meets|competent|above average|usually|"
    "mostly met|met|yes|b|hire|at bar|meets bar|gut|bien|bon|satisfaisant|acquis|"
    "maîtrise satisfaisante|bueno|notable|erfüllt|weitgehend erfüllt|raggiunto|"
    "satisfactorio|logrado|competente|intermedio|buono|distinto|goed|ruim voldoende|bom|"
    "proficiente|satisfatório",
    "fair|satisfactory|adequate|developing|average|basic|acceptable|partially meets|partial|"
    "partial credit|partly met|partially met|approaching|approaches expectations|emerging|"
    "sometimes|medium|moderate|sufficient|c|lean yes|lean hire|weak hire|befriedigend|"
    "zufriedenstellend|teilweise erfüllt|teils erfüllt|gedeeltelijk|parzialmente raggiunto|"
    "assez bien|moyen|"
    "partiellement acquis|en cours d'acquisition|maîtrise fragile|regular|aceptable|básico|"
    "en proceso|discreto|base|voldoende|razoável|em desenvolvimento",
    "needs improvement|needs work|limited|weak|below expectations|below average|novice|marginal|"
    "rarely|low|d|lean no|lean no hire|below bar|ausreichend|genügend|passable|fragile|"
    "à améliorer|suficiente|por mejorar|"
    "sufficiente|matig|fraco",
    "poor|unsatisfactory|inadequate|insufficient|beginning|failing|fail|no credit|no marks|"
    "no points|zero points|not met|unmet|no|absent|missing|none|incomplete|never|unacceptable|"
    "does not meet|does not meet expectations|very poor|f|no hire|strong no|strong no hire|"
    "well below bar|nicht erfüllt|non raggiunto|mangelhaft|ungenügend|unzureichend|"
    "insuffisant|non acquis|maîtrise insuffisante|très insuffisant|insuficiente|deficiente|"
    "inicial|en inicio|no logrado|iniziale|insufficiente|gravemente insufficiente|"
    "in via di prima acquisizione|onvoldoende|slecht|insatisfatório|muito fraco|ausente",
)
_RANK = {word: at for at, line in enumerate(_RANKS) for word in line.split("|")}
_LEVEL_WORD = re.compile(rf"{_LEVEL}\s+(?:[a-f]\s*[:.=)–—-]\s*)?", re.IGNORECASE)


def rank_of(label: str) -> int | None:
    """Return the rank of a usual name of a level, 0 for the best, or ``None``.

    >>> rank_of("Excellent"), rank_of("Livello D – iniziale"), rank_of("Gold")
    (0, 4, None)
    """
    word = fold(label)
    return _RANK.get(word, _RANK.get(_LEVEL_WORD.sub("", word, count=1)))


def roles_of(heads: Sequence[str]) -> tuple[Role, ...] | None:
    """Return the role of every grid column, or ``None`` for other tables.

    Of two columns of criteria side by side, rows tell which is the section.

    >>> roles_of(["Criterion", "Excellent", "Poor", "Comments"])
    ('criterion', 'level', 'level', 'aside')
    """
    if not 3 <= len(heads) <= MAX_COLUMNS:
        return None
    names = [fold(head) for head in heads]
    if name_parts(heads) or any(plain_heading(head) in _VOTES for head in heads):
        return None
    roles: list[Role] = [role_of(head) for head in names]
    if "criterion" not in roles:
        # An empty or unknown first heading: the first column holds the criteria.
        roles[0] = "criterion"
    levels = [head for head, role in zip(heads, roles, strict=True) if role == "level"]
    ranked = [rank_of(entry.label) is not None for entry in points_of_levels(levels)]
    marked = sum(map(max, ranked, map(names_a_level, levels)))
    first, last = roles.index("criterion"), len(roles) - 1 - roles[::-1].index("criterion")
    many = roles.count("criterion") > 2 or last - first > 1
    if len(levels) < 2 or not all(map(fold, levels)) or many:
        return None
    named = any(plain_heading(head) in CRITERION_WORDS for head in heads)
    return tuple(roles) if (named or marked >= 2) else None


@kept_if_short
def role_of(head: str) -> Role:
    """Return the role of a column by its heading, folded.

    >>> [role_of(head) for head in ("weight (%)", "% of grade", "pond.", "points (4)", "90-100%")]
    ['weight', 'weight', 'weight', 'level', 'level']
    """
    plain = plain_heading(head)
    named = next((role for role, known in ROLE_WORDS.items() if plain in known), None)
    if named or re.search(r"\d", head):
        return named or "level"
    if rank_of(head) is None and has_word(head, REMARKS):
        return "aside"
    return "weight" if "%" in head or _WEIGHTS.match(head) else "level"


#: Words of totals in their rows, of which no level is described.
_TOTALS = re.compile(
    r"\b(?:totaa?l|gesamt|sum\b|summe|somm[ae]|suma|soma|complessiv|итог|сумм)|合計|总分|總分"
)


def names_a_total(name: str) -> bool:
    """Return whether the name of a row without descriptions says that it sums the others up.

    >>> names_a_total("Punteggio totale"), names_a_total("Summary")
    (True, False)
    """
    return heads_a_summary(name) or _TOTALS.search(fold(name)) is not None


def percent_notices(heading: str, cells: Sequence[str]) -> list[Problem]:
    """Return the notice of weights in percent that do not add up to 100; none for other weights.

    >>> str(percent_notices("Weight (%)", ["60", "45"])[0])
    'The weights add up to 105 %, not 100 %. Only their proportions count.'
    >>> percent_notices("Weight", ["60 %", "40 %"]), percent_notices("Weight", ["2", "1"])
    ([], [])
    """
    numbers = [points_in(cell.strip(" %")).points for cell in cells if cell.strip()]
    weights = [number for number in numbers if number is not None]
    percent = "%" in heading or (bool(cells) and all("%" in cell for cell in cells))
    total = sum(weights)
    if not percent or not weights or len(numbers) > len(weights) or abs(total - 100) < 0.5:
        return []
    return [
        Problem(f"The weights add up to {total:g} %, not 100 %.", "Only their proportions count.")
    ]


def order_of_labels(labels: Sequence[str]) -> Order:
    """Return whether the best level is first or last, by known words, which must agree.

    >>> order_of_labels(["Poor", "Fair", "Wonderful"]), order_of_labels(["Gold", "Silver"])
    ('worst_first', None)
    """
    ranks = [rank for label in labels if (rank := rank_of(label)) is not None]
    if len(set(ranks)) < 2:
        return None
    if ranks == sorted(ranks):
        return "best_first"
    return "worst_first" if ranks == sorted(ranks, reverse=True) else None


def names_a_level(head: str) -> bool:
    """Return whether a heading has points, or is a usual name of a level."""
    label, points, _ = points_in(head, heading=True)
    return points is not None or rank_of(label) is not None
