import copy
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from raydap.core.translate.rewrite import Id, rewrite
from raydap.protocol.id_fields import RULES, Kind, Ref, Rule

junk: st.SearchStrategy[Any] = st.none() | st.booleans() | st.floats(allow_nan=False) | st.lists(st.text(max_size=3))


def values(type_name: str, depth: int = 3) -> st.SearchStrategy[Any]:
    """Return objects of this type as a worker could send them: missing keys, values of wrong types, unknown keys."""
    keys = {key: junk | of_rule(rule, depth) for key, rule in RULES[type_name].items()}
    return st.fixed_dictionaries({}, optional={**keys, "unknown": junk, "line": st.integers()})


def of_rule(rule: Rule, depth: int) -> st.SearchStrategy[Any]:
    if isinstance(rule, Ref):
        inner = values(rule.type_name, depth - 1) if depth else junk
        return st.lists(inner | junk, max_size=3) if rule.is_list else inner
    if isinstance(rule, Kind):
        ids = st.integers(min_value=0)
        return ids | st.text(max_size=3) if rule is Kind.MODULE else ids
    return st.lists(st.integers(min_value=0) | junk, max_size=3)


bodies = st.sampled_from(sorted(RULES)).flatmap(lambda name: st.tuples(st.just(name), values(name)))


def bijection() -> tuple[Callable[[Kind, Id], Id], Callable[[Kind, Id], Id]]:
    """Return functions that map ids to handles, from one counter for all kinds as in the bridge, and back."""
    handles: dict[tuple[Kind, Id], int] = {}
    ids: dict[int, tuple[Kind, Id]] = {}

    def up(kind: Kind, old: Id) -> Id:
        handle = handles.setdefault((kind, old), 1000 + len(handles))
        ids[handle] = (kind, old)
        return handle

    def down(kind: Kind, handle: Id) -> Id:
        assert isinstance(handle, int)
        known, old = ids[handle]
        assert known is kind
        return old

    return up, down


@given(bodies)
def test_there_and_back_is_where_we_were(body: tuple[str, Any]) -> None:
    type_name, value = body
    before = copy.deepcopy(value)
    up, down = bijection()
    rewrite(value, type_name, up)
    rewrite(value, type_name, down)
    assert value == before


@given(bodies)
def test_only_ids_change(body: tuple[str, Any]) -> None:
    type_name, value = body
    before = copy.deepcopy(value)
    rewrite(value, type_name, lambda kind, old: old)
    assert value == before


@given(st.sampled_from(sorted(RULES)), st.recursive(junk, lambda inner: st.dictionaries(st.text(max_size=5), inner)))
def test_nothing_a_worker_sends_makes_it_raise(type_name: str, value: Any) -> None:
    before = copy.deepcopy(value)
    rewrite({key: value for key in RULES[type_name]}, type_name, lambda kind, old: old)
    assert value == before
