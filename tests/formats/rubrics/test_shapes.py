"""Rubrics in: every shape, both names of the scale, sections, foreign keys."""

from __future__ import annotations

import json

import pytest

from core.domain.rubric import BINARY, Criterion, Rubric
from core.errors import InputError
from core.formats.rubrics.rubric_file import parse_rubric

TWO = """
- {name: cites, weight: 8, requirement: Cites a source}
- {name: invents, weight: -6, requirement: Invents a number}
"""


def indented(text: str, by: int) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.strip().split("\n"))


def read(text: str, name: str = "essay.yaml") -> Rubric:
    return parse_rubric(text, name).value


def only(text: str) -> Criterion:
    [criterion] = read(text).criteria
    return criterion


@pytest.mark.parametrize(
    "text",
    [
        TWO,
        "criteria:\n" + indented(TWO, 2),
        "rubric:\n" + indented(TWO, 2),
        "rubric:\n  criteria:\n" + indented(TWO, 4),
    ],
)
def test_a_bare_list_a_mapping_and_a_wrapped_one_mean_the_same(text: str) -> None:
    rubric = read(text)
    assert [(c.name, c.weight, c.section) for c in rubric.criteria] == [
        ("cites", 8.0, None),
        ("invents", -6.0, None),
    ]
    assert rubric.name == "essay"


@pytest.mark.parametrize(
    "text",
    [
        "sections:\n- name: Style\n  criteria:\n" + indented(TWO, 4),
        "sections:\n  Style:\n" + indented(TWO, 4),
        "sections:\n  Style:\n    criteria:\n" + indented(TWO, 6),
        "- name: Style\n  criteria:\n" + indented(TWO, 4),
        "criteria:\n- name: Style\n  criteria:\n" + indented(TWO, 4),
        "rubric:\n  sections:\n  - name: Style\n    criteria:\n" + indented(TWO, 6),
    ],
)
def test_every_way_to_write_a_section_keeps_its_name(text: str) -> None:
    assert {c.section for c in read(text).criteria} == {"Style"}
    assert [c.name for c in read(text).criteria] == ["cites", "invents"]


def test_sections_and_plain_criteria_mix_and_nest() -> None:
    text = "- {name: a, requirement: A}\n- name: S\n  criteria:\n  - name: T\n    criteria: [B]\n"
    assert [c.section for c in read(text).criteria] == [None, "S / T"]


def test_a_criterion_s_own_section_wins_over_the_one_around_it() -> None:
    assert only("- {name: S, criteria: [{requirement: B, section: T}]}").section == "T"


def test_json_reads_like_yaml() -> None:
    text = '{"criteria": [{"name": 1, "requirement": "x", "options": ['
    text += '{"label": 1, "value": 0}, {"label": 2.5, "value": 1}]}]}'
    rubric = parse_rubric(text, "r.json").value
    assert rubric.criteria[0].name == "1"
    assert [o.label for o in rubric.criteria[0].options] == ["1", "2.5"]
    assert parse_rubric(text, "pasted").value.criteria == rubric.criteria


@pytest.mark.parametrize("outer", [True, False])
def test_guidelines_stand_beside_or_inside_the_rubric(outer: bool) -> None:
    inside = "" if outer else "  guidelines: Be kind.\n"
    beside = "guidelines: Be kind.\n" if outer else ""
    text = f"rubric:\n{inside}  criteria: [A]\n{beside}"
    assert read(text).guidelines == "Be kind."


def test_rubric_wins_over_sections_and_sections_over_criteria_and_what_loses_is_said() -> None:
    parsed = parse_rubric("criteria: [A]\nsections: {S: [B]}\nrubric: [C]\n", "r.yaml")
    assert [c.requirement for c in parsed.value.criteria] == ["C"]
    said = [(n.line, n.path, n.message) for n in parsed.notices if "left out" in n.message]
    assert said == [
        (1, ("criteria",), "is left out, because `rubric` is given, too."),
        (2, ("sections",), "is left out, because `rubric` is given, too."),
    ]
    parsed = parse_rubric("criteria: [A]\nsections: {S: [B]}\n", "r.yaml")
    assert [c.requirement for c in parsed.value.criteria] == ["B"]


OPTIONS = "options: [{label: Low, value: 0}, {label: High, value: 1}]"


@pytest.mark.parametrize(
    ("keys", "scale"),
    [
        ("weight: 1", "binary"),
        ("scale_type: ordinal", "binary"),  # the peer stores this on every binary criterion
        ("scale_type: nominal", "binary"),
        ("scale: binary", "binary"),
        (OPTIONS, "ordinal"),  # the peer's default
        (f"scale_type: nominal, {OPTIONS}", "nominal"),
        (f"scale: nominal, {OPTIONS}", "nominal"),
        (f"scale: nominal, scale_type: nominal, {OPTIONS}", "nominal"),
    ],
)
def test_the_scale_follows_from_options_and_either_name(keys: str, scale: str) -> None:
    criterion = only(f"- {{requirement: A, {keys}}}")
    assert criterion.scale == scale
    assert (criterion.options == BINARY) == (scale == "binary")


TWO_OPTIONS = "options: [{{label: {0}, value: {1}}}, {{label: {2}, value: {3}}}{4}]"
WAY_OUT = ", {label: Not shown, na: true}"


@pytest.mark.parametrize(
    ("given", "scale"),
    [
        (("MET", 1, "UNMET", 0, ""), "binary"),
        (("MET", "1.0", "UNMET", "0.0", WAY_OUT), "binary"),
        (("Unmet", 0, "met", 1, ""), "binary"),  # labels are folded, in either order
        (("MET", 0.5, "UNMET", 0, ""), "ordinal"),  # half a point is a level
        (("UNMET", 0, "PARTLY", 1, ""), "ordinal"),
        (("MET", 1, "UNMET", 0, ", {label: HALF, value: 0.5}"), None),  # levels must be in order
        (("MET", "true", "UNMET", "false", ""), None),  # a truth value is no number
    ],
)
def test_options_met_and_unmet_are_binary_where_no_scale_is_named(
    given: tuple[object, ...], scale: str | None
) -> None:
    text = f"- {{requirement: Short., {TWO_OPTIONS.format(*given)}}}"
    if scale is None:
        with pytest.raises(InputError):
            read(text)
    else:
        assert only(text).scale == scale


def test_a_named_scale_is_kept_where_options_look_binary() -> None:
    options = TWO_OPTIONS.format("MET", 1, "UNMET", 0, "")
    for named in ("scale: ordinal", "scale_type: ordinal", "scale: nominal"):
        assert only(f"- {{requirement: Short., {named}, {options}}}").scale == named.split()[1]
    # A rule for levels does not fit what is read as binary; the message says which do.
    with pytest.raises(InputError) as refused:
        read(f"- {{requirement: Short., aggregation: mean, {options}}}")
    assert "binary" in str(refused.value.problems)


def test_an_na_option_needs_no_value_and_one_that_is_given_is_dropped() -> None:
    for value in ("", ", value: 0", ", value: null", ", value: 0.7"):
        text = "- {requirement: A, options: [{label: 1, value: 0}, {label: 2, value: 1}, "
        criterion = only(text + f"{{label: NA, na: true{value}}}]}}")
        assert criterion.options[2].value is None
        assert criterion.na_index == 2


def test_the_peer_s_nulls_count_as_not_given() -> None:
    keys = "name: null, weight: null, options: null, aggregation: null, scale_type: ordinal"
    criterion = only(f"- {{requirement: A, {keys}}}")
    assert (criterion.weight, criterion.scale, criterion.name) == (10.0, "binary", "A")


def test_a_missing_name_is_made_from_the_requirement_and_is_unique() -> None:
    parsed = parse_rubric(
        "- Cites a source for each of the figures it gives.\n"
        "- {name: is polite, requirement: Q}\n"
        "- Is polite.\n"
        "- Is polite!\n",
        "r.yaml",
    )
    # Whole words up to 32 characters: "figures" would make it 38.
    assert [c.name for c in parsed.value.criteria] == [
        "Cites a source for each of the",
        "is polite",
        "Is polite 2",
        "Is polite 3",
    ]
    assert [n.line for n in parsed.notices] == [1, 3, 4]


def test_foreign_keys_are_kept_in_meta_with_a_notice_and_its_line() -> None:
    text = """\
votes_only: true
criteria:
- name: a
  requirement: A
  source_column: Q1
  meta: {mine: 1}
  options:
  - {label: x, value: 0, colour: red}
  - {label: y, value: 1}
"""
    parsed = parse_rubric(text, "r.yaml")
    assert parsed.value.meta == {"votes_only": True}
    assert parsed.value.criteria[0].meta == {
        "source_column": "Q1",
        "mine": 1,
        "options": {"x": {"colour": "red"}},
    }
    assert [(n.line, n.path[-1]) for n in parsed.notices] == [
        (1, "votes_only"),
        (5, "source_column"),
        (8, "colour"),
    ]


def test_foreign_keys_of_a_section_are_kept_by_its_name() -> None:
    parsed = parse_rubric("sections: [{name: S, owner: Ada, criteria: [A]}]", "r.yaml")
    assert parsed.value.meta == {"sections": {"S": {"owner": "Ada"}}}


def test_a_threshold_beyond_one_is_a_label() -> None:
    text = """\
criteria:
- name: depth
  requirement: How deep?
  options: [{label: 1, value: 0}, {label: 2, value: 0.5}, {label: 3, value: 1}]
gates:
- {name: shallow, when: {criterion: depth, below: 2}, then: {cap: 0.5}}
- {name: half, when: {criterion: depth, below: 0.5}, then: {cap: 0.5}}
- {name: in, when: {criterion: depth, in: [1, 2]}, then: {flag: 7}}
"""
    gates = read(text).gates
    assert [gate.when.below for gate in gates] == ["2", 0.5, None]
    assert gates[2].when.in_ == ("1", "2")
    assert gates[2].then.flag == "7"


def test_a_single_tag_may_stand_alone() -> None:
    assert only("- {requirement: A, tags: safety}").tags == ("safety",)


def test_the_name_in_the_file_wins_over_the_file_s_name() -> None:
    assert read("name: Mine\ncriteria: [A]\n").name == "Mine"
    assert read("criteria: [A]\n", "folder/.yaml").name == "Untitled rubric"


def test_json_in_a_file_called_yaml_is_json_with_its_characters_in_two_escapes() -> None:
    # json.dumps writes an emoji as two escapes, which YAML does not know.
    text = json.dumps({"criteria": [{"name": "cheer \U0001f600", "requirement": "R"}]})
    assert "\\ud83d" in text
    assert parse_rubric(text, "rubric.yaml").value.criteria[0].name == "cheer \U0001f600"
    # What only begins like JSON is still YAML.
    flow = '{"criteria": [{name: "a", requirement: R}]}'
    assert parse_rubric(flow, "rubric.yaml").value.criteria[0].name == "a"


def test_notes_of_every_section_are_kept_whatever_the_sections_are_called() -> None:
    text = """
    - {owner: Ada, criteria: [{name: a, requirement: A}]}
    - {owner: Ben, criteria: [{name: b, requirement: B}]}
    - {name: Style, owner: Cem, criteria: [{name: c, requirement: C}]}
    - {name: Style, owner: Dan, due: May, criteria: [{name: d, requirement: D}]}
    """
    # A section without a name goes by its place; the second of a name is numbered.
    assert read(text).meta["sections"] == {
        "": {"owner": "Ada"},
        "2": {"owner": "Ben"},
        "Style": {"owner": "Cem"},
        "Style 2": {"owner": "Dan", "due": "May"},
    }


def test_notes_of_a_section_join_those_that_the_rubric_keeps_of_it() -> None:
    text = """
    meta: {sections: {Style: {since: 2019}, Old: {since: 1999}}}
    sections:
      - {name: Style, owner: Ben, criteria: [{name: b, requirement: B}]}
    """
    assert read(text).meta["sections"] == {
        "Style": {"since": 2019, "owner": "Ben"},
        "Old": {"since": 1999},
    }


def test_notes_that_would_replace_what_stands_under_meta_are_refused_with_their_line() -> None:
    sections = "meta: {sections: mine}\nsections:\n- {owner: A, criteria: [{requirement: A}]}"
    options = (
        "- name: a\n  requirement: A\n  meta: {options: mine}\n"
        "  options: [{label: x, value: 0, colour: red}, {label: y, value: 1}]"
    )
    twice = sections.replace("mine", "{'': {owner: B}}")
    for text, line in ((sections, 3), (twice, 3), (options, 4)):
        with pytest.raises(InputError) as caught:
            read(text)
        (problem,) = caught.value.problems
        assert (problem.line, problem.message) == (line, "is given twice, once under meta.")


def test_notes_of_an_option_join_those_that_the_criterion_keeps_of_it() -> None:
    criterion = only(
        """
        - name: a
          requirement: A
          meta: {options: {x: {seen: 3}}}
          options: [{label: x, value: 0, colour: red}, {label: y, value: 1}]
        """
    )
    assert criterion.meta["options"] == {"x": {"seen": 3, "colour": "red"}}
