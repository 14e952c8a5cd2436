"""The tests that `make test` leaves to `make thorough`, and so to CI.

They are further cases of a matrix of which `make test` keeps one (signals, roles, hostile places,
forms, data sets), longer ways through the app in a browser, and simulations that take long.
"""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import NamedTuple

import pytest


class Left(NamedTuple):
    """The tests of a file whose names begin so; of a matrix the cases like this, or all but one."""

    file: str
    test: str
    case: str = "*"
    kept: str = ""

    def holds(self, id_: str) -> bool:
        """Whether a test is one of them."""
        if not id_.startswith(f"tests/{self.file}.py::{self.test}"):
            return False
        case = id_.partition("[")[2].removesuffix("]")
        return fnmatchcase(case, self.case) and (not self.kept or case != self.kept)


BROWSER = (
    Left("browser/test_arena", "test_ten_blind_contests"),
    Left("browser/test_authoring_browser", "test_by_form"),
    Left("browser/test_authoring_browser", "test_six_mixed_criteria_come_from_the_library"),
    Left("browser/test_comparing", "test_from_a_run_to_the_votes"),
    Left("browser/test_contests", "test_hostile_text"),
    Left("browser/test_editor_hands", "test_a_deep_link"),
    Left("browser/test_editor_hands", "test_cards_are_low"),
    Left("browser/test_editor_hands", "test_the_bar_with_save"),
    Left("browser/test_grade_looks", "test_a_hostile_class"),
    Left("browser/test_headers", "test_every_page", kept="some"),
    Left("browser/test_help_browser", "test_one_proposal"),
    Left("browser/test_help_browser", "test_written_submissions"),
    Left("browser/test_hostile", "test_in_an_"),
    Left("browser/test_hostile", "test_in_a_spot_check"),
    Left("browser/test_hostile", "test_in_a_version"),
    Left("browser/test_hostile", "test_in_datasets"),
    Left("browser/test_hostile", "test_in_judges"),
    Left("browser/test_hostile", "test_in_the_"),
    Left("browser/test_hostile", "test_where_a_rubric_"),
    Left("browser/test_hostile_findings", "test_on_every_view"),
    Left("browser/test_hostile_measuring", "test_in_a_comparison"),
    Left("browser/test_hostile_measuring", "test_in_a_file"),
    Left("browser/test_hostile_measuring", "test_in_a_sweep"),
    Left("browser/test_hostile_measuring", "test_in_every_view"),
    Left("browser/test_hostile_measuring", "test_in_imported_votes"),
    Left("browser/test_hostile_measuring", "test_in_the_"),
    Left("browser/test_hostile_reviewing", "test_in_"),
    Left("browser/test_hostile_reviewing", "test_where_reviewers_disagree"),
    Left("browser/test_reviewing", "test_a_lead_takes"),
    Left("browser/test_reviewing", "test_on_a_scale_from_zero"),
    Left("browser/test_reviewing", "test_twenty_cells"),
    Left("browser/test_reviewing_blind", "test_who_ends"),
    Left("browser/test_teacher_settles", ""),
    Left("browser/test_team", "test_a_file_of_a_page"),
    Left("browser/test_team", "test_a_link_leads"),
    Left("browser/test_team", "test_everybody_finds", kept="lea"),
    Left("browser/test_team", "test_who_is_unverified", case="uwe-*"),
    Left("browser/test_three_paths", "test_a_researcher"),
    Left("browser/test_typing", "test_a_requirement"),
    Left("browser/test_workbench_browser", ""),
    Left("browser/test_workbooks_browser", "test_votes"),
    Left("browser/test_working", "test_a_pasted_submission"),
    Left("browser/test_working", "test_a_pause_in_typing"),
)

LEFT = (
    *BROWSER,
    Left("services/runs/test_poison_run", "test_each_poison_takes", "app"),
    Left("services/runs/test_poison_run", "test_each_poison_takes", "worker"),
    Left("services/runs/test_keeper", "test_a_run_that_stopped_two_workers", "ENDS_ON"),
    Left("services/runs/test_keeper", "test_a_worker_that_does_not_move"),
    Left("services/runs/test_keeper", "test_a_cancelled_run_that_hangs"),
    Left("services/runs/test_hanging_checks", "test_in_the_middle_of_a_hang_a_signal", "SIGTERM"),
    Left("services/runs/test_hanging_checks", "test_in_the_middle_of_a_hang_a_worker"),
    Left("services/runs/test_hanging_checks", "test_a_child_ends_itself"),
    Left("services/runs/test_hanging_checks", "test_a_worker_goes_on"),
    Left("services/runs/test_cluster", "test_a_worker_that_hangs", "2"),
    Left("services/runs/test_cluster", "test_what_was_answered_before"),
    Left("services/runs/test_cluster", "test_code_of_another_day"),
    Left("services/runs/test_kill", "test_what_show_says"),
    Left("services/runs/test_signals", "test_a_worker_gives_its_run_back", "SIGHUP"),
    Left("services/runs/test_signals", "test_the_app_gives_its_run_back", "SIGHUP-process"),
    Left("services/runs/test_out_of_reach", "test_a_data_file_that_is_cut_short", "0.25"),
    Left("services/runs/test_out_of_reach", "test_a_data_file_that_is_cut_short", "0.75"),
    Left("services/runs/test_planted_key", "test_a_planted_key_is_found_nowhere", "litellm"),
    Left("services/runs/test_flipped_bits", ""),
    Left("cli/test_nightly", "test_the_loop_of_compose"),
    Left("judging/offline/test_training", "test_random_labels_seldom_switch"),
    Left("judging/test_rate_limits", "test_a_storm_loses_nothing", "300-True"),
    Left("judging/test_rate_limits", "test_a_storm_loses_nothing", "300-False"),
    Left("metrics/test_facets", "test_of_equal_raters_hardly_ever"),
    Left("metrics/test_ranking_strengths", "test_of_four_equal_systems", "10"),
    Left("pages/members/test_matrix", "test_every_screen_offers_a_role", "viewer"),
    Left("pages/members/test_matrix", "test_every_screen_offers_a_role", "adjudicator"),
    Left("pages/members/test_matrix", "test_every_screen_offers_a_role", "author"),
    Left("pages/members/test_matrix", "test_every_screen_offers_a_role", "lead"),
    Left("services/gate/test_gate", "test_a_baseline_that_is_watched"),
    Left("services/queueing/test_queue_cap", "test_the_recorded_chance"),
    Left("services/review/test_promises", "test_promises_hold_whoever", "three queues"),
    Left("services/review/test_queue_cells", "test_the_weighted_accuracy"),
    Left("services/review/test_soak", "test_reviewers_in_processes"),
)


def leave_to_thorough(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect them where the whole suite is asked for, but not thoroughly.

    Raises:
        pytest.UsageError: a line stands for no test any more.
    """
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    gone = [line for line in LEFT if not any(line.holds(item.nodeid) for item in items)]
    if gone:
        raise pytest.UsageError(f"tests/thorough.py names tests that are not there: {gone}")
    if os.environ.get("HYPOTHESIS_PROFILE") != "thorough":
        left = [item for item in items if any(line.holds(item.nodeid) for line in LEFT)]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in set(left)]
