"""Runs Ray's own code for raydap, in a process of its own. ray_query.py runs this file as a script.

raydap itself never runs Ray's code, because Ray's clients end the process when the GCS does not answer, print to
standard output, and prefer RAY_ADDRESS to their arguments.

The argument of the script is one of OPERATIONS. The first line of standard input is the question, a JSON object.
Standard output gets JSON objects, one per line: `{"answer": ...}`, or the lines that the operation yields. After an
error, `{"error": ...}`, the process ends.
"""

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

OPERATIONS = {
    "locate": "ray_process.clusters_here:locate",
    "clusters": "ray_process.clusters_here:all_here",
    "submit": "jobs.submit_process:submit",
    "survey": "survey.survey_process:survey",
    "legacy": "legacy.legacy_process:entries",
    "legacy_watch": "legacy.legacy_process:watch",
    "relay": "relay.relay_process:run",
}
"""The module and the function of each operation. The function gets the question, and returns the answer or yields
lines."""


def find(operation: str) -> Callable[[dict[str, Any]], Any]:
    """Return the function of an operation."""
    module, _, function = OPERATIONS[operation].partition(":")
    found: Callable[[dict[str, Any]], Any] = getattr(importlib.import_module(f"raydap.cluster.{module}"), function)
    return found


def main() -> None:
    """Run the operation that the first argument names."""
    # Only our lines may be on standard output. Modules of this folder must not hide modules that Ray imports.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path = [folder for folder in sys.path if os.path.abspath(folder or ".") != os.path.dirname(__file__)]

    def write(line: dict[str, Any]) -> None:
        out.write(json.dumps(line) + "\n")
        out.flush()

    try:
        # Unbuffered, because the operation reads what follows the first line.
        with open(0, "rb", buffering=0, closefd=False) as first:
            question = json.loads(first.readline())
        operation = find(sys.argv[1])
        import ray  # noqa: F401  # Makes the packages that Ray ships importable.

        result = operation(question)
        if isinstance(result, Iterator):
            for line in result:
                write(line)
        else:
            write({"answer": result})
    except BrokenPipeError:
        pass  # raydap has ended.
    except Exception as error:
        write({"error": " ".join(f"{type(error).__name__}: {error}".split())[:300]})


if __name__ == "__main__":
    main()
