import pytest

from raydap.core.errors import Code, ProblemError
from raydap.core.ids import FIRST, LAST, Ids
from raydap.protocol.ids import Kind
from raydap.protocol.types import LocalId, WorkerKey

W1, W2 = WorkerKey("w1"), WorkerKey("w2")
ONE = LocalId(1)


def test_handles_of_all_kinds_and_workers_come_from_one_counter() -> None:
    ids = Ids()
    one, two = ids.scope(W1), ids.scope(W2)
    handles = [one.up(Kind.FRAME, ONE), two.up(Kind.FRAME, ONE), one.up(Kind.VARIABLES, ONE), ids.new()]
    assert handles == [FIRST, FIRST + 1, FIRST + 2, FIRST + 3]


def test_down_is_the_way_back() -> None:
    ids = Ids()
    scope = ids.scope(W1)
    target = ids.down(Kind.FRAME, scope.up(Kind.FRAME, LocalId(0)))
    assert (target.kind, target.worker, target.local, target.scope) == (Kind.FRAME, W1, 0, scope)


def test_the_same_id_has_the_same_handle_while_its_scope_is_open() -> None:
    ids = Ids()
    scope = ids.scope(W1)
    handle = scope.up(Kind.FRAME, ONE)
    assert scope.up(Kind.FRAME, ONE) == handle
    assert scope.up(Kind.VARIABLES, ONE) != handle
    scope.close()
    assert ids.scope(W1).up(Kind.FRAME, ONE) != handle


def test_closing_a_scope_frees_what_is_in_it_and_nothing_else() -> None:
    ids = Ids()
    worker, other = ids.scope(W1), ids.scope(W2)
    stop = worker.open()
    thread, frame = worker.up(Kind.THREAD, ONE), stop.up(Kind.FRAME, ONE)
    elsewhere = other.up(Kind.FRAME, ONE)
    stop.close()
    assert stop.closed
    assert not worker.closed
    assert ids.down(Kind.THREAD, thread).local == 1
    with pytest.raises(ProblemError):
        ids.down(Kind.FRAME, frame)
    inner = worker.open().open()
    deep = inner.up(Kind.FRAME, ONE)
    worker.close()
    assert inner.closed
    for kind, handle in ((Kind.THREAD, thread), (Kind.FRAME, deep)):
        with pytest.raises(ProblemError):
            ids.down(kind, handle)
    assert ids.down(Kind.FRAME, elsewhere).worker == W2
    assert len(ids) == 1


def test_scopes_that_are_closed_are_not_kept() -> None:
    worker = Ids().scope(W1)
    for _ in range(100):
        worker.open().close()
    assert len(worker._inner) == 1


def test_what_is_stale_is_told_apart_from_what_was_never_given_out() -> None:
    ids = Ids()
    scope = ids.scope(W1)
    handle = scope.up(Kind.FRAME, ONE)
    scope.close()
    with pytest.raises(ProblemError, match=rf"frame id {handle} is no longer valid") as stale:
        ids.down(Kind.FRAME, handle)
    assert stale.value.problem.code is Code.STALE_ID
    for never in (0, -1, 1, FIRST - 1, handle + 1, str(handle), True, None, 1000.0, [handle]):
        with pytest.raises(ProblemError, match="not one that raydap gave out"):
            ids.down(Kind.FRAME, never)


def test_a_handle_of_another_kind_is_none_of_this_kind() -> None:
    ids = Ids()
    handle = ids.scope(W1).up(Kind.FRAME, ONE)
    with pytest.raises(ProblemError, match="thread id"):
        ids.down(Kind.THREAD, handle)


def test_after_the_last_handle_there_is_no_other() -> None:
    ids = Ids()
    ids._next = LAST
    assert ids.new() == LAST == 2**31 - 1
    with pytest.raises(OverflowError, match="has to be started again"):
        ids.new()
