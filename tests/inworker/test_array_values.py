"""The values of large arrays in the variables of real workers."""

from collections.abc import Callable

import pytest

from raydap.inworker import calls
from support.debuggee import Debuggee
from support.entered import EnteredWorker
from support.variables import Variables

pytest.importorskip("numpy", reason="numpy is not installed here")

Start = Callable[..., tuple[EnteredWorker, Debuggee]]

SOURCE = """\
import numpy

class Refusing(numpy.ndarray):
    @property
    def shape(self):
        raise RuntimeError("it has none")

def step():
    small = numpy.arange(3.0)
    large = numpy.arange(50_000.0, dtype="f4").reshape(25_000, 2)
    large[7, 1] = numpy.nan
    flat = numpy.arange(2_000)
    objects = numpy.array([None] * 2_000)
    refusing = numpy.arange(2_000.0).view(Refusing)
    held = [large]
    breakpoint()
    return large

step()
"""


@pytest.fixture
def stopped(start: Start) -> Variables:
    worker, _ = start(SOURCE)
    _, _, thread = worker.stop()
    worker.client.request("evaluate", expression=calls.show_arrays(), context="clipboard")
    return Variables(worker, thread)


@pytest.mark.core
def test_a_large_array_is_shown_by_its_numbers(stopped: Variables) -> None:
    shown = stopped.texts()
    assert shown["large"].startswith("float32[25000,2] on cpu, min 0, max 49999, mean ")
    assert shown["large"].endswith(", 1 nan")
    assert shown["objects"] == "object[2000] on cpu"
    assert shown["small"] == "array([0., 1., 2.])"
    assert shown["refusing"].startswith("<__main__.Refusing object")
    assert shown["held"].startswith("[array([[0.0000e+00")


@pytest.mark.core
def test_its_rows_are_listed_a_part_at_a_time(stopped: Variables) -> None:
    large = stopped.locals()["large"]
    parts = stopped.parts(large)
    assert list(parts)[:9] == ["shape", "dtype", "device", "min", "max", "mean", "std", "nan", "inf"]
    assert list(parts)[9:] == ["[0:10000]", "[10000:20000]", "[20000:25000]"]
    assert (parts["shape"]["value"], parts["max"]["value"], parts["nan"]["value"]) == ("(25000, 2)", "49999.0", "1")
    ranges = stopped.parts(parts["[20000:25000]"])
    assert (len(ranges), next(iter(ranges)), ranges["[20000:20100]"]["value"]) == (50, "[20000:20100]", "100 rows")
    rows = stopped.parts(ranges["[20000:20100]"])
    assert (len(rows), rows["[20005]"]["value"]) == (100, "array([40010., 40011.], dtype=float32)")
    assert rows["[20005]"]["evaluateName"] == "large[20000:25000][0:100][5]"
    last = stopped.parts(stopped.parts(stopped.locals()["flat"])["[1900:2000]"])
    assert list(last)[-1] == "[1999]"


@pytest.mark.core
def test_an_element_can_be_changed(stopped: Variables) -> None:
    rows = stopped.parts(stopped.locals()["flat"])["[1900:2000]"]
    stopped.parts(rows)
    client = stopped.worker.client
    client.request("setVariable", variablesReference=rows["variablesReference"], name="[1999]", value="42")
    value = client.request("evaluate", expression="int(flat[1999])", frameId=stopped.frame, context="watch")
    assert value["result"] == "42"


@pytest.mark.core
def test_what_was_asked_for_is_its_repr(stopped: Variables) -> None:
    for context in ("repl", "watch", "clipboard"):
        answer = stopped.worker.client.request("evaluate", expression="large", frameId=stopped.frame, context=context)
        assert answer["result"].startswith("array([[0.0000e+00")
    hover = stopped.worker.client.request("evaluate", expression="large", frameId=stopped.frame, context="hover")
    assert hover["result"].startswith("float32[25000,2] on cpu")


@pytest.mark.core
def test_all_is_undone(stopped: Variables) -> None:
    assert stopped.worker.call(calls.leave(True)) == ""
    large = stopped.locals()["large"]
    assert large["value"].startswith("array([[0.0000e+00")
    assert "[0:10000]" not in stopped.parts(large)
