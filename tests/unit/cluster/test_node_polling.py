"""When the nodes of a cluster are asked for, and told."""

import asyncio

from raydap.cluster.node_polling import NodePolling
from raydap.core.errors import Code, Problem, ProblemError
from raydap.core.events import NodesAlive

ONE, TWO = {"n1": "10.0.0.1"}, {"n1": "10.0.0.1", "n2": "10.0.0.2"}


def test_only_changes_are_told() -> None:
    told: list[NodesAlive] = []
    answers: list[dict[str, str] | None] = [ONE, ONE, None, TWO, {}]

    async def ask() -> dict[str, str]:
        answer = answers.pop(0)
        if answer is None:
            raise ProblemError(Problem(Code.DASHBOARD_UNREACHABLE, "It does not answer."))
        return answer

    async def main() -> None:
        polling = NodePolling(ask, told.append, 0.0)
        while answers:
            await polling.poll()

    asyncio.run(main())
    assert told == [NodesAlive(ONE), NodesAlive(TWO), NodesAlive({})]


def test_there_is_a_pause_after_each_question() -> None:
    asked: list[None] = []

    async def ask() -> dict[str, str]:
        asked.append(None)
        return ONE

    async def main() -> None:
        polling = NodePolling(ask, lambda event: None, 1000.0)
        for _ in range(3):
            await polling.poll()

    asyncio.run(main())
    assert len(asked) == 1
