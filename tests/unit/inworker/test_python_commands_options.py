"""Which commands start a Python that imports raydap's sitecustomize (inworker/python_commands.py)."""

import os
import sys
from pathlib import Path

import pytest

from raydap.inworker.python_commands import imports_sitecustomize, is_python


@pytest.mark.parametrize(
    "args",
    [
        "",
        "program.py -I",
        "-u -B program.py -S",
        "-c exit() -E",
        "-cE -I",
        "-m package -I",
        "-mISE",
        "- -I",
        "-W error -X utf8 program.py",
        "-WE -XS program.py -I",
        "-X I -W S program.py",
        "--check-hash-based-pycs -I program.py",
        "-OOsP program.py",
    ],
)
def test_it_imports_it(args: str) -> None:
    assert imports_sitecustomize(args.split())
    assert imports_sitecustomize(map(os.fsencode, args.split()))


@pytest.mark.parametrize(
    "args", ["-I", "-S program.py", "-uE -c code", "-sS", "-W error -I", "-X utf8 -E", "-Werror -S", "--help -I"]
)
def test_it_ignores_it(args: str) -> None:
    assert not imports_sitecustomize(args.split())


@pytest.mark.parametrize(
    ("first", "imports"),
    [
        ("#!{python}", True),
        ("#! {python} -u", True),
        ("#!{python} -I", False),
        ("#!/usr/bin/env python3", True),
        ("#!/usr/bin/env -S python3 -u", True),
        ("#!/bin/sh", False),
        ("no script", False),
    ],
)
def test_the_options_of_a_script_are_those_of_its_first_line(first: str, imports: bool, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(first.format(python=sys.executable) + "\n")
    script.chmod(0o755)
    assert is_python([script], ["script", "-I"]) == imports
