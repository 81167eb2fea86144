"""Each rule reports exactly the marked lines."""

import pytest

from raydap.lsp.analysis.findings import RuleFinding
from raydap.lsp.examination import PythonExaminer
from raydap.lsp.rules.rule_table import BY_CODE
from support.harmless_programs import NOT_FOUND
from support.rule_programs import FOUND, HEAD


def examine(text: str) -> list[RuleFinding]:
    findings = PythonExaminer().examine(text)
    assert findings is not None
    return findings


def expected(text: str) -> list[tuple[int, str]]:
    """Return the findings that the comments in a text name."""
    lines = enumerate(text.splitlines(), 1)
    comments = [(number, line.rpartition("# ")[2].strip()) for number, line in lines if "  # " in line]
    return [(number, code) for number, code in comments if code in BY_CODE]


@pytest.mark.parametrize("body", FOUND.values(), ids=FOUND.keys())
def test_found(body: str) -> None:
    text = HEAD + body + "\n"
    assert expected(text)
    assert [(finding.span.line, finding.code) for finding in examine(text)] == expected(text)


@pytest.mark.parametrize("body", NOT_FOUND.values(), ids=NOT_FOUND.keys())
def test_not_found(body: str) -> None:
    assert examine(HEAD + body + "\n") == []


def test_every_rule_is_tried() -> None:
    assert {code for body in FOUND.values() for _, code in expected(body)} == BY_CODE.keys()


def test_a_message_says_which_code_it_is_about() -> None:
    (finding,) = examine(HEAD + FOUND["a function two calls away"] + "\n")
    assert "`h`, called by `g`" in finding.message


def test_a_text_without_ray_is_not_even_parsed() -> None:
    assert PythonExaminer().examine("def (:") == []


@pytest.mark.parametrize(
    "text",
    ["import ray\ndef (:", "import ray\n\0", "import ray\nx = " + "(" * 10_000, "import ray\n'\ud800'"],
    ids=["syntax", "null", "deep", "surrogate"],
)
def test_a_text_that_python_does_not_compile_has_no_findings_of_its_own(text: str) -> None:
    assert PythonExaminer().examine(text) is None


def test_deep_expressions_and_long_texts_are_survived() -> None:
    deep = "import ray\nx = " + " + ".join(["1"] * 3000) + "\n"
    assert PythonExaminer().examine(deep) in ([], None)
    assert PythonExaminer().examine("import ray\n" + "x = 1\n" * 200_000) == []


@pytest.mark.parametrize("chain", [".f_back", "[2]", "()", ".__traceback__"])
def test_long_chains_of_a_value_are_survived(chain: str) -> None:
    text = f"import ray, sys\nx = sys._getframe(){chain * 900}\n@ray.remote\ndef f():\n    return x\n"
    assert PythonExaminer().examine(text) is not None


def test_a_byte_order_mark_is_not_in_the_way() -> None:
    findings = PythonExaminer().examine("\ufeffimport ray\nray.init(local_mode=True)\n")
    assert findings is not None
    assert [finding.code for finding in findings] == ["local-mode"]
