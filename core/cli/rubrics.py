"""Commands about rubric files: lint, convert, schema."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from core.cli import common
from core.cli.common import db_option, no_bom, open_to_read, write_files

if TYPE_CHECKING:
    from core.domain.rubric import Rubric
    from core.errors import Problem
    from core.formats.source.parsed import Parsed
    from core.lint.rules import LintFinding
    from core.services.rubrics.import_export import RubricExport


@click.command()
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path)
)
@click.option(
    "--fail-on",
    type=click.Choice(["error", "serious", "remark"]),
    default="error",
    show_default=True,
    help="From what on the status is not 0: files that are not valid, serious findings, or any.",
)
@click.option("--json", "as_json", is_flag=True, help="Findings as JSON on stdout.")
@click.option("--dismissed", is_flag=True, help="Also list what the rubric's author dismissed.")
def lint(files: tuple[Path, ...], fail_on: str, as_json: bool, dismissed: bool) -> None:
    """Check rubric files: wording, options, weights, gates.

    Every finding has its line, why it matters, the source, and a fix. Findings that the author
    dismissed (`meta: {checks_off: [RULE]}` of a criterion or of the rubric) are left out. FILE may
    be - for standard input. With several FILEs, or rubrics in a FILE, --json gives a list.

    Exit status: 0 nothing found that counts, 1 a finding or remark that counts, 2 not valid.
    """
    reports, worst = [], common.DONE
    for file in files:
        for status, report in _lint_results(file, fail_on, dismissed, as_json):
            reports.append(report)
            worst = max(worst, status)
    if as_json:
        common.print_json(reports[0] if len(reports) == 1 else reports)
    sys.exit(worst)


def _lint_results(
    file: Path, fail_on: str, dismissed: bool, as_json: bool
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each rubric's exit status and report; print the reports unless ``as_json``."""
    from core.errors import InputError

    try:
        rubrics = _read_rubrics(file)
    except InputError as error:
        common.print_error(str(error))
        yield common.WRONG_INPUT, {"file": str(file), "valid": False, **error.to_dict()}
        return
    for parsed in rubrics:
        yield _lint_file(file, parsed, fail_on, dismissed, as_json)


def _lint_file(
    file: Path, parsed: Parsed[Rubric], fail_on: str, dismissed: bool, as_json: bool
) -> tuple[int, dict[str, Any]]:
    from core.lint.check import check
    from core.lint.language import criteria_unchecked

    findings = [
        _finding_data(parsed, finding) for finding in check(parsed.value, with_dismissed=dismissed)
    ]
    findings.sort(key=lambda finding: finding["line"] or 0)
    not_read = criteria_unchecked(parsed.value)
    if not as_json:
        _print_findings(file, parsed, findings, not_read)
    serious = any(finding["severity"] == "serious" for finding in findings)
    counts = {
        "error": False,
        "serious": serious,
        "remark": bool(findings or parsed.notices),
    }[fail_on]
    report = _file_report(file, parsed, findings, not_read)
    return (common.NOT_ALL if counts else common.DONE), report


def _read_rubrics(file: Path) -> tuple[Parsed[Rubric], ...]:
    from core.formats.folder import read_rubric_files
    from core.formats.rubrics.forms import read_rubrics

    if file != Path("-"):
        return read_rubric_files(file)
    return read_rubrics(common.read_stdin(), "standard input")


def _finding_data(parsed: Parsed[Rubric], finding: LintFinding) -> dict[str, Any]:
    from core.lint.check import rule_of

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


def _file_report(
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


def _remark_without_quotes(problem: Problem) -> str:
    """Return a remark's message without quotations, to group similar ones."""
    return re.sub(r"'[^']*'", "", problem.message)


#: The number of findings per rule, and of remarks per kind, shown in full.
MOST_ALIKE = 5


def _print_findings(
    file: Path, parsed: Parsed[Rubric], findings: list[dict[str, Any]], unread: tuple[str, ...]
) -> None:
    from core.lint.language import unchecked_sentence

    serious = sum(finding["severity"] == "serious" for finding in findings)
    counted = f"{len(findings)} to fix, {serious} of them serious" if findings else "nothing to fix"
    common.print_text(f"{file}: valid, {_criteria_count(parsed.value)}, {counted}.")
    kinds = Counter(map(_remark_without_quotes, parsed.notices))
    shown = Counter[str]()
    for problem in parsed.notices:
        kind = _remark_without_quotes(problem)
        shown[kind] += 1
        if shown[kind] <= MOST_ALIKE:
            common.print_text(f"  - {problem}")
        if shown[kind] == MOST_ALIKE < kinds[kind]:
            common.print_text(
                f"  - and {kinds[kind] - MOST_ALIKE} more of this kind (--json has all)"
            )
    if unread:
        common.print_text(f"  {unchecked_sentence(unread)}")
    counted_by = Counter[str]()
    for entry in findings:
        counted_by[entry["rule"]] += 1
        if counted_by[entry["rule"]] > MOST_ALIKE:
            continue
        line = f":{entry['line']}" if entry["line"] else ""
        common.print_text(
            f"\n{file}{line}: {entry['severity']}: {_subject_of_entry(entry)}: {entry['message']} "
            f"[{entry['rule']}]"
        )
        common.print_text(f"    why:  {entry['why']} ({entry['source']})")
        common.print_text(f"    mend: {entry['mend']}")
        if counted_by[entry["rule"]] == MOST_ALIKE:
            same_rule = [
                _subject_of_entry(other) for other in findings if other["rule"] == entry["rule"]
            ]
            if unnamed := same_rule[MOST_ALIKE:]:
                named = ", ".join(unnamed[:MOST_ALIKE])
                named += ", …" if len(unnamed) > MOST_ALIKE else ""
                common.print_text(
                    f"    and {len(unnamed)} more of this kind: {named} (--json has all)"
                )


def _subject_of_entry(entry: Mapping[str, Any]) -> str:
    gate = f"gate {entry['gate']}" if entry["gate"] else "the whole rubric"
    return str(entry["criterion"] or gate)


def _criteria_count(rubric: Rubric) -> str:
    count = len(rubric.criteria)
    return "1 criterion" if count == 1 else f"{count} criteria"


#: Same as ``core.services.rubrics.import_export.SHARE_FORMS``.
FORMS = ("yaml", "json", "autorubric", "csv", "canvas", "moodle", "sheet")
_out = click.Path(path_type=Path, allow_dash=True)

_CONVERT = """Write a rubric in another form.

RUBRIC is a file in any of these forms or another tool's (docs/formats.md), - for standard
input, or the number of a rubric in the data file.

\b
yaml, json   everything
autorubric   JSON with its keys
csv          one level per row, for a spreadsheet
canvas       as Canvas imports rubrics
moodle       as Moodle's plugin for importing rubrics reads it
sheet        one HTML page to print

What a form cannot hold is said on stderr.
"""


@click.command(help=_CONVERT)
@click.argument("rubric")
@click.option("--to", "form", type=click.Choice(FORMS), required=True, help="See below.")
@click.option("--out", type=_out, help="File to write, or a folder (default: stdout).")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@no_bom
@click.option(
    "--points",
    "scaling",
    type=click.Choice(["ratio", "range"]),
    default="ratio",
    show_default=True,
    help="How points of RUBRIC become values: of the most, or counted from the least.",
)
@db_option
def convert(
    rubric: str, form: Any, out: Path | None, force: bool, scaling: Any, db: Path | None, mark: bool
) -> None:
    """Write a rubric in another format."""
    from core.services.rubrics import import_export

    with common.plain_errors():
        data = common.read_stdin() if rubric == "-" else None
        read_rubrics = import_export.rubrics_at(open_to_read(db), rubric, scaling, data)
        files: dict[Path, RubricExport] = {}
        for parsed in read_rubrics:
            shared = import_export.export_rubric(parsed.value, form)
            for notice in parsed.notices:
                common.print_message(f"note: {notice}")
            for loss in shared.losses:
                common.print_message(f"Note: {loss}")
            target = out or Path("-")
            path = (
                target / shared.file_name
                if _writes_to_folder(target, len(read_rubrics))
                else target
            )
            files[path] = shared
        if len(files) < len(read_rubrics):
            same_name = len({each.value.name for each in read_rubrics}) == 1
            advice = "give them names of their own" if same_name else "name a folder with --out"
            common.print_message(
                f"rubric-studio: {rubric} holds {len(read_rubrics)} rubrics; {advice}."
            )
            sys.exit(common.WRONG_INPUT)
        if Path("-") in files:
            common.print_file(files[Path("-")].text)
        else:
            write_files({path: shared.data(mark=mark) for path, shared in files.items()}, force)


def _writes_to_folder(target: Path, rubrics: int) -> bool:
    """Return whether to write files into ``target``: a folder, or a new name without an extension
    for several rubrics.
    """
    is_new = rubrics > 1 and target != Path("-") and not target.suffix and not target.exists()
    return is_new or target.is_dir()


@click.command()
@click.option("--out", type=_out, help="File to write (default: stdout).")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def schema(out: Path | None, force: bool) -> None:
    """Print the JSON Schema of rubric files, for editors."""
    from core.formats.rubrics.rubric_file import schema_text

    with common.plain_errors():
        if out is None or out == Path("-"):
            common.print_file(schema_text())
        else:
            write_files({out: schema_text().encode()}, force)
