"""The completion in real shells, by pressing their Tab key."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.terminal import Terminal

pytestmark = pytest.mark.slow

COMMANDS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"], "fish": ["fish", "-i"]}
SCRIPTS = {
    "bash": 'eval "$(raydap completion bash)"',
    "zsh": 'autoload -U compinit; compinit -u; eval "$(raydap completion zsh)"',
    "fish": "raydap completion fish | source",
}

CLEAR_LINE = "\x15"


@pytest.fixture(params=list(COMMANDS))
def shell(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    """Start an interactive shell with raydap's completion, in a folder with a program."""
    name: str = request.param
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    (tmp_path / "train.py").touch()
    raydap = Path(sys.executable).parent
    environment = {
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
        "PATH": f"{raydap}:/usr/local/bin:/usr/bin:/bin:{Path(path).parent}",
        "PS1": "$ ",
    }
    with Terminal(COMMANDS[name], environment, columns=120) as terminal:
        try:
            terminal.line(f"cd {tmp_path}; {SCRIPTS[name]}; echo rea''dy")
            terminal.wait_for("^ready")
            yield terminal
        finally:
            # An interactive shell ignores SIGTERM.
            terminal.process.kill()


def test_what_a_user_types_is_completed(shell: Terminal) -> None:
    for typed, completed in (
        ("raydap doc", "raydap doctor x"),
        ("raydap ps --dash", "raydap ps --dashboard x"),
        ("raydap ps state:pau", "raydap ps state:paused x"),
        ("raydap ps state:paused,sto", "raydap ps state:paused,stopped x"),
        # The value follows the colon without a space.
        ("raydap ps act", "raydap ps actor:x"),
        ("raydap ps 'actor:T (state:pau", "raydap ps 'actor:T \\(state:paused' ?x"),
        ("raydap debug tr", "raydap debug train.py x"),
        ("raydap run --wait tr", "raydap run --wait train.py x"),
    ):
        shell.send(f"{typed}\t")
        # Letters that are typed while a shell completes must come after the completion.
        shell.send("x")
        shell.wait_for(completed)
        shell.send(CLEAR_LINE)


@pytest.mark.parametrize(
    ("typed", "listed"),
    [("raydap s", ("serve", "stacks", "status")), ("raydap ps state:", ("attaching", "held", "stopped"))],
    ids=["commands", "values"],
)
def test_what_could_follow_is_listed(shell: Terminal, typed: str, listed: tuple[str, ...]) -> None:
    shell.send(f"{typed}\t\t")
    shell.wait_for("(?s)" + "".join(rf"(?=.*\b{word}\b)" for word in listed))
