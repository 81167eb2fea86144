"""Foreign text is made safe before it reaches a terminal. Only the printer and its consoles write to a terminal."""

import ast
import json
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raydap import safe_output
from raydap.cli import cluster_command, doctor, options, terminal_command
from raydap.client.dap_connection import SessionError
from raydap.client.joining import SessionTarget
from raydap.doctor.finding import Finding
from raydap.errors import Code, Problem, ProblemError
from raydap.hub import directions
from raydap.hub.hub_job import Hub
from raydap.hub.machine_status import ClusterStatus, HubStatus, MachineStatus, PausedStatus, SessionStatus
from raydap.presentation import safe_text
from raydap.report.report_files import ReportFiles
from raydap.report.unattended import Reporting
from raydap.report.watch_arguments import Watch
from raydap.terminal import screen, status_lines
from raydap.terminal.debugger.printing import Output

PACKAGE = Path(__file__).parents[2] / "adapter" / "raydap"

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b1;1H\u202egnp.exe\u2066\u2028\U000e0041x\nerror: a line of raydap's\rover it"

FORBIDDEN = ("\x1b", "\x07", "\x9b", "\r", "\u202e", "\u2066", "\u2028", "\U000e0041")


def assert_safe(text: str) -> None:
    assert [character for character in FORBIDDEN if character in text] == []
    assert "\nerror: a line" not in text


@given(st.text())
def test_one_line_of_any_text_is_one_line(text: str) -> None:
    shown = safe_text.one_line(text)
    assert len(shown.splitlines()) <= 1
    assert safe_text.visible(shown) == shown


@given(st.text(), st.sampled_from(["\x85", "\u202e", "\U000e0041", "\x7f", "\u2028", ""]))
def test_json_keeps_its_value(text: str, unsafe: str) -> None:
    shown = safe_text.json_text(json.dumps(text + unsafe, ensure_ascii=False))
    assert json.loads(shown) == text + unsafe
    assert unsafe == "" or unsafe not in shown


def test_output_of_a_program_keeps_colours_and_progress_bars_only() -> None:
    kept = "\x1b[1;31mred\x1b[0m\r 50%\n"
    assert safe_text.program_output(kept) == kept
    assert safe_text.program_output("\x1b[2J\x1b]0;t\x07") == "\ufffd[2J\ufffd]0;t\ufffd"


def test_the_log_begins_a_line_for_each_record_only() -> None:
    record = logging.LogRecord("raydap", logging.WARNING, "", 0, "the worker %s", (EVIL,), None)
    assert_safe(safe_output.LogFormatter("%(message)s").format(record))


def test_status(capsys: pytest.CaptureFixture[str]) -> None:
    paused = PausedStatus("w", EVIL, 1, "10.0.0.7", 5, False)
    cluster = ClusterStatus("http://127.0.0.1:8265", EVIL, True, None, jobs=[EVIL], paused=[paused], problem=EVIL)
    hub = HubStatus(EVIL, 1, None, None, [EVIL])
    session = SessionStatus(1, "adapter", EVIL, 0.0, [EVIL])
    options.print_result(status_lines.render(MachineStatus([hub], [session], [cluster], EVIL)))
    assert_safe(capsys.readouterr().out)


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    doctor.show(screen.console(), [Finding("check", "error", EVIL, EVIL, EVIL)], True)
    assert_safe(capsys.readouterr().out)


def test_report(capsys: pytest.CaptureFixture[str]) -> None:
    reporting: Any = Reporting(Watch(), SessionTarget(), ReportFiles("x", None, None), None)  # type: ignore[arg-type]
    reporting._print_event(f"Trainer failed: ValueError: {EVIL}")
    assert_safe(capsys.readouterr().err)


def test_errors_of_commands(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused() -> int:
        raise SessionError(f"NameError: {EVIL}")

    with pytest.raises(SystemExit):
        terminal_command.run(refused(), None, False)
    assert_safe(capsys.readouterr().err)

    async def close() -> None:
        pass

    async def resolve(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(client=lambda _: SimpleNamespace(close=close))

    async def failed(_: Any) -> None:
        raise ProblemError(Problem(Code.HUB_FAILED, "The hub does not serve.", EVIL))

    monkeypatch.setattr(cluster_command, "resolve", resolve)
    assert cluster_command.run(None, failed) == 1
    assert_safe(capsys.readouterr().err)


def test_a_table_has_one_line_for_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    screen.console().print(screen.table(["A", "B"], [["alive", EVIL]], 200, ("B",), ()))
    shown = capsys.readouterr().out
    assert_safe(shown)
    assert len(shown.splitlines()) == 2


def test_json_of_commands(capsys: pytest.CaptureFixture[str]) -> None:
    screen.print_json({"name": EVIL})
    shown = capsys.readouterr().out
    assert_safe(shown)
    assert json.loads(shown) == {"name": EVIL}


def test_the_place_of_a_stop(capsys: pytest.CaptureFixture[str]) -> None:
    Output(screen.console()).place(EVIL, EVIL, "x = 1")
    assert_safe(capsys.readouterr().out)


def test_commands_to_paste_run_nothing_of_the_clusters() -> None:
    hub = Hub("raydap-1", "127.0.0.1", 4711, "a;$(evil)", "b`evil`\nevil")
    assert directions.tunnels(hub) == [
        "ssh -N -L 4711:127.0.0.1:4711 USER@'a;$(evil)'",
        f"kubectl port-forward pod/'b`evil`{safe_text.LINE_BREAK}evil' 4711:4711",
    ]


WRITING = {"print", "Console", *(f"sys.{name}.write" for name in ("stdout", "stderr", "__stdout__", "__stderr__"))}


def writes(tree: ast.AST) -> list[str]:
    """Return the calls that write to standard output or standard error."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        is_write = called in WRITING or called.endswith((".echo", ".secho", ".Console", ".print_exc"))
        is_log = called == "logging.basicConfig" and not any(word.arg == "handlers" for word in node.keywords)
        if is_write or is_log:
            found.append(called)
    return found


WRITERS = {"safe_output.py", "terminal/screen.py"}

OF_OTHER_PROCESSES = ("inworker/", "cluster/")
"""These packages write to a worker's output, or to a pipe of raydap."""


def test_nothing_else_writes_to_the_terminal() -> None:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name not in WRITERS and not name.startswith(OF_OTHER_PROCESSES):
            calls = writes(ast.parse(path.read_text(encoding="utf-8")))
            found.update({name: calls} if calls else {})
    assert found == {}, "print by raydap.safe_output, or by a console of raydap.terminal.screen"
