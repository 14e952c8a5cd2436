"""Order the words of a scale, by the numbers in them or as usual scales of words do."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import count

from core.formats.columns.absences import MINUS, SIGNS
from core.formats.columns.answer_columns import MOST_SHARED
from core.formats.columns.label_words import is_yes, may_be_marks
from core.formats.source.csv_writer import number_of
from core.formats.source.heading_words import plain_heading
from core.formats.votes.structure.graded_words import bare_word, graded_order
from core.text.names import fold

#: Scales of words in several languages, from the worst or least option to the best or most.
#: Commas separate steps, bars separate words for one step.
_SCALES = (
    "unacceptable|terrible|awful|horrible|very poor|very bad|extremely poor, unsatisfactory"
    "|poor|bad|inadequate|insufficient, needs improvement|below average|weak|mediocre"
    ", fair|ok|okay|average|acceptable|adequate|satisfactory|sufficient|neutral"
    ", above average|good, very good|strong|great"
    ", excellent|outstanding|perfect|exceptional|superb",
    "never, almost never|hardly ever|very rarely, rarely|seldom, occasionally, sometimes"
    ", often|frequently, usually|mostly|most of the time|very often, almost always"
    "|nearly always, always",
    "not at all|none at all, slightly|a little|a little bit|barely|hardly, somewhat|moderately"
    "|to some extent, quite|quite a bit|mostly|largely, very|very much|a lot|highly"
    ", extremely|completely|entirely|fully|totally",
    "none, very low, low|minimal, rather low, medium|moderate|middle|mid|average"
    ", rather high, high, very high, critical",
    "no|none|not at all, partly|partially|partial|somewhat|in part|kind of|to some extent"
    ", mostly|largely, yes|full|fully|complete|completely",
    "no, rather no|mostly no|more no than yes|tend to no, partly|partially|somewhat|maybe|perhaps"
    ", rather yes|mostly yes|more yes than no|tend to yes, yes",
    "pants on fire|pants-fire, false, mostly false|barely true, half true|half-true|mixture|mixed"
    "|partly true|partly false, mostly true, true",
    "not met|unmet, partially met|partly met, mostly met, met|fully met, exceeded",
    "fail|failed|clear fail, borderline|borderline fail|marginal fail, borderline pass|bare pass"
    ", pass|passed|clear pass|satisfactory, good|merit, very good, excellent|outstanding"
    "|distinction",
    "far below expectations, below expectations|does not meet expectations|does not meet|below"
    "|not meeting expectations, needs improvement|partially meets expectations|partially meets"
    "|approaching expectations|approaching|approaches expectations|nearly meets"
    ", meets expectations|meets|meeting|meeting expectations|at expectations"
    ", exceeds expectations|exceeds|exceeding|above expectations|exceeding expectations"
    ", far exceeds expectations",
    "beginning|beginner|novice|emerging, developing|basic, intermediate"
    ", proficient|competent|accomplished|skilled, advanced|exemplary|distinguished|expert|mastery",
    "strong reject|clear reject, reject, weak reject|borderline reject|marginal reject"
    ", borderline|neutral, weak accept|borderline accept|marginal accept, accept"
    ", strong accept|clear accept",
    "reject, reject and resubmit, major revision|major revisions, minor revision|minor revisions"
    ", accept|accept as is",
    "strong no hire|strong no|strongly no|definitely no|definitely not|do not hire"
    "|strong no-hire|strong do not hire, no hire|no|no-hire|not hire|do not advance|don't hire"
    ", lean no hire|lean no|leaning no|weak no hire|weak no|probably not|leaning no hire"
    ", neutral|undecided|mixed|on the fence|unsure"
    ", lean hire|lean yes|leaning yes|weak hire|weak yes|probably|leaning hire"
    ", hire|yes|advance, strong hire|strong yes|strongly yes|definitely|definitely yes",
    "well below average|far below average|much below average|bottom, below average"
    ", slightly below average, average|about average, slightly above average, above average"
    ", well above average|far above average|much above average|top",
    "critical|fatal|blocker, severe, serious, major, moderate|medium, minor, mild|slight|low"
    ", trivial|negligible|cosmetic, none|no error|no errors|no issue|no issues|neutral|absent",
    "a1, a2, b1, b2, c1, c2",
    # German
    "ungenügend|ungenuegend, mangelhaft|nicht ausreichend, ausreichend|genügend, befriedigend, gut"
    ", sehr gut|hervorragend|ausgezeichnet",
    "sehr schlecht, schlecht, eher schlecht, mittel|mittelmäßig|mittelmässig|durchschnittlich"
    "|neutral|teils teils, eher gut, gut, sehr gut",
    "nie|niemals, fast nie|sehr selten, selten, gelegentlich, manchmal, oft|häufig, meistens"
    "|sehr oft|sehr häufig, fast immer, immer",
    "keine|kein, sehr niedrig|sehr gering, niedrig|gering, mittel|mäßig, hoch, sehr hoch",
    "falsch, teilweise richtig|teilweise|teils richtig, überwiegend richtig, richtig",
    "nein, eher nein, teilweise|teils|zum teil|teils teils|vielleicht, eher ja|überwiegend, ja",
    # French
    "très insuffisant|très mal, insuffisant|mal, passable|médiocre, assez bien, bien, très bien"
    ", excellent",
    "très mauvais|très mauvaise, mauvais|mauvaise|faible, moyen|moyenne|correct|correcte, bon|bonne"
    ", très bon|très bonne, excellent|excellente",
    "très insuffisant, insuffisant, limite, satisfaisant, très satisfaisant",
    "jamais, presque jamais|très rarement, rarement, parfois|quelquefois, souvent, très souvent"
    "|presque toujours, toujours",
    "non acquis, en cours d'acquisition|partiellement acquis, acquis, dépassé|expert",
    "non atteint, partiellement atteint, atteint, dépassé",
    "très faible, faible, moyen|moyenne, fort|élevé|forte|élevée, très fort|très élevé",
    "non, plutôt non, partiellement|en partie|peut-être, plutôt oui, oui",
    # Spanish
    "muy deficiente, suspenso|insuficiente|reprobado|deficiente, suficiente|aprobado, bien"
    ", notable|muy bien, sobresaliente, matrícula de honor",
    "muy insuficiente, insuficiente, básico|en proceso|suficiente, adecuado|satisfactorio|logrado"
    "|bueno|buena|bien, muy bueno|notable, excelente|destacado|destacada|avanzado",
    "muy malo|muy mala|pésimo|pésima|muy deficiente, malo|mala|insuficiente|deficiente"
    ", regular|aceptable, bueno|buena, muy bueno|muy buena, excelente|sobresaliente|destacado",
    "totalmente en desacuerdo|muy en desacuerdo, en desacuerdo, algo en desacuerdo"
    ", neutral|ni de acuerdo ni en desacuerdo|indiferente, algo de acuerdo, de acuerdo"
    ", totalmente de acuerdo|muy de acuerdo",
    "nunca, casi nunca|rara vez|raramente, a veces|algunas veces|ocasionalmente"
    ", a menudo|frecuentemente|con frecuencia, casi siempre, siempre",
    "nulo|ninguno|nula|ninguna, muy bajo|muy baja, bajo|baja, medio|moderado|media|moderada"
    ", alto|alta, muy alto|muy alta",
    "incorrecto|incorrecta, parcialmente correcto|parcialmente correcta, correcto|correcta",
    "no, más bien no, parcialmente|en parte|quizás|tal vez, más bien sí, sí|si",
    # Portuguese, Italian, Dutch
    "péssimo|muito ruim|muito mau, ruim|mau|má|insuficiente, regular|razoável, bom|boa"
    ", muito bom|muito boa, ótimo|ótima|excelente",
    "discordo totalmente, discordo|discordo parcialmente, neutro|nem concordo nem discordo"
    "|indiferente, concordo parcialmente, concordo, concordo totalmente",
    "nunca, quase nunca|raramente, às vezes, frequentemente|muitas vezes, quase sempre, sempre",
    "gravemente insufficiente, insufficiente|scarso, sufficiente, discreto, buono, distinto, ottimo"
    "|eccellente",
    "insuficiente, suficiente, bom, muito bom, excelente",
    "nulo|nula|nenhum|nenhuma, muito baixo|muito baixa, baixo|baixa, médio|média|moderado|moderada"
    ", alto|alta, muito alto|muito alta",
    "nullo|nulla|nessuno|nessuna, molto basso|molto bassa, basso|bassa, medio|media, alto|alta"
    ", molto alto|molto alta",
    "geen, zeer laag|heel laag, laag, gemiddeld|middel|midden|matig, hoog, zeer hoog|heel hoog",
    "mai, quasi mai|raramente, a volte|qualche volta, spesso, quasi sempre, sempre",
    "slecht, onvoldoende, matig, voldoende, ruim voldoende, goed, zeer goed, uitstekend",
    "helemaal mee oneens, mee oneens|oneens, neutraal, mee eens|eens, helemaal mee eens",
    "não, mais não do que sim|antes não, parcialmente|em parte|talvez, mais sim do que não"
    "|antes sim, sim",
    "no, piuttosto no|più no che sì, in parte|parzialmente|forse, piuttosto sì|più sì che no"
    ", sì|si",
    "nee, eerder nee|eerder niet, deels|gedeeltelijk|misschien, eerder ja|eerder wel, ja",
    # Slavic and Nordic languages
    "zdecydowanie nie, nie, raczej nie, częściowo|trudno powiedzieć, raczej tak, tak"
    ", zdecydowanie tak",
    "определенно нет, нет, скорее нет, частично|отчасти, скорее да, да, определенно да",
    "ні, скоріше ні|радше ні, частково, скоріше так|радше так, так",
    "rozhodně ne, ne, spíše ne, částečně, spíše ano, ano, rozhodně ano",
    "nej|nei, snarare nej|snarere nej|heller nei, delvis, snarare ja|snarere ja|heller ja, ja",
    "brak, bardzo niski|bardzo niska|bardzo niskie, niski|niska|niskie, średni|średnia|średnie"
    ", wysoki|wysoka|wysokie, bardzo wysoki|bardzo wysoka|bardzo wysokie",
    "нет, очень низкий|очень низкая, низкий|низкая|низкое, средний|средняя|среднее"
    ", высокий|высокая|высокое, очень высокий|очень высокая",
    "ingen, mycket låg, låg, medel|medelhög, hög, mycket hög",
    # Chinese, Japanese
    "低, 中, 高",
    "非常差|很差, 差|较差, 一般|中等|中, 较好|好|良好|良, 很好|非常好|优秀|优",
    "不及格, 及格, 中|中等, 良|良好, 优|优秀",
    "非常不同意|完全不同意, 不同意|比较不同意, 中立|一般|不确定, 比较同意, 同意, 非常同意|完全同意",
    "否, 倾向于否|偏否, 部分, 倾向于是|偏是, 是",
    "いいえ, どちらかといえばいいえ, どちらともいえない, どちらかといえばはい, はい",
    "×|✕, △, ○|〇|◯, ◎",
    "悪い|とても悪い, やや悪い, 普通|ふつう, やや良い, 良い, とても良い|非常に良い",
)
#: The same before words that all labels share: the bar, expectations, standard, grade level.
_BEFORE_NOUN = (
    "well below|far below|much below|significantly below, below|under|does not meet|not meeting"
    ", slightly below|just below|partly meets|partially meets|nearly meets|almost meets"
    "|approaching|approaches, at|meets|on|met|within|near, slightly above|just above"
    ", above|exceeds|over|raises, well above|far above|much above|significantly above"
    "|far exceeds|greatly exceeds|significantly exceeds|consistently exceeds",
    "weit unter|deutlich unter, unter, knapp unter|teilweise, entspricht|erfüllt|im rahmen"
    ", über|übertrifft, weit über|deutlich über|übertrifft deutlich",
    "bien en dessous|très en dessous|nettement en dessous, en dessous|inférieur|ne répond pas"
    ", partiellement conforme, conforme|répond|à la hauteur, au-dessus|supérieur|dépasse"
    ", bien au-dessus|très au-dessus|dépasse largement|nettement au-dessus",
    "muy por debajo, por debajo|debajo, según|dentro|cumple|conforme|cumple con"
    ", por encima|supera, muy por encima|supera ampliamente",
    "molto al di sotto|ben al di sotto|molto sotto, al di sotto|inferiore|sotto"
    ", in linea con|conforme|soddisfa, al di sopra|superiore|sopra|supera"
    ", molto al di sopra|ben al di sopra|molto sopra|supera ampiamente",
    "ver onder|ver beneden|ruim onder, onder|beneden, naar|volgens|conform|op|voldoet aan"
    ", boven, ver boven|ruim boven|overtreft",
    "muito abaixo, abaixo, dentro|conforme|de acordo com|atende, acima|supera, muito acima",
)
#: Articles and prepositions between these words and the shared one.
_ARTICLES = re.compile(
    r"(?: (?:the|den|die|der|des|les|aux|de|del|lo|las|los|le|delle|alle|do|das|dos|o|as|a))+\Z"
)
#: Answers without an opinion, beside the words of a scale.
_NO_OPINION = (
    "don't know|do not know|dont know|can't tell|cannot tell|can't say|cannot say|no opinion"
    "|not sure|no answer|prefer not to say|weiß nicht|weiss nicht|keine angabe|keine meinung"
    "|ne sait pas|je ne sais pas|no sabe|no sé|ns/nc|não sei|non so|weet niet|不知道|わからない"
    "|not observed|did not observe|not seen|no evidence seen|not covered|not discussed|n/o|n.o."
    "|n.b.|nb|n. b.|nicht beobachtet|k.a.|k. a.|keine beobachtung|non observé|non observée|n.o"
    "|no observado|no observada|sin observar|non osservato|non osservata|niet waargenomen"
    "|niet geobserveerd|não observado|não observada"
)
_NUMBERED = re.compile(r"([-+]?\d+(?:[.,]\d+)?)\s*([:=\-–—.)/|]|\s)\s*(\D.*)\Z", re.S)
_NUMBER_LAST = re.compile(r"(.*?\D)\s*(?:[(\[]\s*|[=:–-]\s*)([-+]?\d+)\s*[)\]]?\Z", re.S)
_LETTER = re.compile(r"([a-f])([+\-\u2212]?)\Z")
#: Headings of letter grades; elsewhere, A and B are answers to choose from.
_GRADES = re.compile(r"\b(grade|mark|note|nota|cijfer|voto)")
#: Headings of answers chosen among others, whose letters have no order.
_CHOICES = re.compile(
    r"\b(answer|respon|choice|chosen|option|prefer|winner|best|better|select|pick|vote|label|type"
    r"|kind|class|categor|code|group|set|version|variant|condition|arm|system|model|form|plan|key"
    r"|section|team|defect|fault|issue|cluster|cohort|site|zone|theme|topic|error|reason|cause"
    r"|antwort|wahl|typ|art|gruppe|klasse|reponse|choix|respuesta"
    r"|opcion|tipo|grupo|risposta|scelta|resposta|opcao)"
)


def is_scale(words: Collection[str], heading: str) -> bool:
    """Return whether these are yes and no, a few levels, or the words of a scale."""
    if None not in map(is_yes, words) or scale_order(words, heading):
        return True
    numbers = [n for word in words if (n := number_of(word)) is not None]
    return len(numbers) == len(words) <= MOST_SHARED and may_be_marks(numbers)


def no_opinion(word: str) -> bool:
    """Return whether a word says that the rater has no opinion."""
    return fold(word) in _UNSURE


def scale_order(
    labels: Collection[str], heading: str = "", *, beside_numbers: bool = False
) -> dict[str, float] | None:
    """Return the place of each label on the scale that they form, lowest first, or ``None``.

    Three letters and more are grades ``beside_numbers`` of another criterion, unless the heading is
    that of a choice.

    >>> scale_order(["1 - poor", "2", "3 - good"])
    {'1 - poor': 1.0, '2': 2.0, '3 - good': 3.0}
    >>> scale_order(["agree", "neutral", "disagree"])
    {'agree': 2.0, 'neutral': 1.0, 'disagree': 0.0}
    >>> scale_order(["red", "green"])
    """
    if len({*map(fold, labels)}) < 2:
        return None
    return (
        _places_by_signs(labels)
        or _places_by_words({label: label for label in labels})
        or graded_order(labels)
        or _places_by_words(_words_before_noun(labels), (*_STEPS, *_STEPS_BEFORE_NOUN))
        or _places_by_numbers(labels)
        or _places_of_letters(labels, heading, beside_numbers=beside_numbers)
    )


def _places_by_signs(labels: Collection[str]) -> dict[str, float] | None:
    """Return the places of marks such as `--`, `+/-` and `+`, if each is another one."""
    places = {label: SIGNS.get(fold(label).replace(MINUS, "-")) for label in labels}
    known = {label: place for label, place in places.items() if place is not None}
    signed = any("+" in label for label in labels)
    is_order = signed and len(known) == len(places) == len({*known.values()})
    return known if is_order else None


def _places_by_words(
    words: dict[str, str], scales: Sequence[dict[str, float]] | None = None
) -> dict[str, float] | None:
    """Return the places of labels by their ``words``, in the first scale that has all of them."""
    known = {label: bare_word(word) for label, word in words.items()}
    for steps in scales or _STEPS:
        if all(word in steps for word in known.values()):
            used = sorted({steps[word] for word in known.values()})
            if len(used) < len({*known.values()}):
                return None  # two words for one step
            return {label: float(used.index(steps[word])) for label, word in known.items()}
    return None


def _words_before_noun(labels: Collection[str]) -> dict[str, str]:
    """Return the words before those that end all labels: `no harm`, `mild harm`."""
    words = [plain_heading(label).split() for label in labels]
    shared = next(n for n in count(1) if len({tuple(w[-n:]) for w in words}) > 1 or n > 9) - 1
    firsts = [_ARTICLES.sub("", " ".join(w[: len(w) - shared])) for w in words]
    if not shared or not all(firsts):
        return {}
    return {
        label: "none" if first in ("no", "without") else first
        for label, first in zip(labels, firsts, strict=True)
    }


def _places_by_numbers(labels: Collection[str]) -> dict[str, float] | None:
    """Return the places of labels with a number in each, such as `3: reject` or `good (4)`."""
    first = {label: match for label in labels if (match := _NUMBERED.match(label.strip()))}
    last = {label: match for label in labels if (match := _NUMBER_LAST.match(label.strip()))}
    worded = {label: (m[1], m[3]) for label, m in first.items()}
    if len(first) < len(last):
        worded = {label: (m[2], m[1]) for label, m in last.items()}
    numbers = {label: number_of(worded.get(label, (label,))[0]) for label in labels}
    places = {label: n for label, n in numbers.items() if n is not None}
    if not worded or len(places) < len(labels):
        return None
    if len({places[label] for label in worded}) < len({*map(fold, worded)}):
        return None  # two different words have one number
    words = {label: word for label, (_, word) in worded.items()}
    usual = None
    if len({*words.values()}) > 1 and not (usual := _places_by_words(words)):
        places_of = graded_order({*words.values()}) or {}
        usual = {label: places_of[word] for label, word in words.items()} if places_of else None
    in_list = worded.keys() == first.keys() and any(m[2] in ".)" for m in first.values())
    if usual is None and in_list:
        return None  # numbers of categories in a list
    ends = sorted(usual or places, key=lambda label: places[label])
    falls = usual is not None and usual[ends[0]] > usual[ends[-1]]
    return {label: -place if falls else place for label, place in places.items()}


def _places_of_letters(
    labels: Collection[str], heading: str, *, beside_numbers: bool
) -> dict[str, float] | None:
    """Return the places of letter grades; letters alone need a heading, or F without E."""
    grades = {label: _LETTER.match(fold(label)) for label in labels}
    letters = {match[1] for match in grades.values() if match}
    signed = any(match and match[2] for match in grades.values())
    american = {"f", "d"} <= letters and "e" not in letters
    if None in grades.values() or len(letters) < 2:
        return None
    graded = beside_numbers and len(letters) > 2 and {"a", "b"} <= letters
    graded = graded and not _CHOICES.search(plain_heading(heading))
    if not (signed or american or graded or _GRADES.search(plain_heading(heading))):
        return None
    signs = {"": 0.0, "+": 0.3}
    return {
        label: -float("abcdef".index(match[1])) + signs.get(match[2], -0.3)
        for label, match in grades.items()
        if match
    }


def _places_of_scale(scale: str) -> dict[str, float]:
    """Return the place of each word of a scale."""
    steps = enumerate(scale.split(", "))
    return {plain_heading(word): float(at) for at, words in steps for word in words.split("|")}


_STEPS = tuple(map(_places_of_scale, _SCALES))
_STEPS_BEFORE_NOUN = tuple(map(_places_of_scale, _BEFORE_NOUN))
_UNSURE = frozenset(fold(word) for word in _NO_OPINION.split("|"))
