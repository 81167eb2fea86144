import pytest

from raydap.core.model.handles import FIRST, LAST, Handles
from raydap.errors import Code, ProblemError
from raydap.protocol.id_fields import Kind
from raydap.protocol.types import LocalId, WorkerKey

W1, W2 = WorkerKey("w1"), WorkerKey("w2")
ONE = LocalId(1)


def test_handles_of_all_kinds_and_workers_come_from_one_counter() -> None:
    handles = Handles()
    one, two = handles.scope(W1), handles.scope(W2)
    given = [one.handle(Kind.FRAME, ONE), two.handle(Kind.FRAME, ONE), one.handle(Kind.VARIABLES, ONE), handles.new()]
    assert given == [FIRST, FIRST + 1, FIRST + 2, FIRST + 3]


def test_down_is_the_way_back() -> None:
    handles = Handles()
    scope = handles.scope(W1)
    target = handles.resolve(Kind.FRAME, scope.handle(Kind.FRAME, LocalId(0)))
    assert (target.kind, target.worker, target.local, target.scope) == (Kind.FRAME, W1, 0, scope)


def test_the_same_id_has_the_same_handle_while_its_scope_is_open() -> None:
    handles = Handles()
    scope = handles.scope(W1)
    handle = scope.handle(Kind.FRAME, ONE)
    assert scope.handle(Kind.FRAME, ONE) == handle
    assert scope.handle(Kind.VARIABLES, ONE) != handle
    scope.close()
    assert handles.scope(W1).handle(Kind.FRAME, ONE) != handle


def test_closing_a_scope_frees_what_is_in_it_and_nothing_else() -> None:
    handles = Handles()
    worker, other = handles.scope(W1), handles.scope(W2)
    stop = worker.open()
    thread, frame = worker.handle(Kind.THREAD, ONE), stop.handle(Kind.FRAME, ONE)
    elsewhere = other.handle(Kind.FRAME, ONE)
    stop.close()
    assert stop.closed
    assert not worker.closed
    assert handles.resolve(Kind.THREAD, thread).local == 1
    with pytest.raises(ProblemError):
        handles.resolve(Kind.FRAME, frame)
    inner = worker.open().open()
    deep = inner.handle(Kind.FRAME, ONE)
    worker.close()
    assert inner.closed
    for kind, handle in ((Kind.THREAD, thread), (Kind.FRAME, deep)):
        with pytest.raises(ProblemError):
            handles.resolve(kind, handle)
    assert handles.resolve(Kind.FRAME, elsewhere).worker == W2
    assert len(handles) == 1


def test_scopes_that_are_closed_are_not_kept() -> None:
    worker = Handles().scope(W1)
    for _ in range(100):
        worker.open().close()
    assert len(worker._inner) == 1


def test_what_is_stale_is_told_apart_from_what_was_never_given_out() -> None:
    handles = Handles()
    scope = handles.scope(W1)
    handle = scope.handle(Kind.FRAME, ONE)
    scope.close()
    with pytest.raises(ProblemError, match=rf"frame id {handle} is no longer valid") as stale:
        handles.resolve(Kind.FRAME, handle)
    assert stale.value.problem.code is Code.STALE_ID
    for never in (0, -1, 1, FIRST - 1, handle + 1, str(handle), True, None, 1000.0, [handle]):
        with pytest.raises(ProblemError, match="not one of raydap's"):
            handles.resolve(Kind.FRAME, never)


def test_a_handle_of_another_kind_is_none_of_this_kind() -> None:
    handles = Handles()
    handle = handles.scope(W1).handle(Kind.FRAME, ONE)
    with pytest.raises(ProblemError, match="thread id"):
        handles.resolve(Kind.THREAD, handle)


def test_after_the_last_handle_there_is_no_other() -> None:
    handles = Handles()
    handles._next = LAST
    assert handles.new() == LAST == 2**31 - 1
    with pytest.raises(OverflowError, match="start the session again"):
        handles.new()
