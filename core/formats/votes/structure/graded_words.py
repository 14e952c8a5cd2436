"""Order words by a rule: a word, its opposite, what negates it, and how much of it is meant."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from core.formats.source.heading_words import plain_heading

#: How much of a word is meant, in several languages; the word alone is 2. Longer phrases first.
_DEGREES: dict[float, str] = {
    0.2: "little|not much|not very|not so|nicht sehr|pas tres|no muy|non molto|nao muito"
    "|niet erg|hardly|barely|kaum|wenig|peu|a peine|apenas|poco|pouco|weinig",
    0.5: "slightly|a little|a bit|marginally|leicht|un peu|legerement|ligeramente|leggermente"
    "|un po'|um pouco|ligeiramente|licht",
    1.0: "somewhat|rather|partly|partially|half|tend to|eher|etwas|teilweise|teils|plutot"
    "|partiellement|en partie|mas bien|algo|parcialmente|en parte|piuttosto|parzialmente|in parte"
    "|quase|em parte|eerder|enigszins|gedeeltelijk|deels|raczej|czesciowo|delvis|snarare",
    1.3: "moderately|fairly|quite|ziemlich|assez|bastante|abbastanza|nogal|tamelijk|dosc|ganska",
    1.6: "mostly|largely|mainly|generally|almost|uberwiegend|meist|en grande partie|mayormente"
    "|en gran parte|per lo piu|grotendeels|w wiekszosci",
    3.0: "very|highly|strongly|sehr|stark|tres|fortement|muy|molto|muito|zeer|heel|erg|bardzo"
    "|mycket|veldig|meget|very much|a lot|viel|beaucoup|mucho|mucha|molta|muita|veel|duzo",
    4.0: "extremely|completely|totally|fully|entirely|absolutely|perfectly|definitely|clearly"
    "|vollig|voll und ganz|voll|ganz|extrem|tout a fait|totalement|completamente|totalmente"
    "|del tutto|helemaal|volledig|całkowicie|zdecydowanie|helt",
    -4.0: "not at all|uberhaupt nicht|gar nicht|pas du tout|en absoluto|per niente|helemaal niet"
    "|wcale nie|inte alls|nada|nichts|rien|niente|niets|nulla|nothing|nic|ingenting",
    -2.0: "not|no|nicht|keine?|pas|non|nao|niet|geen|nie|inte|ikke",
}
_MEANT = {word: degree for degree, words in _DEGREES.items() for word in words.split("|")}
_PHRASES = re.compile(
    rf"(?<!\S)(?:{'|'.join(map(re.escape, sorted(_MEANT, key=len, reverse=True)))})(?!\S)"
)
#: Words and their opposites that do not begin with the word; bars separate forms.
_OPPOSITES = (
    "negative < positive, false|wrong < true|right, bad|poor < good, useless < useful"
    ", weak < strong, low < high, absent < present, worse < better, reject < accept"
    ", unsafe < safe, dissatisfied < satisfied, negativ < positiv, falsch|unwahr < wahr|richtig"
    ", schlecht < gut, schwach < stark, niedrig < hoch, negatif < positif, faux|fausse < vrai"
    ", mauvais < bon|bonne, faible < fort, negativo < positivo"
    ", falso < verdadero|vero|verdadeiro|cierto, malo|cattivo|scarso|mau|ruim < bueno|buono|bom|boa"
    ", basso|bajo|baixo < alto, negatief < positief, onwaar < waar, slecht < goed"
    ", negatywny < pozytywny, fałsz < prawda, zły < dobry, falskt < sant, dalig < bra"
    ", en desacuerdo < de acuerdo, oneens < eens, disagree < agree, incorrect < correct"
    ", irrelevant < relevant, unlikely < likely, unsupported < supported, unmet < met"
    ", unimportant < important, unfavorable|unfavourable < favorable|favourable"
    ", defavorable|desfavorable < favorable, sfavorevole < favorevole, desfavoravel < favoravel"
)
_NEUTRAL = re.compile(
    r"neutral\w*|neutr[eo]|neutraal|obojetny|mixed|borderline|undecided|neither.*|ni .+ ni .+"
    r"|weder noch|teils teils|indifferente?|indiferente|sans opinion"
    r"|reserve[es]*|mitigee?|con riserva|con reservas|vorbehaltlich"
)
_UN = re.compile(r"(?:un|in|im|ir|il|dis|non-?|on|nie)(?=\w{3})")


def bare_word(label: str) -> str:
    """Return a label as a plain heading, without the marks around it."""
    return plain_heading(label.strip(" .!'\""))


def graded_order(labels: Collection[str]) -> dict[str, float] | None:
    """Return the place of each label, if all are one word or its opposite, in degrees.

    Steps are even. Degrees of nothing else (*poco*, *mucho*) are of one word.

    >>> graded_order(["vrai", "plutôt faux", "faux", "plutôt vrai"])
    {'vrai': 3.0, 'plutôt faux': 1.0, 'faux': 0.0, 'plutôt vrai': 2.0}
    >>> graded_order(["clear", "not clear", "very clear"])
    {'clear': 1.0, 'not clear': 0.0, 'very clear': 2.0}
    >>> graded_order(["formal", "informal"]) is graded_order(["spam", "not spam"]) is None
    True
    """
    parted = {label: _word_and_degree(label) for label in labels}
    if len(labels) > 2 and all(bare_word(label) in _MEANT for label in labels):
        parted = {label: ("?", degree) for label, (_, degree) in parted.items()}
    bases = dict.fromkeys(base for base, _ in parted.values() if base)
    graded = any(degree not in (0.0, 2.0) for _, degree in parted.values())
    signs = _sides_of_words([*bases], graded=graded)
    if signs is None or (len(bases) == 1 and len(labels) < 3):
        return None  # spam, not spam: a kind and everything else, not degrees
    places = {label: signs.get(base, 1) * degree for label, (base, degree) in parted.items()}
    words, steps = {bare_word(label) for label in labels}, sorted({*places.values()})
    if not len(steps) == len(words) > 1:
        return None
    return {label: float(steps.index(place)) for label, place in places.items()}


def _word_and_degree(label: str) -> tuple[str, float]:
    """Return a label's word, without endings, and how much of it is meant; "" is neutral."""
    words = bare_word(label)
    if _NEUTRAL.fullmatch(words):
        return "", 0.0
    degrees = [_MEANT[phrase] for phrase in _PHRASES.findall(words)]
    base = " ".join(_PHRASES.sub(" ", words).split())
    above = [degree for degree in degrees if degree > 0]
    below = [degree for degree in degrees if degree < 0]
    degree = min(above, default=2.0)
    degree = (-degree if above else below[0]) if below else degree
    return (_stem(base) if base else words, degree)


def _stem(word: str) -> str:
    """Return a word without the endings by which languages tell genders and numbers."""
    return word.rstrip("aeos") or word


def _sides_of_words(bases: list[str], *, graded: bool) -> dict[str, int] | None:
    """Return the side of each word: one word, or two opposites."""
    if len(bases) == 1:
        return {bases[0]: 1}
    if len(bases) != 2:
        return None
    for low, high in (bases, bases[::-1]):
        if (low, high) in _opposite_pairs() or (
            graded and _UN.sub("", low, count=1) == high != low
        ):
            return {low: -1, high: 1}
    return None


@cache
def _opposite_pairs() -> frozenset[tuple[str, str]]:
    sides = (pair.split(" < ") for pair in _OPPOSITES.split(", "))
    return frozenset(
        (_stem(low), _stem(high))
        for lows, highs in sides
        for low in lows.split("|")
        for high in highs.split("|")
    )
