"""The rules for the names and values of the environment variables of Ray's debugger.

Source: ray/util/rpdb.py, which compares RAY_DEBUG with "1" and "legacy", and RAY_DEBUG_POST_MORTEM with "1".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from raydap.analysis.ray_settings import DEBUG, POST_MORTEM, VALUES
from raydap.lsp.analysis.findings import Edit, Fix, RuleFinding, TextSpan

NAME = "ray-debug-name"
VALUE = "ray-debug-value"
LEGACY = "ray-debug-legacy"

_OTHERS = ("RAY_DEBUG_BUILD", "RAY_DEBUG_DISABLE_MEMORY_MONITOR")
"""Variables of Ray that begin like those of its debugger and have nothing to do with it."""

_TRUE = ("true", "yes", "on", "enable", "enabled", "y", "t", "1")
"""Values in place of which the user probably needs "1"; for any other wrong value the fix is "0"."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable that a file sets."""

    name: str
    """The name of the variable."""
    name_span: TextSpan
    """The place of the name, with its quotation marks."""
    value: str | None
    """The value as text; None if it is not a constant."""
    value_span: TextSpan
    """Used only if `value` is not None."""
    is_text: bool = True
    """Whether the value is a `str`; false for a constant of another type."""
    quote: str = '"'
    """The quotation mark of the name in the source; "" if the name is a keyword argument."""
    siblings: frozenset[str] = frozenset()
    """The names that are set together with this one, and that a fix must not repeat."""
    is_shared: bool = False
    """Whether the statement assigns the value to other targets, too."""


def check(variable: Variable) -> Iterator[RuleFinding]:
    """Yield the findings about one variable, for a Python file or a launch.json."""
    name = variable.name
    if name not in VALUES:
        if name not in _OTHERS:
            yield from _check_name(variable)
        return
    if variable.value is None:
        return
    known = VALUES[name]
    if variable.value == "legacy" and name == DEBUG:
        text = (
            "RAY_DEBUG=legacy switches to Ray's old debugger: breakpoint() then waits for `raydap debug` or "
            "`ray debug` in a terminal, and an editor cannot attach."
        )
        yield RuleFinding(LEGACY, variable.value_span, text, _set(variable, "1", "Use Ray's current debugger"))
    elif variable.value not in known:
        allowed = ", ".join(f'"{one}"' for one in known)
        effect = "breakpoint() does nothing" if name == DEBUG else "no worker stops at an exception"
        text = f'"{variable.value}" is not a valid value of {name}, so {effect}. Valid values: {allowed}.'
        value = "1" if variable.value.strip().lower() in _TRUE else "0"
        yield RuleFinding(VALUE, variable.value_span, text, _set(variable, value, f'Use "{value}"'))
    elif not variable.is_text:
        text = f'The value of {name} must be a string: "{variable.value}".'
        fix = _set(variable, variable.value, f'Use "{variable.value}"')
        yield RuleFinding(VALUE, variable.value_span, text, fix)


def _check_name(variable: Variable) -> Iterator[RuleFinding]:
    name = variable.name
    close = get_close_matches(name.upper(), VALUES, 1, 0.85)
    if not close and not name.upper().startswith(DEBUG):
        return
    right = close[0] if close else POST_MORTEM if "MORTEM" in name.upper() else DEBUG
    text = f"Ray does not read {name}. The variables of its debugger are {DEBUG} and {POST_MORTEM}."
    quoted = f"{variable.quote}{right}{variable.quote}"
    fix = Fix(f"Use {right}", (Edit(variable.name_span, quoted if variable.quote else right),))
    is_sure = bool(close) and right not in variable.siblings
    yield RuleFinding(NAME, variable.name_span, text, (fix,) if is_sure else ())


def _set(variable: Variable, value: str, title: str) -> tuple[Fix, ...]:
    if variable.is_shared:
        return ()
    quote = variable.quote or '"'
    return (Fix(title, (Edit(variable.value_span, f"{quote}{value}{quote}"),)),)
