"""The start of an agent in a program before the program's first line; runs in the program and its Pythons.

The Pythons that the program starts (python_commands.py) may be older than the versions that raydap supports.

A program that raydap launches calls that raydap at once. A program of `raydap run --wait` waits until a raydap debugs
it. Any other program begins at once, and its agent starts when `ray.init` has joined a cluster, because the cluster is
not known earlier. A program in a Ray Debug Terminal then waits for its session (terminal_session.py).

Python imports a module of this name when it begins, from a folder that raydap adds to PYTHONPATH
(runtime/prepared_environment.py). So the program's command line, `__main__` and tracebacks are the same as without
raydap. raydap's additions to the environment are removed at once, so that no other process inherits them. In a Ray
Debug Terminal they are removed when the program imports `ray`: until then it may start the user's program, as
`poetry run` does. Then a sitecustomize of the user's own is imported.

This file imports only modules that Python has imported already, except where it cannot avoid it (light_start.py): it
runs in each of the many Pythons that a program starts.
"""

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any


def start_agent() -> None:
    """Remove raydap's variables, run an idle agent's modules, and start the agent if raydap has sent settings."""
    folder = os.path.dirname(os.path.abspath(__file__))
    settings = from_json(os.environ.pop("RAYDAP_AGENT", "{}"))
    sys.path[:] = [each for each in sys.path if os.path.abspath(each) != folder]
    is_off = os.environ.get("RAYDAP") == "off"
    terminal = "" if settings or is_off else os.environ.get("RAYDAP_TERMINAL", "")
    if not terminal:
        restore_environment(folder, settings)
    # A program may start a Python that is older than raydap supports.
    if is_off or sys.version_info < (3, 10):
        return
    # `site` imports this file while `site` itself is being imported. pydevd, in a thread of the agent, imports `site`,
    # too: it would wait for the end of the first import, which waits for pydevd.
    vars(sys.modules["site"].__spec__)["_initializing"] = False
    sources = os.path.dirname(folder)
    if settings.get("temporary"):
        remove_at_exit(sources)
    idle, rest, driver = installers(sources)
    own = idle()
    agent = own.agent
    children = settings.get("children", True)
    own.agent_children.configure({"CHILDREN": children, "AT_START": folder})
    own.light_start.run_rest = rest
    setup = RayFinder(driver, settings.get("raydap", ""), sources, children, terminal)
    sys.meta_path.insert(0, setup)
    identity = settings.get("identity") or {"worker_type": "DRIVER", "node_ip": os.uname().nodename}
    if settings.get("wait"):
        agent.load()
        setup.raydap = own.driver_agent.wait_for_raydap(settings["folder"], identity)
    elif settings:
        agent.start(settings["folder"], identity, settings["raydap"])
    debugger = agent.current_debugger()
    if debugger is not None:
        own.first_frame.trace_program(debugger)


def restore_environment(folder: str, settings: "dict[str, Any]") -> None:
    """Remove raydap's variables, and this folder from PYTHONPATH."""
    os.environ.pop("RAYDAP_TERMINAL", None)
    given = os.environ.pop("PYTHONPATH", "").split(os.pathsep)
    left = [each for each in given if os.path.abspath(each) != folder]
    own_path = settings.get("pythonpath", os.pathsep.join(left) if left else None)
    if own_path is not None:
        os.environ["PYTHONPATH"] = own_path


def from_json(text: str) -> "dict[str, Any]":
    """Do what json.loads does, with the C function that it uses (json/scanner.py)."""
    try:
        from _json import make_scanner
    except ImportError:
        import json

        value: dict[str, Any] = json.loads(text)
        return value

    class Settings:
        strict = True
        object_hook = object_pairs_hook = parse_constant = None
        parse_float, parse_int = float, int

    found: dict[str, Any] = make_scanner(Settings)(text, 0)[0]  # type: ignore[arg-type]
    return found


def installers(sources: str) -> "list[Callable[[], Any]]":
    """Return functions that install the idle agent, the rest of an agent, and the driver's part.

    Each returns the agent's package.
    """
    names: dict[str, Any] = {}
    loader, *parts = start_code(sources)
    exec(loader, names)
    return [lambda part=part: names["install"]("_raydap_agent", marshal.loads(part)) for part in parts]  # type: ignore[misc]


def start_code(sources: str) -> "tuple[CodeType, bytes, bytes, bytes]":
    """Return the code of loader.py, and the modules of the idle agent, the rest of an agent, and the driver's part.

    The modules are marshalled lists. All come from one file beside Python's own compiled files, if that file is as new
    as the sources. Otherwise compile the sources, and write the file.
    """
    external: Any = sys.modules["_frozen_importlib_external"]
    path = external.cache_from_source(os.path.join(sources, "start_code.py"))[: -len("pyc")] + "marshal"
    code: tuple[CodeType, bytes, bytes, bytes]
    try:
        with open(path, "rb") as file:
            data = file.read()
        size = len(external.MAGIC_NUMBER)
        if data[:size] == external.MAGIC_NUMBER:
            versions, code = marshal.loads(data[size:])
            for name, version in versions.items():
                status = os.stat(os.path.join(sources, name))
                if (status.st_mtime_ns, status.st_size) != version:
                    break
            else:
                return code
    except (OSError, EOFError, ValueError, TypeError):
        pass  # The file does not exist yet, or is damaged.
    names: dict[str, Any] = {}
    with open(os.path.join(sources, "bundle.py"), encoding="utf-8") as source:
        exec(compile(source.read(), "<raydap agent>", "exec"), names)
    data = names["cache_start_code"](sources, path)
    _, code = marshal.loads(data[len(external.MAGIC_NUMBER) :])
    return code


class RayFinder:
    """A finder that prepares the driver's part when the program imports `ray` (driver_setup.py)."""

    def __init__(self, load: "Callable[[], Any]", raydap: str, sources: str, children: bool, terminal: str) -> None:
        self.load = load
        """Installs the driver's part."""
        self.terminal = terminal
        """As in DriverSetup."""
        self.raydap = raydap
        """As in DriverSetup. If the program waits for a raydap, start_agent sets it."""
        self.sources = sources
        """The `folder` of DriverSetup."""
        self.children = children
        """As in DriverSetup."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> "Any":
        """Find `ray` through a DriverSetup, once. Return None for other modules."""
        if name != "ray":
            return None
        finders: list[Any] = sys.meta_path
        finders.remove(self)
        if self.terminal:
            restore_environment(os.path.join(self.sources, "at_start"), {})
        try:
            setup = self.load().driver_setup.DriverSetup(self.raydap, self.sources, self.children, self.terminal)
            finders.insert(0, setup)
            return setup.find_spec(name)
        except Exception as error:
            sys.stderr.write(f"raydap cannot debug the workers of this program: {error!r}\n")
            return None


def remove_at_exit(folder: str) -> None:
    """Remove the folder, which job_start.py has made, when the program ends. Forked children keep it."""
    import atexit

    pid = os.getpid()

    def remove() -> None:
        if os.getpid() == pid:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)


# for_cluster/sitecustomize.py runs this file for its functions.
if __name__ == "sitecustomize":
    try:
        start_agent()
    except KeyboardInterrupt:
        # The program has not begun, so Python's traceback would only show raydap's code. End by the signal without it.
        import signal

        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except Exception as error:
        # The program runs without a debugger rather than not at all.
        sys.stderr.write(f"raydap cannot debug this program: {error!r}\n")
    own = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise  # The user's own sitecustomize has failed. Python reports this as it does without raydap.
        # The user has none. The running import of this file needs its entry in sys.modules.
        sys.modules["sitecustomize"] = own
