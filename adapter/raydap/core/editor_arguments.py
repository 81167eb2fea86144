"""The arguments of other Python debuggers, and the keys that editors add, translated into raydap's own arguments.

Editors send their whole configuration: VS Code adds `name`, `type` and `__sessionId`, Zed adds `cwd` to each attach,
and dape sends false for "not set". An argument of debugpy is translated if raydap can do the same. Any other is refused
by name, with the reason and with what to do instead.
"""

import json
import shlex
from collections.abc import Collection, Mapping

from raydap.errors import Code, Problem, ProblemError

_VSCODE_KEYS = {"name", "type", "request", "presentation", "preLaunchTask", "postDebugTask", "debugServer"}
_VSCODE_KEYS |= {"internalConsoleOptions", "serverReadyAction", "suppressMultipleSessionWarning", "restart", "noDebug"}
_VSCODE_KEYS |= {"windows", "linux", "osx", "consoleName", "consoleTitle"}
_EMACS_KEYS = {"host", "port", "dap-server-path", "program-to-start", "wait-for-port", "environment-variables"}
_EMACS_KEYS |= {"skip-debug-session", "output-filter-function", "startup-function", "adapterID", "server"}
# The Python Debugger extension adds these to a configuration of its own type that reaches raydap through `debugServer`.
_PYTHON_KEYS = {"debugOptions", "pythonPath", "debugAdapterPython", "debugLauncherPython", "purpose"}
# Ignored: raydap derives the client's system from the mapped paths (translate/paths.py), even before a client connects.
_PYTHON_KEYS |= {"clientOS"}
_EDITOR_KEYS = frozenset(_VSCODE_KEYS | _PYTHON_KEYS | _EMACS_KEYS)

_WITHOUT_EFFECT_IN_ATTACH = frozenset({"cwd", "python", "pythonArgs", "envFile", "console", "stopOnEntry"})
"""Arguments for the start of a program. Editors also add them to an attach, where they are ignored."""

_FOR_LAUNCH = ("program", "module", "args", "env", "submit")

_IN_A_FILE = "write the code into a file and name the file in `program`"
_ALL_RUN = "workers already run when raydap attaches to them; set a breakpoint where they should stop"
_NO_PROCESS = "raydap finds the workers itself; `workers` names debugpy processes by their host:port"
_NO_SERVER = (
    "raydap connects to debugpy, and debugpy cannot connect to raydap; `workers` names host:port of each process"
)
_NO_CONNECT = "`launch` starts the program itself; use `attach` to connect to a running debugpy"
_NO_TEMPLATES = "breakpoints in templates are not supported; leave it out"
REFUSED = {
    "code": _IN_A_FILE,
    "listen": _NO_SERVER,
    "processId": _NO_PROCESS,
    "django": _NO_TEMPLATES,
    "flask": _NO_TEMPLATES,
    "jinja": _NO_TEMPLATES,
    "pyramid": _NO_TEMPLATES,
    "gevent": "Ray workers do not run under gevent; leave it out",
    "sudo": "raydap starts programs as the user that it runs as; run raydap as the other user",
    "autoReload": "workers keep the code that they were started with; start the program again",
    "logToFile": "each worker's debugger would write a file on its own node; use --log-file for raydap's log",
    "rules": "raydap needs rules of its own for Ray's breakpoint(); justMyCode is supported",
    "steppingResumesAllThreads": "a step resumes its own thread only, so that no other thread's stop is lost",
}
"""debugpy's other options, and why each is refused. Their empty values are accepted, because editors send some."""

_REFUSED_IN_ATTACH = {"stopOnEntry": _ALL_RUN}

_REFUSED_IN_LAUNCH = {"connect": _NO_CONNECT}

_LONGEST = 40
"""Characters of a variable's name in an error message; the rest is cut off."""


def translate(arguments: Mapping[str, object], launches: bool, flags: Collection[str]) -> dict[str, object]:
    """Return the arguments that are raydap's own, and those that are unknown.

    `flags` are the arguments that can be false. Raises ProblemError (BAD_ARGUMENT).
    """
    for key, reason in (REFUSED | (_REFUSED_IN_LAUNCH if launches else _REFUSED_IN_ATTACH)).items():
        if arguments.get(key):
            raise _refusal(key, f"is not supported: {reason}")
    given = {
        key: value
        for key, value in arguments.items()
        if key not in _EDITOR_KEYS and key not in REFUSED and not key.startswith("__") and value is not None
    }
    # Emacs Lisp has one value for both "not set" and "false".
    given = {key: value for key, value in given.items() if value is not False or key in flags}
    if given.get("mode") == "debug":
        # Helix sends this key from its template.
        del given["mode"]
    if launches:
        _translate_python(given)
        _translate_args(given)
        _translate_env(given)
    else:
        _drop_program(given)
    _translate_connect(given)
    return given


def _translate_connect(given: dict[str, object]) -> None:
    """Turn debugpy's `connect` into one of the `workers`."""
    connect = given.pop("connect", None)
    if not connect:
        return
    port = connect.get("port") if isinstance(connect, dict) else None
    host = (connect.get("host") or "127.0.0.1") if isinstance(connect, dict) else None
    if type(port) not in (int, str) or not isinstance(host, str):
        raise _refusal("connect", 'must be an object with "port", and "host" if it is not 127.0.0.1')
    if "workers" in given or "dashboard" in given:
        raise _refusal(
            "connect",
            "names a debugpy process, so it cannot be combined with workers or dashboard; leave one of them out",
        )
    given["workers"] = [f"[{host}]:{port}" if ":" in host.strip("[]") and host[0] != "[" else f"{host}:{port}"]


def _translate_python(given: dict[str, object]) -> None:
    """Split a list, which in debugpy is the interpreter and its options."""
    python = given.get("python")
    if isinstance(python, list):
        if not python or not all(isinstance(part, str) for part in python):
            raise _refusal("python", "must be a string, or an array of strings with the interpreter first")
        given["python"] = python[0]
        further = given.get("pythonArgs", [])
        given["pythonArgs"] = [*python[1:], *further] if isinstance(further, list) else further


def _translate_args(given: dict[str, object]) -> None:
    """Split a string of arguments like a POSIX shell, without its expansions."""
    args = given.get("args")
    if isinstance(args, str):
        try:
            given["args"] = shlex.split(args)
        except ValueError:
            raise _refusal("args", "has a quote without its end") from None


def _translate_env(given: dict[str, object]) -> None:
    """Convert the numbers among the variables to text."""
    env = given.get("env")
    if not isinstance(env, dict):
        return
    for name, value in env.items():
        if value is not None and type(value) not in (str, int, float):
            shown = f", not {json.dumps(value)}" if isinstance(value, bool) else ""
            raise _refusal(f"env.{name[:_LONGEST]}", f"must be a string, a number or null{shown}")
    given["env"] = {name: None if value is None else str(value) for name, value in env.items()}


def _drop_program(given: dict[str, object]) -> None:
    for key in _WITHOUT_EFFECT_IN_ATTACH:
        given.pop(key, None)
    for key in _FOR_LAUNCH:
        if given.pop(key, None):
            raise _refusal(key, 'is for launch: attach starts no program; use "request": "launch", or leave it out')


def _refusal(name: str, what: str) -> ProblemError:
    return ProblemError(Problem(Code.BAD_ARGUMENT, f'The argument "{name}" {what}.'))
