"""A planted fault is found and named; a clean run raises nothing. Power: bench/findings.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.domain.dataset import Item
from core.domain.panel import Judge
from core.domain.rubric import Criterion, Option, Rubric
from core.metrics.bias.effects import FALSE_ALARMS, Finding
from core.services.agreement.ratings import Traits, items_to_rate
from core.services.diagnostics.diagnosis import diagnose_evidence
from core.services.diagnostics.evidence import CriterionEvidence, RunEvidence
from core.services.diagnostics.judge_bias import leaning_chart
from tests.services.diagnostics.planted import Plant, made


def found(plant: Plant, n: int = 300, seed: int = 1) -> list[Finding]:
    return list(diagnose_evidence(made(seed, n, plant)).findings)


def the(findings: list[Finding], kind: str, subject: str) -> Finding:
    return next(f for f in findings if f.kind == kind and f.subject == subject)


def test_a_judge_drawn_to_the_first_place() -> None:
    finding = the(found(Plant(first=0.2)), "position", "ann")
    assert finding.low is not None
    assert finding.high is not None
    assert finding.low <= 0.2 <= finding.high  # the planted share
    assert "to the option shown first because of its place" in finding.sentence


def test_a_judge_that_rewards_length() -> None:
    finding = the(found(Plant(longer=0.35)), "verbosity", "ann")
    assert finding.estimate > 0
    assert finding.sentence.startswith("ann gives longer answers more: among those with the same")
    # A slope that was observed shows no cause, however sure it is: nothing is promised of it.
    assert "may be deserved" in finding.sentence
    assert "a correlation" in finding.sentence
    assert (finding.severity, finding.false_alarms) == ("slight", None)


def test_a_judge_that_gives_its_own_maker_s_answers_more_is_observed_and_not_accused() -> None:
    # Every other answer is by a model of the judge's house, and ann moves a third of them up.
    evidence = made(3, 300, Plant(longer=0.0))
    own = np.arange(300) % 2 == 0
    traits = tuple(Traits("gpt-4o" if mine else "llama-3", (), "") for mine in own)
    kinder = [
        replace(
            asked,
            levels=np.where(
                (np.arange(300) % 6 == 0)[:, None, None] & (np.arange(3) == 0)[:, None],
                np.where(asked.levels >= 0, int(np.argmax(asked.values)), -1),
                asked.levels,
            ),
        )
        for asked in evidence.criteria
    ]
    judges = tuple(judge.model_copy(update={"model": "gpt-4.1"}) for judge in evidence.judges)
    there = replace(
        evidence, judges=judges, of=replace(evidence.of, traits=traits), criteria=tuple(kinder)
    )
    told = [f for f in diagnose_evidence(there).findings if f.kind == "own_maker"]
    assert [(f.subject, f.false_alarms, f.severity) for f in told] == [("ann", None, "slight")]
    assert "by its own maker's models more than those by others" in told[0].sentence
    assert "That is a correlation and may be deserved" in told[0].sentence
    # Without systems there is no such check.
    assert not [c for c in diagnose_evidence(evidence).checks if c.kind == "own_maker"]


@pytest.mark.parametrize(
    "healthy",
    [
        Plant(deserved=1.0),
        Plant(deserved=1.0, noisy=0.2),
        Plant(deserved=1.0, finer=True),
        Plant(deserved=1.0, finer=True, noisy=0.2),
    ],
)
def test_where_longer_answers_are_better_no_healthy_judge_is_accused(healthy: Plant) -> None:
    # 600 items, judges that ignore length. Labels that err, or tell less than judges see, leave
    # quality that length goes with: nearly every run with such labels shows a slope.
    for seed in range(3):
        told = found(healthy, 600, seed)
        assert [f for f in told if f.false_alarms is not None] == []
        assert all("may be deserved" in f.sentence for f in told)
        if healthy.noisy:
            assert {f.kind for f in told} == {"verbosity"}


@pytest.mark.parametrize(("kinder", "word"), [(0.4, "lenient"), (-0.4, "severe")])
def test_a_judge_that_is_too_kind_or_too_strict(kinder: float, word: str) -> None:
    finding = the(found(Plant(kinder=kinder)), "leniency", "ann")
    assert finding.estimate * kinder > 0
    # The direction is in words, so the sentence's numbers have no sign; the finding's have.
    assert "-" not in finding.sentence
    assert finding.sentence.startswith(f"ann is more {word} than the labels:")


def leaning(seed: int, n: int = 300, **shares: float) -> RunEvidence:
    """A pairwise question alone, and judges that say "first" in some share of cells, else truly."""
    rng = np.random.default_rng(seed)
    options = (Option(label="output_1", value=1), Option(label="output_2", value=0))
    better = Criterion(name="better", requirement="Which?", scale="nominal", options=options)
    truth = rng.integers(0, 2, n)
    columns = []
    for share in shares.values():
        true = np.where(rng.random(n) < 0.8, truth, rng.permutation(truth))
        columns.append(np.where(rng.random(n) < share, 0, true))
    levels = np.stack(columns, axis=1)[:, :, None]
    asked = CriterionEvidence(
        name="better",
        criterion=better,
        labels=("output_1", "output_2"),
        values=np.array([1.0, 0.0]),
        levels=levels,
        abstained=np.zeros(levels.shape, np.bool_),
        truth=truth,
        labelled=np.ones(n, np.bool_),
        verdicts=levels[:, 0, 0],
    )
    judges = tuple(Judge(name=name.replace("_", "/"), kind="imported") for name in shares)
    items = tuple(Item(id=f"i{i}", submission="x") for i in range(n))
    of = items_to_rate(Rubric(name="Planted", criteria=(better,)), items)
    return RunEvidence(judges, of, np.full(n, 100.0), (asked,), {})


def test_a_lean_where_options_have_no_order_is_neither_kind_nor_strict() -> None:
    world = leaning(1, Palm_a=0.5, GPT_a=0.0)
    diagnosis = diagnose_evidence(world)
    (finding,) = (f for f in diagnosis.findings if f.role == "judge")
    # Half of ann's answers are the first option whatever is true: 50% + 25% against 50%.
    assert (finding.kind, finding.subject) == ("leaning", "Palm/a")
    assert finding.estimate == pytest.approx(0.25, abs=0.06)
    assert finding.sentence.startswith("Palm/a gives “output_1” of better 2")
    assert "These options have no order; if they stand for places" in finding.sentence
    unmade = {c.kind: c.effect.reason for c in diagnosis.checks if c.effect.p is None}
    assert unmade["leniency"] == "Options without an order are worth neither more nor less."
    chart = leaning_chart(world, finding)
    assert chart.places == ("output_1", "output_2")
    assert chart.series[0][1][0] - (chart.series[1][1][0] or 0) == pytest.approx(finding.estimate)


def people_found(plant: Plant) -> list[Finding]:
    world = made(1, 300, plant)
    graders = tuple(Judge(name=one.name, kind="person") for one in world.judges)
    return list(diagnose_evidence(replace(world, judges=graders)).findings)


def test_where_people_graded_the_others_are_called_graders() -> None:
    severe = the(people_found(Plant(kinder=0.6, labelled=0.0)), "leniency", "ann").sentence
    assert severe.startswith("ann is more lenient than the other graders:")
    vague = the(people_found(Plant(vague=0.9)), "agreement", "cites").sentence
    assert vague.startswith("Graders hardly agree on cites")
    dead = the(people_found(Plant(dead=True)), "unused", "clear").sentence
    assert dead.startswith(("No grader ever picked", "Graders picked only"))


def test_leans_of_one_model_are_told_once() -> None:
    shares = {"GPT_a": 0.4, "GPT_b": 0.5, "GPT_c": 0.0, "Palm_a": 0.5}
    findings = [f for f in diagnose_evidence(leaning(2, **shares)).findings if f.kind == "leaning"]
    subjects = sorted(f.subject for f in findings)
    assert subjects == ["GPT/b", "Palm/a"]
    sentence = the(findings, "leaning", "GPT/b").sentence
    assert sentence.startswith("2 of 3 judges of GPT lean alike, by ")
    assert "The most: GPT/b gives “output_1” of better" in sentence


def test_without_labels_leniency_is_told_against_the_other_judges() -> None:
    findings = found(Plant(kinder=0.6, labelled=0.0))
    sentence = the(findings, "leniency", "ann").sentence
    assert sentence.startswith("ann is more lenient than the other judges:")
    assert not [f for f in findings if f.kind in ("verbosity", "halo")]  # they take labels


def test_a_judge_that_keeps_to_the_middle() -> None:
    sentence = the(found(Plant(middle=0.5)), "extremes", "ann").sentence
    assert sentence.startswith("ann picks the lowest or highest option ")
    assert "less often than the labels" in sentence


def test_a_judge_whose_first_impression_colours_everything() -> None:
    finding = the(found(Plant(halo=0.6)), "halo", "ann")
    assert finding.sentence.startswith("ann's answers go together more between criteria")
    assert "of which the labels account for" in finding.sentence


def test_labels_that_err_more_than_judges_are_no_halo_of_the_judges() -> None:
    # Half of the labels are guessed: judges go together more than labels do, and see more. 10 of 12
    # such runs accused a judge before.
    runs = [found(Plant(noisy=0.5), seed=seed) for seed in range(4)]
    assert [f.subject for run in runs for f in run if f.kind == "halo"] == []


def test_a_judge_that_abstains_too_often() -> None:
    finding = the(found(Plant(silent=0.2)), "abstention", "ann")
    assert "percentage points more often than the labels" in finding.sentence


def test_a_judge_that_contradicts_itself_and_one_that_the_order_sways() -> None:
    again = the(found(Plant(again=0.5)), "inconsistency", "ann")
    turned = the(found(Plant(flipped=0.5)), "flips", "ann")
    assert "asked the same again" in again.sentence
    assert "when the order of the options is reversed" in turned.sentence


def test_an_option_that_nobody_picks() -> None:
    finding = the(found(Plant(dead=True)), "unused", "clear")
    assert finding.other == "Poor"
    assert finding.estimate == 0
    assert finding.sentence.startswith("No judge ever picked “Poor” of clear on ")
    assert "The labels have it" in finding.sentence


def test_a_criterion_that_repeats_another() -> None:
    finding = the(found(Plant(twin=True)), "redundancy", "clear")
    assert finding.other == "warm"
    assert finding.low is not None
    assert finding.low > 0.8
    assert "nearly always get the same answer" in finding.sentence


def test_a_criterion_on_which_judges_do_not_agree() -> None:
    finding = the(found(Plant(vague=0.9)), "agreement", "cites")
    assert finding.sentence.startswith("Judges hardly agree on cites: Krippendorff's alpha is")


def test_two_options_that_nobody_can_tell_apart() -> None:
    finding = the(found(Plant(blurred=True)), "merge", "warm")
    assert finding.other == "Fair + Good"
    assert "As one option, alpha would go from" in finding.sentence


def test_with_one_judge_the_labels_are_not_scored_against_themselves() -> None:
    evidence = made(1, 300, Plant(blurred=True, judges=1))
    checks = diagnose_evidence(evidence).checks
    sentence = next(c.sentence for c in checks if c.other == "Fair + Good")
    clear = next(asked for asked in evidence.criteria if asked.name == "clear")
    given, true = clear.levels[:, 0, 0], clear.truth
    both = (given >= 0) & (true >= 0)
    # By hand: how often the judge gives the label, as they are and with 1 and 2 as one.
    one = [np.where(levels == 2, 1, levels)[both] for levels in (given, true)]
    before, after = (given == true)[both].mean(), (one[0] == one[1]).mean()
    assert f"accuracy of single answers from {before:.0%} to {after:.0%}." in sentence
    assert sentence.startswith("The judge and the labels hardly agree on “Fair” or “Good” of")


def test_a_criterion_that_says_nothing_of_the_rest() -> None:
    finding = the(found(Plant(alone=True), n=1000), "discrimination", "clear")
    assert "or it asks something else" in finding.sentence


def test_twenty_clean_runs_raise_nothing() -> None:
    # Designed for at most 1% of clean runs: .99^20 = .82 at worst for these fixed seeds; the
    # bench made thousands of clean runs.
    assert FALSE_ALARMS == 0.01
    raised = [f.sentence for seed in range(20) for f in found(Plant(), seed=seed)]
    assert raised == []


def test_small_runs_say_that_they_are_small() -> None:
    diagnosis = diagnose_evidence(made(1, 15))
    assert diagnosis.findings == ()
    # Places are judged by answers, of which there are enough: one check per judge.
    assert diagnosis.summary == (
        "3 checks were made. At most 1% of simulated runs without faults raise any finding, except "
        "on length and own answers, which have no such limit. The simulated judges err at random "
        "in a fifth of the answers; the labels are right, or err as often. Labels that err more "
        "often than the judges may raise more findings."
    )
    reasons = {c.effect.reason for c in diagnosis.checks if c.kind == "leniency"}
    assert reasons == {"Only 15 items can be compared; 20 are needed."}


def test_one_judge_is_compared_with_the_labels() -> None:
    findings = found(Plant(vague=0.95, judges=1))
    assert (
        "The judge and the labels hardly agree on cites"
        in the(findings, "agreement", "cites").sentence
    )


def test_one_judge_without_labels_leaves_little_to_check() -> None:
    diagnosis = diagnose_evidence(made(1, 100, Plant(judges=1, labelled=0.0)))
    assert diagnosis.findings == ()
    made_kinds = {c.kind for c in diagnosis.checks if c.effect.p is not None}
    expected = {"position", "flips", "inconsistency", "discrimination", "unused", "redundancy"}
    assert made_kinds == expected


def test_what_all_judges_share_of_length_is_one_sentence() -> None:
    # Judges see finer than labels tell, and longer answers are better: each gives them more.
    together = [
        f for f in found(Plant(deserved=1.0, noisy=0.35), n=600, seed=2) if f.kind == "verbosity"
    ]
    (one,) = together
    assert one.sentence.startswith("All 3 judges (ann, bob, cyd) give longer answers more: among")
    assert "probes tell causes" in one.sentence
