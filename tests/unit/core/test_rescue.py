"""What it does in a worker is for tests/e2e/test_rescue.py and tests/ray/test_faults.py."""

import re
from typing import Any

from raydap.core import rescue, tuning


class Debugger:
    """Stands for pydevd's; `d` in the expressions."""


def test_it_is_one_expression_of_what_tuning_does() -> None:
    assert rescue.ENTER in tuning.enter(True)
    assert rescue.ENTER not in tuning.enter(False)
    assert compile(rescue.ENTER, "rescue", "eval")


def test_what_is_covered_is_uncovered_but_for_late_stops() -> None:
    covered = re.findall(r"^    d\.(\w+) = ", rescue._SOURCE, re.MULTILINE)
    assert len(covered) == 3
    debugger: Any = Debugger()
    for name in covered:
        setattr(debugger, name, None)
    for expression in rescue.LEAVE:
        eval(expression, {"d": debugger})
    assert vars(debugger) == {"do_wait_suspend": None}
