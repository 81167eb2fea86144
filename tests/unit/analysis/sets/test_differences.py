"""Short texts about the differences between two values."""

import pytest

from raydap.analysis.sets.differences import difference


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("{'lr': 0.1, 'steps': 3}", "{'lr': 0.2, 'steps': 3}", "['lr'] is 0.1 instead of 0.2"),
        ("{'lr': 0.1}", "{'lr': 0.1, 'eps': 1}", "['eps'] is missing"),
        ("{'a': [1, (2, 3)]}", "{'a': [1, (2, 4)], 'b': 5}", "['a'][1][1] is 3 instead of 4, ['b'] is missing"),
        ("[1, 2, 3]", "[1, 2]", "[2] is there"),
        ("Config(rate=0.5, m=X(a=1))", "Config(rate=0.5, m=X(a=2))", ".m.a is 1 instead of 2"),
        ("A(x=1)", "B(x=1)", "is A(x=1) instead of B(x=1)"),
        (
            "[1, 2, 3, 4, 5]",
            "[0, 0, 0, 0, 0]",
            "[0] is 1 instead of 0, [1] is 2 instead of 0, [2] is 3 instead of 0, and 2 more",
        ),
        ("'short'", "'shore'", "is 'short' instead of 'shore'"),
        ("<a long text that ends so>", "<a long text that ends thus>", "is …that ends so> instead of …that ends thus>"),
        (f"'{'x' * 100}'", "1", f"is '{'x' * 38}… instead of 1"),
        ("[" * 10_000, "[" * 9_999 + "]", None),
        ("same", "same", ""),
    ],
)
def test_differences(one: str, other: str, expected: str | None) -> None:
    found = difference(one, other)
    assert found if expected is None else found == expected
