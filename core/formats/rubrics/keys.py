"""Keys of a rubric file: ours, aliases of other tools, and near misses.

A near miss of a known key is refused, because its author meant that key. An unknown key is kept in
``meta``, with a notice (docs/decisions/0002).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.domain.base import Path, hint_for, nouns_of, types_in
from core.domain.rubric import MET, UNMET, Criterion, Option, Rubric
from core.errors import Problem
from core.formats.source.heading_words import plain_heading
from core.formats.source.parsed import Document, kind_of
from core.formats.source.yaml_reader import WORDS
from core.text.names import fold

RUBRIC_KEYS = frozenset(Rubric.model_fields) - {"criteria"}
BODY_KEYS = ("rubric", "sections", "criteria")
SECTION_KEYS = frozenset({"name", "criteria"})
CRITERION_KEYS = frozenset(Criterion.model_fields) | {"scale_type"}
#: The most keys of a mapping, except in meta.
MAX_KEYS = 300
OPTION_KEYS = frozenset(Option.model_fields)
#: Keys under which other tools store a criterion's requirement.
ASKING = (
    *("requirement", "description", "criteria", "criterion", "question", "definition"),
    *("guideline", "guidelines", "guidance", "instruction", "instructions", "statement", "text"),
)

#: Our keys in other languages (German, Spanish, French, Italian, Dutch, Portuguese), and the keys
#: of scored levels. At the top level only the first line applies.
_HEADS = (
    "name: título, titel, titre, titolo, naam, nombre, nom, nome; criteria: criterios, kriterien"
    ", critères, criteri, critérios, metrics, dimensions, aspects, dimensionen, dimensiones"
    ", dimensioni; sections: secciones, abschnitte, sezioni, secties, seções"
    "; description: descripción, beschreibung, descrizione, beschrijving, descrição"
)
_PARTS = (
    f"{_HEADS}; requirement: requisito, pregunta, frage, anforderung, exigence, requisito, domanda"
    ", vraag, vereiste, pergunta; weight: peso, gewicht, gewichtung, poids, pondération"
    ", ponderación, ponderação; section: sección, abschnitt, sezione, sectie, seção"
    "; levels: niveles, stufen, niveaus, niveaux, livelli, níveis; scale: escala, skala, échelle"
    ", scala, schaal; options: opciones, optionen, opzioni, opties, opções; label: etiqueta"
    ", bezeichnung, libellé, étiquette, etichetta, omschrijving, rótulo; points: puntos, punkte"
    ", punti, punten, pontos; value: valor, wert, valeur, valore, waarde; level: nivel, stufe"
    ", niveau, livello, nível; anchors: anclas, anker, ancres, ankers, âncoras; definition"
    ": definición, definition, définition, definizione, definitie, definição; text: texto, texte"
    ", testo, tekst; type: tipo, typ; min: mínimo, minimo; max: máximo, massimo"
    "; direction: dirección, richtung, sens, direzione, richting, direção"
    "; lower_is_better: niedriger_ist_besser, menor_es_mejor, plus_bas_est_mieux"
    ", più_basso_è_meglio, lager_is_beter, menor_é_melhor; higher_is_better: höher_ist_besser"
    ", mayor_es_mejor, plus_haut_est_mieux, più_alto_è_meglio, hoger_is_beter, maior_é_melhor"
)


def _read_translations(listed: str) -> dict[str, str]:
    entries = (entry.split(": ") for entry in listed.split("; "))
    return {plain_heading(w): key for key, words in entries for w in (key, *words.split(", "))}


_OF_HEADS, _OF_PARTS = _read_translations(_HEADS), _read_translations(_PARTS)


def in_english(document: Document) -> tuple[Document, list[Problem]]:
    """Return a rubric with its keys in English, and a notice of those that were translated.

    Documents without criteria are unchanged. A key stays if its translation is there, too.
    """
    value, used = document.value, dict[str, str]()
    heads = (
        {_english_key(key, value, _OF_HEADS) for key in value} if isinstance(value, dict) else set()
    )
    if not {"criteria", "sections"} & heads:
        return document, []
    translated = _translated_value(value, _OF_HEADS, used)
    if not any(plain_heading(theirs) != ours for theirs, ours in used.items()):
        return document, []
    listed = ", ".join(f"{theirs!r} as {ours}" for theirs, ours in used.items())
    notice = Problem(f"Its keys are read in English: {listed}.")
    return replace(
        document,
        value=translated,
        line_of=lambda path: document.line_of(_source_path(value, path)),
    ), [notice]


def _translated_value(value: Any, words: Mapping[str, str], used: dict[str, str]) -> Any:
    """Return a mapping, or the mappings in a list, with keys in English."""
    if isinstance(value, list):
        return [_translated_value(part, _OF_PARTS, used) for part in value]
    if not isinstance(value, dict):
        return value
    names = {key: _english_key(key, value, words) for key in value}
    used |= {key: name for key, name in names.items() if name != key}
    return {names[key]: _translated_part(names[key], part, used) for key, part in value.items()}


def _translated_part(name: str, part: Any, used: dict[str, str]) -> Any:
    """Return a list, or criteria by name, with keys in English; other values unchanged."""
    if name == "criteria" and isinstance(part, dict):
        return {key: _translated_value(entry, _OF_PARTS, used) for key, entry in part.items()}
    return _translated_value(part, _OF_PARTS, used) if isinstance(part, list) else part


def _english_key(key: str, keys: Mapping[str, Any], words: Mapping[str, str]) -> str:
    name = words.get(plain_heading(key), key)
    return key if name in keys else name


def _source_path(value: Any, path: Path) -> Path:
    """Return the path in the document of a path in its translation."""
    steps = list[str | int]()
    for step in path:
        if isinstance(value, dict) and step not in value:
            step = next((k for k in value if _OF_PARTS.get(plain_heading(k)) == step), step)
        steps.append(step)
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            value = None
    return tuple(steps)


#: The message about a note that exists both in its place and under meta.
TWICE, KEEP_ONE = "is given twice, once under meta.", "Keep one of the two."

_KINDS = {
    field.alias or name: types_in(field.annotation)
    for noun in nouns_of(Rubric)
    for name, field in noun.model_fields.items()
}
#: Keys that take a number. They refuse booleans, although Python counts those as numbers.
NUMERIC = frozenset(key for key, kinds in _KINDS.items() if kinds & {int, float})
#: Keys that take a number or the label of an option.
THRESHOLDS = frozenset(key for key in NUMERIC if str in _KINDS[key])


def sort_keys(
    given: dict[str, Any], names: frozenset[str], path: Path, what: str
) -> tuple[dict[str, Any], dict[str, Any], list[Problem]]:
    """Split ``given`` into (known, foreign, problems); near misses are problems.

    >>> known, foreign, wrong = sort_keys({"weigth": 1, "colour": 2}, CRITERION_KEYS, (), "it")
    >>> foreign, wrong[0].mend
    ({'colour': 2}, "Did you mean 'weight'? If it is a note of your own, put it under meta.")
    """
    mine, foreign, problems = dict[str, Any](), dict[str, Any](), list[Problem]()
    if len(given) > MAX_KEYS:
        message = f"has {len(given):,} keys; {MAX_KEYS:,} is the limit."
        problems.append(Problem(message, "Put notes under meta.", path))
        return {key: given[key] for key in names & given.keys()}, {}, problems
    for key, value in given.items():
        guess = hint_for(key, set(names))
        if key in names:
            mine[key] = value
        elif guess:
            mend = f"{guess} If it is a note of your own, put it under meta."
            problems.append(Problem(f"is not a known key of {what}.", mend, (*path, key)))
        else:
            foreign[key] = value
    return mine, foreign, problems


def kept_key(key: str, path: Path) -> Problem:
    """Return the notice of an unknown key that was kept."""
    return Problem("is not a known key; kept under meta, not used.", "", (*path, key))


def join_notes(
    meta: dict[str, Any], part: str, name: str, notes: dict[str, Any], path: Path
) -> list[Problem]:
    """Add ``notes`` of a part without its own meta to the entries about it in ``meta``.

    An entry that would replace another is a problem.

    >>> meta = {"options": {"good": {"seen": 3}}}
    >>> join_notes(meta, "options", "good", {"colour": "red"}, ())
    []
    >>> meta["options"]
    {'good': {'colour': 'red', 'seen': 3}}
    """
    if not notes:
        return []
    notes_there = meta.get(part, {})
    entry = notes_there.get(name, {}) if isinstance(notes_there, dict) else None
    if not isinstance(entry, dict):
        return [Problem(TWICE, KEEP_ONE, (*path, key)) for key in notes]
    meta[part] = {**notes_there, name: {**notes, **entry}}
    return [Problem(TWICE, KEEP_ONE, (*path, key)) for key in notes if key in entry]


def numbers_as_text(value: Any, path: Path, problems: list[Problem], key: str = "") -> Any:
    """Return ``value`` with numbers as text in text fields.

    A boolean instead of a number is a problem. ``key`` is the key of the value, or of its enclosing
    list. Nothing below ``meta`` changes.
    """
    if isinstance(value, dict):
        return {
            k: v if k == "meta" else numbers_as_text(v, (*path, k), problems, k)
            for k, v in value.items()
        }
    if isinstance(value, list):
        return [numbers_as_text(part, (*path, i), problems, key) for i, part in enumerate(value)]
    if isinstance(value, bool):
        if key in NUMERIC:
            problems.append(Problem(f"is {str(value).lower()}.", "Use a number.", path))
        return value
    if isinstance(value, int | float):
        # A threshold outside of [0, 1] can only be a label: `below: 3` on a scale of 1 to 5.
        beyond = key in THRESHOLDS and not 0 <= value <= 1
        return str(value) if key in WORDS or beyond else value
    return value


#: The most options; no judge chooses well among more.
MAX_OPTIONS = 1000


@dataclass
class Shaped:
    """A criterion's data and problems; ``renamed`` maps its keys to the source."""

    data: dict[str, Any] = field(default_factory=dict)
    renamed: dict[str, Path] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notices: list[Problem] = field(default_factory=list)


def shape_criterion(given: dict[str, Any], path: Path, section: str | None) -> Shaped:
    """Return ``given`` in our keys, with scale, options and unknown keys processed.

    Unknown keys go to meta. ``section`` is the enclosing section, unless the criterion names one.
    Null counts as missing.
    """
    own, foreign, problems = sort_keys(given, CRITERION_KEYS, path, "a criterion")
    shaped = Shaped(problems=problems)
    data = {key: value for key, value in own.items() if value is not None}
    data = numbers_as_text(data, path, problems)
    shaped.data = data
    if isinstance(data.get("name"), str) and not data["name"].strip():
        del data["name"]
    if section is not None:
        data.setdefault("section", section)
    if isinstance(data.get("tags"), str):
        data["tags"] = [data["tags"]]
    _settle_scale(shaped, path)
    if "options" in data:
        _clean_options(shaped, path)
    asking = next((key for key in ASKING if foreign.get(key)), None)
    if "requirement" not in data and asking and isinstance(foreign[asking], str):
        data["requirement"] = foreign.pop(asking)
        shaped.renamed["requirement"] = (*path, asking)
    if "options" in data and "name" in data and "requirement" not in data:
        data["requirement"] = data["name"]
        message = "has options but no requirement; its name is what is asked."
        shaped.notices.append(Problem(message, "", path))
    if "scale" not in own and isinstance(data.get("requirement"), str):
        _put_back_anchors(shaped, path)
    _keep_foreign(shaped, foreign, path)
    return shaped


def _settle_scale(shaped: Shaped, path: Path) -> None:
    """Set the scale from our `scale` or the `scale_type` of another tool.

    Without either it is binary if there are no options or they are MET and UNMET, otherwise
    ordinal. The other tool writes scale_type "ordinal" even on criteria without options; there it
    is ignored, but our own key is not.
    """
    data = shaped.data
    peer = data.pop("scale_type", None)
    if peer is not None and "scale" not in data:
        shaped.renamed["scale"] = (*path, "scale_type")
        data["scale"] = peer if "options" in data else "binary"
    elif peer is not None and peer != data["scale"]:
        message = f"is {peer!r}, but scale is {data['scale']!r}."
        shaped.problems.append(Problem(message, "Keep scale only.", (*path, "scale_type")))
    elif "options" not in data and data.get("scale") in ("ordinal", "nominal"):
        message = f"is {data['scale']}, but there are no options."
        mend = "List its options, or set scale: binary."
        shaped.problems.append(Problem(message, mend, (*path, "scale")))
    if "options" in data:
        data.setdefault("scale", "binary" if _is_binary(data["options"]) else "ordinal")


def _is_binary(options: object) -> bool:
    """Return whether these are MET (1) and UNMET (0), with or without an abstention."""
    if not isinstance(options, list) or not all(isinstance(option, dict) for option in options):
        return False
    pairs = [
        (fold(str(option.get("label"))), option.get("value"))
        for option in options
        if not _is_na(option)
    ]
    # `true` equals 1, but is not a valid option value.
    numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for _, v in pairs)
    return numbers and len(pairs) == 2 and dict(pairs) == {fold(MET): 1, fold(UNMET): 0}


def _is_na(option: dict[str, Any]) -> bool:
    return str(option.get("na")).lower() in ("true", "yes", "on")


def _clean_options(shaped: Shaped, path: Path) -> None:
    options, options_path = shaped.data["options"], (*path, "options")
    cleaned: list[Any] = []
    if not isinstance(options, list):
        shaped.problems.append(
            Problem(f"is {kind_of(options)}.", "Use a list of options.", options_path)
        )
        shaped.data["options"] = []
        return
    if len(options) > MAX_OPTIONS:
        message = f"lists {len(options):,} options; {MAX_OPTIONS:,} is the limit."
        shaped.problems.append(Problem(message, "Leave some out.", options_path))
        options = []
    for index, option in enumerate(options):
        if isinstance(option, dict):
            cleaned.append(_clean_option(option, (*options_path, index), shaped))
        else:
            mend = "Write a mapping with label and value."
            message = f"is {kind_of(option)}, not an option."
            shaped.problems.append(Problem(message, mend, (*options_path, index)))
    shaped.data["options"] = cleaned


def _clean_option(option: dict[str, Any], path: Path, shaped: Shaped) -> dict[str, Any]:
    data, foreign, problems = sort_keys(option, OPTION_KEYS, path, "an option")
    shaped.problems += problems
    cleaned = {key: value for key, value in data.items() if value is not None}
    if _is_na(cleaned):
        # The other tool requires a value here, which never counts.
        cleaned["na"] = True
        cleaned.pop("value", None)
    if foreign:
        # An option has no meta, so its notes go to the criterion's.
        notes = shaped.data.setdefault("meta", {})
        if isinstance(notes, dict):
            notes = shaped.data["meta"] = dict(notes)
            label = str(cleaned.get("label", ""))
            shaped.problems += join_notes(notes, "options", label, foreign, path)
        shaped.notices += [kept_key(key, path) for key in foreign]
    return cleaned


def _put_back_anchors(shaped: Shaped, path: Path) -> None:
    """Give options the descriptions that autorubric files have below the requirement.

    Each of the last lines there is an option's label, a colon and its description.
    """
    data = shaped.data
    options = [
        dict(o)
        for o in data.get("options")
        or [{"label": MET, "value": 1.0}, {"label": UNMET, "value": 0.0}]
    ]
    labels = {f"{option.get('label')}: ": option for option in options}
    if len(labels) < len(options) or any(option.get("description") for option in options):
        return
    lines = data["requirement"].split("\n")
    while len(lines) > 1:
        head = next((head for head in labels if lines[-1].startswith(head)), None)
        if head is None or not lines[-1][len(head) :].strip():
            break
        labels.pop(head)["description"] = lines.pop()[len(head) :]
    if any("description" in option for option in options):
        data |= {"requirement": "\n".join(lines), "options": options}
        message = "has descriptions of its options below the requirement; each is put in its place."
        shaped.notices.append(Problem(message, "", path))


def _keep_foreign(shaped: Shaped, foreign: dict[str, Any], path: Path) -> None:
    meta = shaped.data.get("meta", {})
    if not foreign or not isinstance(meta, dict):
        return
    for key in foreign:
        if key in meta:
            shaped.problems.append(Problem(TWICE, KEEP_ONE, (*path, key)))
        shaped.notices.append(kept_key(key, path))
    shaped.data["meta"] = {**foreign, **meta}
