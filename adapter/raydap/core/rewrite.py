"""Replaces every id in a body, in place: a worker's ids by handles on the way up, handles by ids on the way down.

Where ids are is in protocol/ids.py, which is generated from the DAP schema.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from raydap.protocol.ids import RULES, Kind, Ref

Id = int | str
Translate = Callable[[Kind, Id], Id]
Relocate = Callable[[str], str]

# DAP: these begin at 1 and 0 means "none". Everywhere else 0 is an id; debugpy's first breakpoint has it.
_NONE_IS_ZERO = frozenset({Kind.VARIABLES, Kind.SOURCE, Kind.LOCATION})


@dataclass(slots=True)
class _Plan:
    """The rules of one type, sorted by what is to be done."""

    ids: list[tuple[str, Kind]] = field(default_factory=list)
    id_lists: list[tuple[str, Kind]] = field(default_factory=list)
    objects: list[tuple[str, "_Plan"]] = field(default_factory=list)
    object_lists: list[tuple[str, "_Plan"]] = field(default_factory=list)


def _plans() -> dict[str, _Plan]:
    # All plans exist before the first is filled, because types refer to each other and Source to itself.
    plans = {type_name: _Plan() for type_name in RULES}
    for type_name, rules in RULES.items():
        plan = plans[type_name]
        for name, rule in rules.items():
            if isinstance(rule, Kind):
                plan.ids.append((name, rule))
            elif isinstance(rule, Ref):
                (plan.object_lists if rule.is_list else plan.objects).append((name, plans[rule.type_name]))
            else:
                plan.id_lists.append((name, rule[0]))
    return plans


_PLANS = _plans()
_SOURCE = _PLANS["Source"]


def rewrite(value: Any, type_name: str, translate: Translate, relocate: Relocate | None = None) -> None:
    """Replaces every id in `value`, the loaded JSON of an object of this type, by `translate(kind, id)`.

    `relocate` gives the new path of every Source. `type_name` is one of RULES, or it is a KeyError. `translate` is
    called once for each id, for those of an object before those of the objects in it; only ids of modules can be
    strings. What it raises passes through and leaves `value` half rewritten. Values of a wrong type are left alone,
    because a worker can send anything.
    """
    todo: list[tuple[Any, _Plan]] = [(value, _PLANS[type_name])]
    # A growing list instead of recursion: however deep a worker nests its sources, the stack does not grow.
    for node, plan in todo:
        if not isinstance(node, dict):
            continue
        if plan is _SOURCE and relocate is not None and isinstance(path := node.get("path"), str):
            node["path"] = relocate(path)
        for name, kind in plan.ids:
            if (old := node.get(name)) is not None and _is_id(old, kind):
                node[name] = translate(kind, old)
        for name, kind in plan.id_lists:
            if isinstance(items := node.get(name), list):
                items[:] = [translate(kind, old) if _is_id(old, kind) else old for old in items]
        for name, inner in plan.objects:
            if name in node:
                todo.append((node[name], inner))
        for name, inner in plan.object_lists:
            if isinstance(items := node.get(name), list):
                todo.extend([(item, inner) for item in items])


def _is_id(value: object, kind: Kind) -> TypeGuard[Id]:
    # `type` and not isinstance: to Python a bool is an int, to DAP it is no id.
    if type(value) is int:
        return value != 0 or kind not in _NONE_IS_ZERO
    return kind is Kind.MODULE and isinstance(value, str)
