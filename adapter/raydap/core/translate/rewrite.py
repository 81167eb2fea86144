"""Replaces every id in a body, in place: a worker's ids by handles for clients, handles by ids for workers.

protocol/id_fields.py, which is generated from the DAP schema, declares where ids are.
"""

from collections.abc import Callable
from typing import Any, TypeGuard

from raydap.protocol.id_fields import RULES, Kind, Ref

Id = int | str
Translate = Callable[[Kind, Id], Id]
Relocate = Callable[[str], str]

# In DAP these ids begin at 1, and 0 means "none". Of other kinds 0 is an id: debugpy's first breakpoint has it.
_NONE_IS_ZERO = frozenset({Kind.VARIABLES, Kind.SOURCE, Kind.LOCATION})


_Plan = list[tuple[str, Kind | None, "_Plan", bool]]
"""The properties with ids: the name; the kind of an id, else the plan of the objects; whether it is an array.

These are plain tuples, because they are unpacked for every object of every message.
"""


def _plans() -> dict[str, _Plan]:
    # All plans exist before the first is filled, because types refer to each other and Source to itself.
    plans: dict[str, _Plan] = {type_name: [] for type_name in RULES}
    for type_name, rules in RULES.items():
        for name, rule in rules.items():
            if isinstance(rule, Kind):
                plans[type_name].append((name, rule, [], False))
            elif isinstance(rule, Ref):
                plans[type_name].append((name, None, plans[rule.type_name], rule.is_list))
            else:
                plans[type_name].append((name, rule[0], [], True))
    return plans


_PLANS = _plans()
_SOURCE = _PLANS["Source"]


def rewrite(value: Any, type_name: str, translate: Translate, relocate: Relocate | None = None) -> None:
    """Replace every id in `value`, the loaded JSON of an object of this type, by `translate(kind, id)`.

    `relocate` returns the new path of a Source. `type_name` is a key of RULES; any other raises KeyError. `translate`
    is called once for each id, first for those of an object, then for those of the objects in it. Only ids of modules
    can be strings. An exception of `translate` passes through and leaves `value` half rewritten. Values of a wrong type
    stay unchanged, because a worker can send anything.
    """
    todo: list[tuple[Any, _Plan]] = [(value, _PLANS[type_name])]
    # A growing list instead of recursion: a worker may nest its sources deeper than Python's stack allows.
    for node, plan in todo:
        if not isinstance(node, dict):
            continue
        if plan is _SOURCE and relocate is not None and isinstance(path := node.get("path"), str):
            node["path"] = relocate(path)
        for name, kind, inner, many in plan:
            if name not in node:
                continue
            held = node[name]
            if kind is None:
                if not many:
                    todo.append((held, inner))
                elif isinstance(held, list):
                    todo.extend([(item, inner) for item in held])
            elif not many:
                if (held and type(held) is int) or _is_id(held, kind):
                    node[name] = translate(kind, held)
            elif isinstance(held, list):
                held[:] = [translate(kind, old) if _is_id(old, kind) else old for old in held]


def _is_id(value: object, kind: Kind) -> TypeGuard[Id]:
    # `type` instead of isinstance, because a bool is an int in Python and no id in DAP.
    if type(value) is int:
        return value != 0 or kind not in _NONE_IS_ZERO
    return kind is Kind.MODULE and isinstance(value, str)
