"""`rubric-studio lint`: is it a rubric, and is it a good one?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import output

if TYPE_CHECKING:
    from core.domain.rubric import Rubric
    from core.files.parsed import Parsed
    from core.services.checking.finding import Finding


@click.command()
@click.argument("rubric", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Findings as JSON on stdout.")
@click.option("--dismissed", is_flag=True, help="Also list what the rubric's author dismissed.")
def lint(rubric: Path, as_json: bool, dismissed: bool) -> None:
    """Validate a rubric file and check its wording, options, weights and gates.

    Every finding has its line, why it matters, the source, and a mend. Findings that the author
    dismissed (`meta: {checks_off: [RULE]}` of a criterion or of the rubric) are left out.

    Exit status: 0 valid and nothing found, 1 valid with remarks or findings, 2 not valid.
    """
    from core.errors import InputError
    from core.files.folder import read_rubric_file
    from core.services.checking.checker import check
    from core.services.checking.tongue import unread

    try:
        parsed = read_rubric_file(rubric)
    except InputError as error:
        if as_json:
            output.result({"file": str(rubric), "valid": False, **error.to_dict()})
        output.say(str(error))
        sys.exit(output.WRONG_INPUT)
    findings = [_plain(parsed, one) for one in check(parsed.value, with_dismissed=dismissed)]
    findings.sort(key=lambda one: one["line"] or 0)
    if as_json:
        output.result(_report(rubric, parsed, findings, unread(parsed.value)))
    else:
        _print(rubric, parsed, findings, unread(parsed.value))
    sys.exit(output.NOT_ALL if findings or parsed.notices else output.DONE)


def _plain(parsed: Parsed[Rubric], finding: Finding) -> dict[str, Any]:
    from core.services.checking.checker import rule_of

    rule, criteria, gates = rule_of(finding), parsed.value.criteria, parsed.value.gates
    return {
        "rule": finding.rule,
        "title": rule.title,
        "severity": rule.severity,
        "line": parsed.line_of(finding.path),
        "criterion": None if finding.criterion is None else criteria[finding.criterion].name,
        "gate": None if finding.gate is None else gates[finding.gate].name,
        "message": finding.sentence,
        "quote": finding.quote,
        "why": rule.why,
        "source": rule.source,
        "mend": finding.mend,
    }


def _report(
    file: Path, parsed: Parsed[Rubric], findings: list[dict[str, Any]], unread: tuple[str, ...]
) -> dict[str, Any]:
    return {
        "file": str(file),
        "valid": True,
        "name": parsed.value.name,
        "criteria": len(parsed.value.criteria),
        "remarks": [
            {"message": p.message, "mend": p.mend, "place": p.place, "line": p.line}
            for p in parsed.notices
        ],
        "findings": findings,
        "wording_not_read": list(unread),
    }


def _print(
    file: Path, parsed: Parsed[Rubric], findings: list[dict[str, Any]], unread: tuple[str, ...]
) -> None:
    from core.services.checking.tongue import unread_words

    serious = sum(one["severity"] == "serious" for one in findings)
    counted = (
        f"{len(findings)} to mend, {serious} of them serious" if findings else "nothing to mend"
    )
    click.echo(f"{file}: valid, {_criteria(parsed.value)}, {counted}.")
    for problem in parsed.notices:
        click.echo(f"  - {problem}")
    if unread:
        click.echo(f"  {unread_words(unread)}")
    for one in findings:
        line = f":{one['line']}" if one["line"] else ""
        subject = one["criterion"] or (f"gate {one['gate']}" if one["gate"] else "the whole rubric")
        click.echo(
            f"\n{file}{line}: {one['severity']}: {subject}: {one['message']} [{one['rule']}]"
        )
        click.echo(f"    why:  {one['why']} ({one['source']})")
        click.echo(f"    mend: {one['mend']}")


def _criteria(rubric: Rubric) -> str:
    count = len(rubric.criteria)
    return "1 criterion" if count == 1 else f"{count} criteria"
