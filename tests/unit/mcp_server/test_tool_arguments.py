"""Arguments as models send them: with typos, numbers as text, and lists as text."""

from typing import Any

import pytest

from raydap.mcp_server.tool_arguments import (
    ArgumentError,
    GoCall,
    LookCall,
    StartCall,
    ToolArguments,
    ValuesCall,
    WaitCall,
    read,
)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        (WaitCall, {"seconds": "5"}, WaitCall(seconds=5.0)),
        (LookCall, {"frame": "2", "worker": None}, LookCall(frame=2)),
        (ValuesCall, {"expressions": "loss"}, ValuesCall(expressions=["loss"])),
        (ValuesCall, {"expressions": '["a", "b"]'}, ValuesCall(expressions=["a", "b"])),
        (ValuesCall, {"expressions": "x[0]"}, ValuesCall(expressions=["x[0]"])),
        (StartCall, {"program": "x.py", "on_error": "false"}, StartCall(program="x.py", on_error=False)),
        (StartCall, {"program": "x.py", "args": ""}, StartCall(program="x.py")),
    ],
)
def test_text_is_converted(kind: type[ToolArguments], given: dict[str, Any], expected: ToolArguments) -> None:
    assert read(kind, given) == expected


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        (GoCall, {"action": "next", "worker_set": "x"}, 'There is no argument "worker_set"; did you mean set?'),
        (GoCall, {"akshun": "next"}, "The arguments are: action, set, wait."),
        (GoCall, {"action": "contine"}, "did you mean continue?"),
        (GoCall, {}, "required field `action`"),
        (WaitCall, {"seconds": 600}, "seconds: Expected `float` <= 45.0."),
        (LookCall, {"frame": "first"}, "frame: Expected `int`, got `str`."),
        (LookCall, {"frame": -1}, "frame: Expected `int` >= 0."),
        (ValuesCall, {"expressions": []}, "expressions: Expected `array` of length >= 1."),
        (LookCall, {"names": [["x"]]}, "names: Expected `str`, got `array`."),
    ],
)
def test_a_mistake_is_named(kind: type[ToolArguments], given: dict[str, Any], expected: str) -> None:
    with pytest.raises(ArgumentError) as error:
        read(kind, given)
    assert expected in str(error.value)
