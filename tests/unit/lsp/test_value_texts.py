"""Texts about the values of one variable in many workers."""

import pytest

from raydap.lsp.live.value_texts import Value, value_text


def values(kind: str, *texts: str) -> list[Value]:
    return [Value(text, kind) for text in texts]


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (values("float", "0.31", "0.31"), "x = 0.31"),
        (values("float", "0.33", "0.29", "nan"), "x 0.29 to 0.33, 1 nan"),
        (values("float", "nan", "inf", "-inf", "nan"), "x 1 -inf, 1 inf, 2 nan"),
        (values("float", "nan", "nan"), "x = nan"),
        (values("float", "0.290001", "0.290002"), "x ≈ 0.29"),
        (values("int", "-3", "12", "7"), "x -3 to 12"),
        (values("int", "10000000000000000", "1"), "x 1 to 1e+16"),
        (values("float32", "np.float32(0.5)", "np.float32(1e-05)"), "x 1e-05 to 0.5"),
        (values("Tensor", "tensor(0.5, device='cuda:0')", "tensor(0.7, device='cuda:1')"), "x 0.5 to 0.7"),
        (values("Tensor", "tensor([1., 2.])", "tensor([1., 3.])"), "x tensor([1., 2.]) (1), tensor([1., 3.]) (1)"),
        (values("str", "'a'", "'b'", "'a'"), "x 'a' (2), 'b' (1)"),
        (values("str", "'1'", "'2'"), "x '1' (1), '2' (1)"),
        (values("bool", "True", "False"), "x True (1), False (1)"),
        (values("str", "'a'", "'b'", "'c'", "'d'"), "x 4 values"),
        (values("str", f"'{'a' * 99}'"), f"x = '{'a' * 38}…"),
        (values("str", "'a\n  b'"), "x = 'a b'"),
        (values("Color", "<Color.RED: 1>"), "x = <Color.RED: 1>"),
        (values("Trainer", "<__main__.Trainer object at 0x7f0012>"), ""),
        (values("list", "[<A at 0x1>]", "[<A at 0x2>]"), "x = [<A>]"),
        (values("module", "<module 'os' (frozen)>"), ""),
        (values("function", "<function f at 0x7f>"), ""),
        ([], ""),
    ],
)
def test_texts_of_values(known: list[Value], expected: str) -> None:
    assert value_text("x", known) == expected
