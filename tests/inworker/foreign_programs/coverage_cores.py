"""Lines, branches and contexts that coverage measures in threads, subprocesses and forked children."""

import os
import subprocess
import sys
from pathlib import Path

import coverage

MEASURED = """\
import multiprocessing, subprocess, sys, threading

def in_thread(number):
    if number:
        return number
    return None

def in_child():
    total = 0
    for number in range(3):
        total += number

def generator():
    yield 1
    yield 2

class Closing:
    def __enter__(self):
        return self
    def __exit__(self, *_):
        return True

if __name__ == "__main__":
    thread = threading.Thread(target=in_thread, args=(1,))
    thread.start()
    thread.join()
    process = multiprocessing.get_context(sys.argv[1]).Process(target=in_child)
    process.start()
    process.join()
    with Closing():
        raise ValueError(list(generator()))
    subprocess.run([sys.executable, "other.py"], check=True)
"""
OTHER = """\
import sys
def run():
    if len(sys.argv) > 5:
        return 1
    return 2
run()
"""
SETTINGS = "[run]\nsource = .\nparallel = true\nconcurrency = thread, multiprocessing\nsigterm = true\ndisable_warnings = already-imported\n"
AT_START = "import coverage\ncoverage.process_startup()\n"
METHODS = [("ctrace", "fork"), ("ctrace", "spawn"), ("pytrace", "spawn")]
if sys.version_info >= (3, 12):
    METHODS += [("sysmon", "fork"), ("sysmon", "spawn")]

Path("measured.py").write_text(MEASURED)
Path("other.py").write_text(OTHER)
Path("at_start").mkdir()
Path("at_start", "sitecustomize.py").write_text(AT_START)
for core, method in METHODS:
    branch = "" if core == "sysmon" else "branch = true\n"
    Path("coveragerc").write_text(f"{SETTINGS}data_file = {core}-{method}\n{branch}")
    path = os.pathsep.join(["at_start", *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "COVERAGE_CORE": core, "PYTHONPATH": path}
    environment["COVERAGE_PROCESS_START"] = os.path.abspath("coveragerc")
    command = [sys.executable, "-m", "coverage", "run", "--rcfile=coveragerc", "measured.py", method]
    # Standard error ends when all processes of the command have ended. The last is multiprocessing's resource tracker,
    # whose data file must not be opened before.
    done = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True)
    sys.stderr.write(done.stderr)
    print(core, method, done.returncode)
    measured = {}
    for name in Path().glob(f"{core}-{method}.*"):
        data = coverage.CoverageData(str(name))
        try:
            data.read()
            found = {os.path.basename(file): (data.lines(file), data.arcs(file)) for file in data.measured_files()}
        except coverage.CoverageException:
            continue  # A process without lines, such as the resource tracker.
        for file, (lines, arcs) in found.items():
            measured.setdefault(file, (set(), set()))[0].update(lines)
            measured[file][1].update(arcs or [])
    for file, (lines, arcs) in sorted(measured.items()):
        print(file, sorted(lines), sorted(arcs))
