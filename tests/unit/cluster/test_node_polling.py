"""When changes of the nodes are reported."""

import asyncio

from raydap.cluster.dashboard.node_polling import NodePolling
from raydap.core.events import NodesAlive

ONE, TWO = {"n1": "10.0.0.1"}, {"n1": "10.0.0.1", "n2": "10.0.0.2"}


def test_only_changes_are_reported() -> None:
    reported: list[NodesAlive] = []
    answers: list[dict[str, str]] = [ONE, ONE, TWO, {}]
    several: list[bool] = []

    async def ask() -> dict[str, str]:
        return answers.pop(0)

    async def main() -> None:
        polling = NodePolling(ask, reported.append)
        while answers:
            await polling.poll()
            several.append(polling.several.is_set())

    asyncio.run(main())
    assert reported == [NodesAlive(ONE), NodesAlive(TWO), NodesAlive({})]
    assert several == [False, False, True, False]
