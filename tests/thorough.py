"""The tests that `make test` leaves to `make thorough`, and so to CI.

They are further cases of a matrix of which `make test` keeps one (signals, roles, hostile places,
forms, data sets), longer ways through the app in a browser, and simulations that take long.
"""

from __future__ import annotations

import os
from collections import defaultdict
from fnmatch import fnmatchcase
from typing import NamedTuple

import pytest


class Left(NamedTuple):
    """The tests of a file whose names begin so; of a matrix the cases like this, or all but one."""

    file: str
    test: str
    case: str = "*"
    kept: str = ""

    def names(self, id_: str) -> bool:
        """Whether a test is one of these, or the case of them that is kept."""
        return id_.startswith(f"tests/{self.file}.py::{self.test}")

    def holds(self, id_: str) -> bool:
        """Whether a test that it names is left."""
        case = id_.partition("[")[2].removesuffix("]")
        return fnmatchcase(case, self.case) and (not self.kept or case != self.kept)


BROWSER = (
    Left("browser/test_team", "test_logging_out_ends_every_window"),
    Left("browser/test_typing", "test_a_note_that_was_not_finished"),
    Left("browser/test_arena", "test_a_digit_typed"),
    Left("browser/test_arena", "test_ten_blind_contests"),
    Left("browser/test_authoring_browser", "test_a_finding_appears"),
    Left("browser/test_authoring_browser", "test_by_"),
    Left("browser/test_authoring_browser", "test_six_mixed_criteria_come_from_the_library"),
    Left("browser/test_authoring_browser", "test_the_second_to_save"),
    Left("browser/test_comparing", "test_from_a_run_to_the_votes"),
    Left("browser/test_comparing", "test_the_page_opens"),
    Left("browser/test_contests", "test_a_cell_of_the_matrix"),
    Left("browser/test_contests", "test_a_link_to_the_page"),
    Left("browser/test_contests", "test_hostile_text"),
    Left("browser/test_editor_hands", "test_a_deep_link"),
    Left("browser/test_editor_hands", "test_cards_are_low"),
    Left("browser/test_editor_hands", "test_criteria_are_written"),
    Left("browser/test_editor_hands", "test_the_bar_with_save"),
    Left("browser/test_editor_hands", "test_whoever_goes_to_another"),
    Left("browser/test_first_sight", "test_a_sections_heading"),
    Left("browser/test_first_sight", "test_key_hints"),
    Left("browser/test_first_sight", "test_the_editors_panels"),
    Left("browser/test_first_sight", "test_the_grid_stays"),
    Left("browser/test_grade_looks", ""),
    Left("browser/test_headers", "test_every_page"),
    Left("browser/test_help_browser", "test_a_draft_survives"),
    Left("browser/test_help_browser", "test_a_draft_that_the_provider"),
    Left("browser/test_help_browser", "test_one_proposal"),
    Left("browser/test_help_browser", "test_what_judges_find"),
    Left("browser/test_help_browser", "test_written_submissions"),
    Left("browser/test_hostile", "test_in_a_run"),
    Left("browser/test_hostile", "test_in_an_"),
    Left("browser/test_hostile", "test_in_a_spot_check"),
    Left("browser/test_hostile", "test_in_a_version"),
    Left("browser/test_hostile", "test_in_datasets"),
    Left("browser/test_hostile", "test_in_judges"),
    Left("browser/test_hostile", "test_in_the_"),
    Left("browser/test_hostile", "test_where_a_rubric_"),
    Left("browser/test_hostile_findings", ""),
    Left("browser/test_hostile_measuring", ""),
    Left("browser/test_hostile_reviewing", ""),
    Left("browser/test_import_journey", ""),
    Left("browser/test_in_sight", ""),
    Left("browser/test_keyboard_alone", ""),
    Left("browser/test_reviewing", "test_a_lead_takes"),
    Left("browser/test_reviewing", "test_a_reload_keeps"),
    Left("browser/test_reviewing", "test_after_a_click"),
    Left("browser/test_reviewing", "test_on_a_scale_from_zero"),
    Left("browser/test_reviewing", "test_reviewing_is_for_everybody"),
    Left("browser/test_reviewing", "test_twenty_cells"),
    Left("browser/test_reviewing", "test_two_people"),
    Left("browser/test_reviewing_blind", "test_who_ends"),
    Left("browser/test_teacher_settles", ""),
    Left("browser/test_team", "test_a_file_of_a_page"),
    Left("browser/test_team", "test_a_link_leads"),
    Left("browser/test_team", "test_everybody_finds", kept="lea"),
    Left("browser/test_team", "test_members_is_for_everybody"),
    Left("browser/test_team", "test_who_is_in_one_workspace"),
    Left("browser/test_team", "test_who_is_unverified", case="uwe-*"),
    Left("browser/test_three_paths", "test_a_researcher"),
    Left("browser/test_typing", "test_a_requirement"),
    Left("browser/test_workbench_browser", ""),
    Left("browser/test_workbooks_browser", "test_votes"),
    Left("browser/test_working", "test_a_pasted_submission"),
    Left("browser/test_working", "test_a_pause_in_typing"),
    Left("browser/test_working", "test_a_run_is_cancelled"),
)

LEFT = (
    *BROWSER,
    Left("cli/test_ci", "test_pre_commit"),
    Left("cli/test_nightly", "test_the_loop_of_compose"),
    Left("cli/test_terminal", "test_a_run_is_worked_off", kept="2>&-"),
    Left("cli/test_terminal", "test_results_that_cannot", kept="runs"),
    Left("judging/asking/test_option_chances", "test_nothing_is_asked_for_where", "litellm"),
    Left("judging/asking/test_slow_server", "test_a_server_that_is_silent_on", "litellm"),
    Left("judging/asking/test_slow_server", "test_a_slow_answer", "litellm"),
    Left("judging/asking/test_slow_server", "test_a_timeout_that_somebody", "litellm"),
    Left("judging/asking/test_storm_wire", "test_a_storm_loses", "*-retry-after-ms"),
    Left("judging/asking/test_storm_wire", "test_a_storm_loses", "litellm-*"),
    Left("judging/offline/test_training", "test_random_labels_seldom_switch"),
    Left("judging/providers/test_providers_wire", "test_cancelled_calls", "litellm"),
    Left("judging/prompts/test_layouts", "test_the_layout_chosen", kept="criterion-3"),
    Left("judging/test_keys", "test_a_file_beside_what_is_graded"),
    Left("judging/test_rate_limits", "test_a_storm_loses_nothing", "300-*"),
    Left("metrics/intervals/test_powered_gaps", "test_few_labels_do_not"),
    Left("metrics/intervals/test_rare_options", "test_agreement_of_several", kept="3-setting0-50"),
    Left("metrics/intervals/test_rare_options", "test_alpha_of_three"),
    Left("metrics/intervals/test_rare_options", "test_intervals_of_two"),
    Left("metrics/test_calibration", "test_the_interval_of_the_brier"),
    Left("metrics/test_expected", "test_a_folder_gives", kept="llm_rubric_real"),
    Left("metrics/test_expected", "test_every_number_that_is_missing"),
    Left("metrics/test_facets", "test_of_equal_raters_hardly_ever"),
    Left("metrics/test_ranking_strengths", "test_of_four_equal_systems"),
    Left("pages/agreement/test_views", "test_every_view_opens", "*-people"),
    Left("pages/agreement/test_views", "test_probes_ask"),
    Left("pages/documents/test_page", "test_every_screen_leads", kept="run"),
    Left("pages/members/test_matrix", "test_every_screen_offers_a_role", "adjudicator"),
    Left("pages/members/test_matrix", "test_every_screen_offers_a_role", "author"),
    Left("pages/members/test_matrix", "test_every_screen_offers_a_role", "lead"),
    Left("pages/members/test_matrix", "test_every_screen_offers_a_role", "viewer"),
    Left("pages/test_every_surface", "test_every_surface_shows", kept="reviewed"),
    Left("pages/test_forms", "test_a_field_keeps_its_value", kept="a spot check"),
    Left("rubric_studio/test_api_documents", "test_the_notebook"),
    Left("rubric_studio/test_api", "test_an_interrupted_run_goes_on"),
    Left("rubric_studio/test_package", ""),
    Left("rubric_studio/test_values", "test_mypy_finds"),
    Left("samples/test_worked_example", ""),
    Left("services/access/test_endpoints", "", "static*"),
    Left("services/access/test_endpoints", "", "tools/studio*"),
    Left("services/access/test_login_provider", "test_after_a_sign_in", kept="issuer"),
    Left("services/agreement/common_layout/test_numbers", "test_every", kept="one of each kind"),
    Left("services/agreement/test_people", "test_imported_people_and_judges", kept="mohler-"),
    Left("services/agreement/test_trust", "test_two_draws", kept="second0-<lambda>"),
    Left("services/diagnostics/test_planted", "test_twenty_clean_runs"),
    Left("services/diagnostics/test_planted", "test_where_longer_answers", kept="healthy0"),
    Left("services/diagnostics/test_probes", "test_a_judge_is_not_accused"),
    Left("services/diagnostics/test_probes", "test_of_a_conversation"),
    Left("services/gate/test_gate", "test_a_baseline_that_is_watched"),
    Left("services/imports/test_shared_data", "", kept="llm_rubric_real"),
    Left("services/pairwise/test_calls", "test_the_calls_announced", "*-10"),
    Left("services/pairwise/test_imported", "test_votes_imported"),
    Left("services/queueing/test_queue_cap", "test_the_recorded_chance"),
    Left("services/results/test_fair_sample", "test_fair_samples_are_hardly", kept="1"),
    Left("services/results/test_weight_fit", "test_few_labels_make_ordered"),
    Left("services/results/test_weight_fit", "test_what_is_promised"),
    Left("services/results/test_weight_fit", "test_where_labels_help_little"),
    Left("services/review/test_promises", "test_promises_hold_whoever", "three queues"),
    Left("services/review/test_queue_cells", "test_the_weighted_accuracy"),
    Left("services/review/test_soak", "test_reviewers_in_processes"),
    Left("services/review/test_soak", "test_ten_reviewers"),
    Left("services/runs/test_batches_bought_once", "", "*-azure"),
    Left("services/runs/test_batches_bought_once", "", "*-mistral"),
    Left("services/runs/test_backup", "test_a_backup_taken_while_a_run_goes_on"),
    Left("services/runs/test_cluster", "test_when_the_scheduler_goes"),
    Left("services/runs/test_cluster", "test_a_worker_is_killed"),
    Left("services/runs/test_cluster", "test_a_worker_that_hangs"),
    Left("services/runs/test_cluster", "test_code_of_another_day"),
    Left("services/runs/test_cluster", "test_offline_judges_learn"),
    Left("services/runs/test_cluster", "test_what_was_answered_before"),
    Left("services/runs/test_cluster", "test_workers_hold"),
    Left("services/runs/test_flip_check", "test_requiring_both"),
    Left("services/runs/test_flip_check", "test_shuffling_evens"),
    Left("services/runs/test_flipped_bits", ""),
    Left("services/runs/test_hanging_checks", "test_a_child_ends_itself"),
    Left("services/runs/test_hanging_checks", "test_a_runner_in_the_apps"),
    Left("services/runs/test_hanging_checks", "test_a_worker_goes_on"),
    Left("services/runs/test_hanging_checks", "test_in_the_middle_of_a_hang_a_signal"),
    Left("services/runs/test_hanging_checks", "test_in_the_middle_of_a_hang_a_worker"),
    Left("services/runs/test_hanging_checks", "test_one_hanging_text", kept="pattern"),
    Left("services/runs/test_hanging_checks", "test_what_hung_is_asked"),
    Left("services/runs/test_keeper", "test_a_cancelled_run_that_hangs"),
    Left("services/runs/test_keeper", "test_a_run_that_stopped_two_workers"),
    Left("services/runs/test_keeper", "test_a_worker_that_does_not_move"),
    Left("services/runs/test_kill", "test_after_a_kill"),
    Left("services/runs/test_kill", "test_what_show_says"),
    Left("services/runs/test_out_of_reach", "test_a_data_file_that_goes_away", kept="studio.db"),
    Left("services/runs/test_out_of_reach", "test_a_data_file_that_is_cut_short"),
    Left("services/runs/test_planted_key", "test_a_planted_key_is_found_nowhere", "litellm"),
    Left("services/runs/test_out_of_reach", "test_stopped_while_the_disk_is_full"),
    Left("services/runs/test_planted_key", "test_the_command_line_does_not"),
    Left("services/runs/test_planted_params", "test_a_named_value_is_sent_and_found", "litellm"),
    Left("services/runs/test_poison_run", "test_each_poison_takes", "app"),
    Left("services/runs/test_poison_run", "test_each_poison_takes", "worker"),
    Left("services/runs/test_signals", "test_a_worker_gives_its_run_back", "SIGHUP"),
    Left("services/runs/test_signals", "test_grade_and_resume"),
    Left("services/runs/test_signals", "test_the_app_gives_its_run_back"),
    Left("services/runs/test_signals", "test_what_is_started_with_nohup"),
    Left("test_readme", "test_the_commands_of_the_guide"),
    Left("services/test_stalling_texts", "test_a_long_run_in_a_submission", kept="a@"),
    Left("store/database/test_read_only", "test_it_is_read[", kept="words4"),
    Left("store/database/test_read_only", "test_what_would_write", kept="words0"),
    Left("test_provider", "test_a_connection_that_comes_in", kept="0.05"),
)


def leave_to_thorough(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect them where the whole suite is asked for, but not thoroughly.

    Raises:
        pytest.UsageError: a line stands for no test any more, or keeps none.
    """
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    lines = defaultdict[str, list[Left]](list)
    for line in LEFT:
        lines[f"tests/{line.file}.py"].append(line)
    left, rest, used = list[pytest.Item](), list[pytest.Item](), set[tuple[Left, bool]]()
    for item in items:
        named = [line for line in lines[item.nodeid.partition("::")[0]] if line.names(item.nodeid)]
        used |= {(line, line.holds(item.nodeid)) for line in named}
        (left if any(line.holds(item.nodeid) for line in named) else rest).append(item)
    wanted = {(line, held) for line in LEFT for held in (True, not line.kept)}
    if gone := wanted - used:
        raise pytest.UsageError(f"tests/thorough.py names tests that are not there: {gone}")
    if os.environ.get("HYPOTHESIS_PROFILE") != "thorough":
        config.hook.pytest_deselected(items=left)
        items[:] = rest
