"""`rubric-studio lint`: findings with file, line and criterion, and what its exit status says."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from core.cli import main
from tests.places import ROOT

BAD = """\
name: Answers
sections:
  - name: Form
    criteria:
      - name: Style
        requirement: The answer is clear and concise.
        weight: 5
      - name: Support
        weight: 5
        scale: ordinal
        requirement: How many of the claims does a source back?
        options:
          - {label: Poor, value: 0}
          - {label: Good, value: 1}
"""


def lint(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["lint", *map(str, arguments)])


def test_findings_name_their_line_and_criterion_also_inside_sections(tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(BAD)
    done = lint(file, "--json", "--fail-on", "serious")
    report = json.loads(done.output)
    told = [(f["line"], f["criterion"], f["rule"]) for f in report["findings"]]
    assert told == [(6, "Style", "double-barrelled"), (13, "Support", "adjective-levels")]
    assert all(f["why"] and f["source"] and f["mend"] for f in report["findings"])
    assert (done.exit_code, report["valid"]) == (1, True)
    text = lint(file).output
    assert "bad.yaml:6: serious: Style: Asks more than one thing" in text
    assert "2 to fix, 2 of them serious" in text


def test_what_the_author_dismissed_is_left_out_unless_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "kept.yaml"
    file.write_text(
        "- {name: A, requirement: Both clear and brief., meta: {checks_off: [double-barrelled]}}"
    )
    assert lint(file).exit_code == 0
    shown = lint(file, "--dismissed", "--fail-on", "remark")
    assert shown.exit_code == 1
    assert "double-barrelled" in shown.output


def test_the_samples_are_clean() -> None:
    for file in sorted((ROOT / "sample_rubrics").glob("*.yaml")):
        done = lint(file, "--fail-on", "remark")
        assert done.exit_code == 0, done.output
