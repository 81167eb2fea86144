"""Exception filters: at which exceptions workers stop. Each client has its own; workers get those of all clients."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from raydap.errors import Code, Problem, ProblemError

FILTERS = ("raised", "uncaught", "userUnhandled")
"""debugpy's exception filters (debugpy/adapter/clients.py, initialize_request)."""


@dataclass(frozen=True, slots=True)
class ExceptionFilters:
    """The filters of one client.

    The default applies if no client has set filters: without `uncaught`, Ray's post-mortem stops would be lost.
    """

    names: tuple[str, ...] = ("uncaught",)
    """The names of the filters, from FILTERS; empty if exceptions stop no worker."""
    conditions: dict[str, str] = field(default_factory=dict)
    """The conditions, by filter. A filter with a condition stops only if the condition is true."""
    rest: dict[str, object] = field(default_factory=dict)
    """The other arguments, such as `exceptionOptions`."""


def parse(arguments: dict[str, object]) -> ExceptionFilters:
    """Convert the arguments of setExceptionBreakpoints. Raises ProblemError (BAD_ARGUMENT)."""
    filters, options = arguments.get("filters", []), arguments.get("filterOptions") or []
    if not isinstance(filters, list) or not isinstance(options, list) or not all(map(_is_option, options)):
        text = 'The arguments "filters" and "filterOptions" must be arrays, of names and of objects with "filterId".'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    names = [*filters, *(option["filterId"] for option in options)]
    if any(name not in FILTERS for name in names):
        text = f'The argument "filters" may contain only {", ".join(FILTERS)}.'
        raise ProblemError(Problem(Code.BAD_ARGUMENT, text))
    conditions = {option["filterId"]: option.get("condition") for option in options}
    # A filter that is also listed without a condition always stops.
    needed = {name: text for name, text in conditions.items() if text and name not in filters}
    rest = {key: value for key, value in arguments.items() if key not in ("filters", "filterOptions")}
    return ExceptionFilters(tuple(dict.fromkeys(names)), needed, rest)


def together(clients: Iterable[ExceptionFilters]) -> dict[str, object]:
    """Return the arguments of setExceptionBreakpoints for workers, merged from all clients."""
    merged: dict[str, object] = {}
    names: dict[str, None] = {}
    for each in clients:
        names |= dict.fromkeys(each.names)
        for key, value in each.rest.items():
            others = merged.get(key)
            merged[key] = [*others, *value] if isinstance(value, list) and isinstance(others, list) else value
    return {**merged, "filters": list(names)}


def conditions(clients: Iterable[ExceptionFilters]) -> dict[str, str]:
    """Return the conditions by filter, merged from all clients.

    It is enough that the condition of one client is true. A filter that any client has set without a condition always
    stops, so it has none here.
    """
    wanted: dict[str, list[str]] = {}
    always: set[str] = set()
    for each in clients:
        always.update(name for name in each.names if name not in each.conditions)
        for name, text in each.conditions.items():
            wanted.setdefault(name, []).append(text)
    return {
        name: texts[0] if len(set(texts)) == 1 else " or ".join(f"({text}\n)" for text in dict.fromkeys(texts))
        for name, texts in wanted.items()
        if name not in always
    }


def _is_option(option: object) -> bool:
    if not isinstance(option, dict) or not isinstance(option.get("filterId"), str):
        return False
    return isinstance(option.get("condition", ""), str)
