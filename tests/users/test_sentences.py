"""Each statement of docs/security.md about users, agents and other parties has tests."""

import re

from users.test_inventory import TESTS, is_test

PAGE = TESTS.parent / "docs" / "security.md"

MATRIX = (
    "users/test_matrix.py::test_what_another_user_puts_there_first",
    "users/test_matrix.py::test_a_link_in_place_of_its_folder",
    "users/test_matrix.py::test_what_is_there_is_renamed_and_replaced",
)

PEERS = (
    "users/test_peers.py::test_a_connection_of_theirs_is_closed",
    "users/test_peers.py::test_what_they_serve_is_sent_nothing",
    "inworker/test_other_users.py::test_an_agent_says_nothing_to_them",
    "inworker/test_other_users.py::test_a_driver_does_not_report_its_cluster_to_them",
)

CODE = (
    "users/test_matrix.py::test_code_and_private_folders_are_not_where_others_can_rename",
    "inworker/test_code_of_other_users.py::test_they_cannot_rename_what_a_submitted_job_imports",
    "users/test_races.py::test_code_for_a_process_is_in_a_file_that_no_other_user_can_replace",
)

FOLDER = ("unit/inworker/test_start_files.py::test_a_folder_in_which_others_can_rename_is_passed_over",)

RAYLETS = (
    "inworker/test_code_of_other_users.py::test_a_process_of_theirs_with_the_command_line_of_a_raylet_is_none",
    "users/test_races.py::test_the_memory_of_another_users_process_is_not_read",
)

ODD_ANSWERS = ("users/test_dashboards.py::test_what_a_dashboard_answers_ends_no_search",)

TOKEN = ("unit/hub/test_acceptor.py::test_tcp_is_trusted_with_the_token_only",)

SENTENCES: dict[str, tuple[str, ...]] = {
    # Other users of the machine.
    "Another local user can neither": MATRIX,
    "But such a user can": ("users/test_peers.py::test_a_relay_takes_the_place_of_a_socket_of_theirs",),
    "Then programs run undebugged": (
        "inworker/test_agent_faults.py::test_a_child_runs_on_when_raydap_cannot_be_called",
    ),
    "[`tests/users`]": ("users/test_inventory.py::test_each_module_that_opens_something_is_in_the_inventory",),
    "Agents, raydap, its relay": PEERS,
    "They ask the kernel": PEERS,
    "Each socket has the mode 0600": PEERS,
    "If another user listens under": PEERS,
    "Python imports nothing": CODE,
    "raydap writes code to": (*CODE, *FOLDER),
    "Otherwise raydap uses": FOLDER,
    "It imports nothing from": CODE,
    "The code that gdb loads": ("users/test_races.py::test_code_for_gdb_is_in_a_file_without_a_name",),
    "If another user has taken": ("inworker/test_code_of_other_users.py::test_a_link_of_theirs_is_not_followed",),
    "raydap uses `XDG_RUNTIME_DIR`": (
        *MATRIX,
        "users/test_races.py::test_the_runtime_folder_is_replaced_before_it_is_used",
    ),
    "Otherwise the runtime folder": MATRIX,
    "raydap writes a report": MATRIX,
    "It does not write to a link": MATRIX,
    "A hub refuses a token file": MATRIX,
    "raydap does not wait for a pipe": (*MATRIX, "users/test_races.py::test_a_pipe_takes_the_place_of_a_source"),
    "raydap believes a raylet": RAYLETS,
    "So no other user can make raydap join": RAYLETS,
    "raydap runs no program": (
        "inworker/test_code_of_other_users.py::test_no_program_that_a_process_of_theirs_names_is_run",
    ),
    "Without the name of a cluster": (
        "unit/cluster/test_dashboard_address.py::test_without_any_cluster_ray_s_default_is_guessed",
    ),
    "It sends nothing there": (
        "users/test_dashboards.py::test_a_dashboard_that_no_user_named_is_sent_nothing_if_another_user_starts_it",
        "users/test_dashboards.py::test_a_dashboard_of_this_user_is_asked",
    ),
    "raydap follows no redirect": ("users/test_dashboards.py::test_a_redirect_leads_nowhere",),
    "If a dashboard's answer is not Ray's": (
        *ODD_ANSWERS,
        "users/test_dashboards.py::test_json_that_cannot_be_read_is_a_problem",
    ),
    # The rights of each party.
    "| you and root": ("users/test_peers.py::test_a_connection_of_this_user_is_taken",),
    "| another user of the machine": MATRIX,
    "| a machine of the network": ("unit/hub/test_server.py::test_other_addresses_need_one_and_warn_without_tls",),
    "| a member of the cluster": ("unit/cluster/test_dashboard.py::test_a_missing_and_a_wrong_token_are_two_things",),
    "| the dashboard that you name": (*ODD_ANSWERS, "users/test_dashboards.py::test_a_redirect_leads_nowhere"),
    "| a client of the hub without its token": (
        *TOKEN,
        "playbook/test_holding.py::test_without_the_token_nothing_but_initialize_is_answered",
    ),
    "| a client of the hub with its token": TOKEN,
    "| the debugged process": (
        "playbook/test_files.py::test_hostile_text_of_a_worker_costs_its_answer_only",
        "unit/report/test_html_page.py::test_hostile_texts_stay_texts",
    ),
    "| your editor": TOKEN,
    "| a coding agent": (
        "unit/cli/test_agent_limits.py::test_statements_are_refused_unless_the_user_allows_them",
        "unit/cli/test_agent_limits.py::test_values_that_look_like_secrets_are_masked",
        "unit/cli/test_agent_limits.py::test_a_server_that_only_reads_has_no_other_tools",
    ),
    # Agents.
    "The sockets of agents": (
        "inworker/test_agent_faults.py::test_its_socket_is_this_users_alone_whatever_the_umask",
        "unit/runtime/test_agents.py::test_the_sockets_of_processes_that_have_ended_are_removed",
    ),
    "While a session is attached": (
        "unit/runtime/test_agents.py::test_processes_that_begin_call_raydap_in_the_sessions_folder",
        "unit/runtime/test_agents.py::test_nothing_is_left_at_the_end",
        "unit/inworker/test_raydap_calls.py::test_what_a_killed_raydap_has_left_is_removed",
    ),
    "The driver of a submitted job": CODE,
    "A process that can connect": PEERS,
    "Where raydap is not installed": ("unit/inworker/test_start_files.py::test_they_are_those_of_raydap",),
    "An agent calls raydap": (
        "inworker/test_agent.py::test_a_program_goes_on_when_raydap_dies_before_its_answer",
        "inworker/test_raydap_run.py::test_a_program_waits_until_a_raydap_debugs_it",
    ),
    "A program in a terminal": (
        "e2e/test_launch_in_terminal.py::test_a_program_asks_its_user_and_stops_at_a_breakpoint",
        "e2e/test_launch_in_terminal.py::test_a_command_that_is_repeated_later_starts_nothing",
        "unit/runtime/test_terminal_launcher.py::test_nothing_is_started_for_another_user",
    ),
    "A [Ray Debug Terminal]": (
        "ray/test_vscode_terminal.py::test_a_program_stops_in_its_first_task_and_ends_its_session",
        "unit/inworker/test_terminal_session.py::test_nothing_is_sent_to_another_user",
    ),
    "Each Python that such": ("inworker/test_at_start.py::test_it_waits_for_raydap_and_finds_nothing_changed",),
    'With [`"reach"': (
        "unit/cluster/test_gdb_injection.py::test_code_runs_in_the_process_and_the_process_continues",
        "unit/cluster/test_gdb_injection.py::test_another_process_with_its_number_is_not_touched",
    ),
    "[`raydap doctor`]": (
        "unit/cluster/test_node_survey.py::test_variables_are_reported_without_secrets_and_irrelevant_values",
        "inworker/test_code_of_other_users.py::test_no_program_that_a_process_of_theirs_names_is_run",
    ),
    "The stack of a worker": ("unit/cluster/test_relay_actor.py::test_it_looks_at_processes_of_its_node",),
    "With `RAYDAP=off`": ("inworker/test_raydap_off.py::test_a_program_and_its_children",),
    "When raydap detaches or": ("inworker/test_agent.py::test_no_function_is_traced_when_a_session_has_ended",),
}
"""The beginning of each sentence, table row or list item, and its tests."""


def section(begin: str, end: str) -> str:
    return PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0]


def statements() -> list[str]:
    """Return the sentences about other users, the rows of the table, and the items about agents."""
    table = section("## Trust: what each party can do\n", "\n## ")
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    items = re.findall(r"^- (.*)", section("## Agents\n", '<a id="noticed">'), re.MULTILINE)
    users = re.sub(r"^- \*\*.*?\*\* ", "", section("## Other users of the machine\n", "\n## "), flags=re.MULTILINE)
    return [*re.split(r"(?<=\.) ", " ".join(users.split())), *rows, *items]


def test_each_statement_has_a_test() -> None:
    assert [each for each in statements() if not each.startswith(tuple(SENTENCES))] == []


def test_each_test_has_its_statement() -> None:
    assert [begin for begin in SENTENCES if sum(each.startswith(begin) for each in statements()) != 1] == []


def test_the_tests_exist() -> None:
    tests = {test for tests in SENTENCES.values() for test in tests}
    assert [test for test in sorted(tests) if not is_test(test)] == []
