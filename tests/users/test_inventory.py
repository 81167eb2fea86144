"""Each module of raydap that makes or reads a file, folder or socket is in one table, with its tests or a reason."""

import ast
from pathlib import Path

from users.user_files import TABLE

TESTS = Path(__file__).parents[1]

PACKAGE = TESTS.parent / "adapter" / "raydap"

CALLS = {
    *("mkdir", "makedirs", "mkdtemp", "mkstemp", "TemporaryDirectory", "NamedTemporaryFile", "TemporaryFile", "touch"),
    *("write_text", "write_bytes", "read_text", "read_bytes", "unlink", "rmtree", "rmdir", "rename", "symlink_to"),
    *("chmod", "fchmod", "truncate", "listdir", "scandir", "glob", "rglob", "iterdir", "readlink", "gettempdir"),
    *("bind", "listen", "create_server", "sock_connect", "open_unix_connection", "create_unix_connection", "set_data"),
    *("FileHistory", "make_private", "write_output", "read_regular", "Listener", "PrivateListener"),
}

PART = "a file of raydap's own package"
NAMED = "a path or address that the user or the user's client names"
OWN = "a folder that only the user can enter, or the process itself"
KERNEL = "facts of the kernel's, which no other user can make up or delay"
TCP = "a TCP socket; docs/security.md has who may connect"
NULL = "the system's null device, which no other user can replace"
NO_FILE = "a method of this name that opens nothing"

REASONS = {PART, NAMED, OWN, KERNEL, TCP, NULL, NO_FILE}

INVENTORY: dict[str, tuple[str, ...]] = {
    "cli/adapter.py": (TCP,),
    "cli/completing.py": (NAMED,),
    "cli/doctor.py": (NAMED,),
    "cli/lsp.py": (TCP,),
    "cli/skill.py": (PART,),
    "cli/standard_streams.py": (NULL,),
    "client/own_session.py": (OWN,),
    "client/pdb_connection.py": (TCP,),
    "client/session_connections.py": (OWN,),
    "cluster/injection/gdb_injection.py": (
        "users/test_races.py::test_code_for_gdb_is_in_a_file_without_a_name",
        KERNEL,
    ),
    "cluster/injection/injection_script.py": (PART,),
    "cluster/ray_process/raydap_process.py": (OWN,),
    "cluster/survey/node_survey.py": (
        "sources that doctor compares",
        "inworker/test_code_of_other_users.py::test_no_program_that_a_process_of_theirs_names_is_run",
        TCP,
    ),
    "cluster/machine/outside_looks.py": ("users/test_races.py::test_odd_folders_in_proc_are_passed_over", KERNEL),
    "cluster/jobs/prepared_search.py": ("users/test_races.py::test_the_memory_of_another_users_process_is_not_read",),
    "cluster/dashboard/ray_token.py": ("token file of Ray",),
    "cluster/relay/relay_actor.py": (
        "socket of a relay",
        "sockets that may be agents",
        "users/test_peers.py::test_a_connection_of_theirs_is_closed",
    ),
    "cluster/relay/relay_process.py": (OWN,),
    "cluster/injection/remote_exec.py": (
        "users/test_races.py::test_code_for_a_process_is_in_a_file_that_no_other_user_can_replace",
        "users/test_races.py::test_a_link_takes_the_name_of_a_file_that_a_process_has_run",
    ),
    "inworker/raylets.py": (
        "inworker/test_code_of_other_users.py::test_a_process_of_theirs_with_the_command_line_of_a_raylet_is_none",
        "users/test_races.py::test_the_memory_of_another_users_process_is_not_read",
    ),
    "tcp_sockets.py": (KERNEL, TCP),
    "doctor/session_breakpoints.py": (NAMED,),
    "hub/connection_file.py": (
        "runtime folder",
        "runtime folder in HOME",
        "connection file that is named",
        "connection file that is read",
    ),
    "hub/deploy.py": (OWN,),
    "hub/hub_token.py": ("token file of a hub",),
    "hub/server.py": (NAMED, TCP),
    "inworker/bundle.py": (PART, "files of an agent"),
    "inworker/agent_lines.py": (KERNEL,),
    "inworker/reloaded_files.py": (NAMED,),
    "terminal/debugger/reload_command.py": (NAMED,),
    "inworker/leftover_sockets.py": ("sockets that may be agents",),
    "inworker/private_sockets.py": (
        "socket of an agent",
        "inworker/test_other_users.py::test_an_agent_says_nothing_to_them",
        "users/test_races.py::test_a_link_takes_the_place_of_a_new_socket",
    ),
    "inworker/at_start/sitecustomize.py": (PART, "files of an agent"),
    "inworker/driver_setup.py": (PART, "files of an agent"),
    "inworker/file_queries.py": (NAMED,),
    "inworker/first_line.py": (NAMED,),
    "inworker/for_cluster/sitecustomize.py": (PART,),
    "inworker/fork_warnings.py": (OWN,),
    "inworker/private_folders.py": ("folder of a job",),
    "inworker/python_commands.py": (NAMED,),
    "inworker/raydap_calls.py": (
        "sockets that an agent calls",
        "users/test_peers.py::test_what_they_serve_is_sent_nothing",
    ),
    "inworker/relisten.py": (TCP,),
    "inworker/stack_reader.py": (OWN,),
    "inworker/start_files.py": ("files of an agent",),
    "inworker/stuck_adapter.py": ("users/test_races.py::test_an_adapter_is_looked_for_among_processes_of_this_user",),
    "lsp/analysis/syntax.py": (NO_FILE,),
    "lsp/live/sessions.py": (OWN,),
    "report/unattended.py": (NULL,),
    "report/report_files.py": ("report", "data of a report", "file beside a report"),
    "mcp_server/answer_text.py": (OWN,),
    "mcp_server/breakpoint_tool.py": (NAMED,),
    "runtime/agents.py": ("sockets that may be agents", "users/test_peers.py::test_a_connection_of_theirs_is_closed"),
    "runtime/engine.py": (TCP,),
    "runtime/node_agents.py": (OWN,),
    "runtime/program_files.py": (NAMED,),
    "runtime/session_socket.py": ("session socket", "users/test_peers.py::test_a_connection_of_theirs_is_closed"),
    "runtime/terminal_process.py": (OWN,),
    "safe_files.py": ("report", "runtime folder", "users/test_races.py::test_a_pipe_takes_the_place_of_a_source"),
    "terminal/debugger/prompt.py": ("history of a prompt",),
    "terminal/folded_answers.py": ("picture of stacks",),
    "terminal/kept_session.py": ("log of a kept session", NULL),
    "transport/runtime_folder.py": (
        "runtime folder",
        "runtime folder in HOME",
        "users/test_races.py::test_the_runtime_folder_is_replaced_before_it_is_used",
    ),
    "transport/stdio.py": (OWN,),
    "transport/tcp.py": (TCP, OWN),
    "transport/unix.py": (
        "folder of a driver",
        "users/test_peers.py::test_what_they_serve_is_sent_nothing",
    ),
    "env_file.py": (NAMED,),
    "private_listener.py": (
        "socket of raydap",
        "users/test_races.py::test_a_link_takes_the_place_of_a_new_socket",
    ),
}
"""For each module the rows of user_files.TABLE, the tests, or the reason why another user cannot interfere."""


def opens_something(path: Path) -> bool:
    """Return whether a module uses a function that makes or reads a file, folder or socket."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        function = node.func if isinstance(node, ast.Call) else node
        if isinstance(node, ast.Call) and isinstance(function, ast.Name) and function.id in {*CALLS, "open"}:
            return True
        if isinstance(function, ast.Attribute):
            is_module = ast.unparse(function.value) in ("os", "tokenize")
            if function.attr in CALLS and (is_module or isinstance(node, ast.Call)):
                return True
            if function.attr == "open" and is_module:
                return True
    return False


def test_each_module_that_opens_something_is_in_the_inventory() -> None:
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if opens_something(path)}
    assert found == set(INVENTORY)


def test_what_covers_them_exists() -> None:
    rows = {row.name for row in TABLE}
    covers = {cover for covers in INVENTORY.values() for cover in covers} - rows - REASONS
    assert [cover for cover in covers if not is_test(cover)] == []
    assert rows <= {cover for covers in INVENTORY.values() for cover in covers}


def is_test(name: str) -> bool:
    """Return whether there is a test of this name, `FILE::FUNCTION` below tests/."""
    file, _, function = name.partition("::")
    path = TESTS / file
    return path.is_file() and f"\ndef {function}(" in path.read_text(encoding="utf-8")
