"""A fix leaves nothing to report, and is offered only if it changes nothing else."""

import ast

import pytest

from raydap.lsp.analysis.findings import Edit, RuleFinding
from raydap.lsp.examination import PythonExaminer
from support.rule_programs import FOUND, HEAD

TASK = "@ray.remote\ndef f():\n    breakpoint()\n"


def examine(text: str) -> list[RuleFinding]:
    findings = PythonExaminer().examine(text)
    assert findings is not None
    return findings


def only_finding(body: str, code: str) -> RuleFinding:
    (finding,) = [one for one in examine(HEAD + body + "\n") if one.code == code]
    return finding


def mended(body: str, code: str) -> str:
    """Return the program after the only fix of its only finding, without the head."""
    (fix,) = only_finding(body, code).fixes
    return apply(HEAD + body + "\n", fix.edits).removeprefix(HEAD)


def apply(text: str, edits: tuple[Edit, ...]) -> str:
    data = text.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    places = [
        (
            starts[edit.span.line - 1] + edit.span.column,
            starts[edit.span.end_line - 1] + edit.span.end_column,
            edit.text,
        )
        for edit in edits
    ]
    for start, end, new in sorted(places, reverse=True):
        data = data[:start] + new.encode() + data[end:]
    return data.decode()


@pytest.mark.parametrize("body", FOUND.values(), ids=FOUND.keys())
def test_each_fix_leaves_nothing_to_say(body: str) -> None:
    text = HEAD + body + "\n"
    for finding in examine(text):
        for fix in finding.fixes:
            mended = apply(text, fix.edits)
            ast.parse(mended)
            assert finding.code not in [one.code for one in examine(mended)], mended


@pytest.mark.parametrize(
    ("code", "body", "expected"),
    [
        (
            "pdb-in-worker",
            "@ray.remote\ndef f():\n    import pudb; pudb.set_trace()",
            "@ray.remote\ndef f():\n    breakpoint()\n",
        ),
        (
            "pdb-in-worker",
            "@ray.remote\ndef f():\n    import pudb; pudb.set_trace()\n    pudb.log",
            "@ray.remote\ndef f():\n    import pudb; breakpoint()\n    pudb.log\n",
        ),
        (
            "ray-debug-after-init",
            'def main():\n    ray.init()\n    os.environ["RAY_DEBUG"] = "1"  # why\n    print()',
            'def main():\n    os.environ["RAY_DEBUG"] = "1"  # why\n    ray.init()\n    print()\n',
        ),
        (
            "local-mode",
            "ray.init(num_cpus=(2), local_mode=True)",
            "ray.init(num_cpus=(2))\n",
        ),
        (
            "health-check-while-stopped",
            "@serve.deployment\n"
            "class D:\n    def check_health(self): pass\n    async def m(self):\n        breakpoint()",
            "@serve.deployment(health_check_timeout_s=3600)\n"
            "class D:\n    def check_health(self): pass\n    async def m(self):\n        breakpoint()\n",
        ),
        (
            "health-check-while-stopped",
            "@serve.deployment(num_replicas=2)\nasync def d():\n    breakpoint()",
            '@serve.deployment(num_replicas=2, ray_actor_options={"runtime_env": {"env_vars": '
            '{"RAY_SERVE_USER_HEALTH_CHECK_PROBE_MAX_FAIL": "0"}}})\nasync def d():\n    breakpoint()\n',
        ),
        ("result-not-awaited", TASK + "f.remote()", TASK + "ray.get(f.remote())\n"),
    ],
    ids=["import", "a needed import", "late", "parentheses", "health check", "probes", "dropped"],
)
def test_a_fix_changes_only_what_it_mends(code: str, body: str, expected: str) -> None:
    assert mended(body, code) == expected


NO_FIX = {
    "a late variable of a value that is set in between": (
        "ray-debug-after-init",
        'ray.init()\nvalue = "1"\nos.environ["RAY_DEBUG"] = value',
    ),
    "a late variable of a value that is read in between": (
        "ray-debug-after-init",
        'ray.init()\nprint(os.environ)\nos.environ["RAY_DEBUG"] = "1"',
    ),
    "a late variable of a call": ("ray-debug-after-init", 'ray.init()\nos.environ["RAY_DEBUG"] = str(1)'),
    "a late variable of a later import": (
        "ray-debug-after-init",
        'def main():\n    ray.init()\n    env.environ["RAY_DEBUG"] = "1"\nimport os as env\nmain()',
    ),
    "a late variable in another block": (
        "ray-debug-after-init",
        'if x:\n    ray.init()\n    if y:\n        os.environ["RAY_DEBUG"] = "1"',
    ),
    "a late variable with another target": (
        "ray-debug-after-init",
        'ray.init(x)\nos.environ["RAY_DEBUG"] = x[0] = "1"',
    ),
    "an answer that is used": ("input-in-worker", "@ray.remote\ndef f():\n    return input()"),
    "a question that acts": ("input-in-worker", "@ray.remote\ndef f():\n    input(g())"),
    "an own breakpoint": ("pdb-in-worker", "def breakpoint(): pass\n@ray.remote\ndef f():\n    pdb.set_trace()"),
    "a limit whose error is caught": (
        "timeout-while-stopped",
        TASK + "try: ray.get(f.remote(), timeout=5)\nexcept Exception: pass",
    ),
    "a limit whose error another function may catch": (
        "timeout-while-stopped",
        TASK + "ray.get(f.remote(), timeout=5)\nray.exceptions.GetTimeoutError",
    ),
    "a limit behind a parenthesis": ("timeout-while-stopped", TASK + "ray.get((f.remote()), timeout=5)"),
    "a deployment whose base may check its health": (
        "health-check-while-stopped",
        "@serve.deployment\nclass D(Base):\n    async def m(self):\n        breakpoint()",
    ),
    "a deployment with options of its actors": (
        "health-check-while-stopped",
        "@serve.deployment(ray_actor_options=options)\nasync def d():\n    breakpoint()",
    ),
    "a deployment behind a parenthesis": (
        "health-check-while-stopped",
        "class D:\n    async def m(self):\n        breakpoint()\nd = serve.deployment((D))",
    ),
    "a name that is set already": ("ray-debug-name", 'os.environ.update(RAY_DEBUG="1", RAY_DEBUGG="1")'),
    "a key that is set already": ("ray-debug-name", 'os.environ.update({"RAY_DEBUG": "1", "RAY_DEBUGG": "1"})'),
    "a value of other variables": ("ray-debug-value", 'os.environ["X"] = os.environ["RAY_DEBUG"] = "true"'),
    "a name that is not close": ("ray-debug-name", 'os.environ["RAY_DEBUG_LEVEL"] = "3"'),
    "tasks of a loop": ("result-not-awaited", TASK + "for i in range(3):\n    f.remote()"),
    "a generator": ("result-not-awaited", TASK + "    yield 1\nf.remote()"),
    "a task with several results": (
        "result-not-awaited",
        "@ray.remote(num_returns=2)\ndef f():\n    breakpoint()\nf.remote()",
    ),
    "a task with unknown options": ("result-not-awaited", TASK + "f.options(**options).remote()"),
    "a task before another one": ("result-not-awaited", TASK + "f.remote()\nother.remote()"),
}


@pytest.mark.parametrize(("code", "body"), NO_FIX.values(), ids=NO_FIX)
def test_an_edit_that_may_change_more_is_not_offered(code: str, body: str) -> None:
    assert only_finding(body, code).fixes == ()
