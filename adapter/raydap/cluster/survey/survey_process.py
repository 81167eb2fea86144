"""Gets a report from each node of a cluster (node_survey.py): an operation of raydap_process.py for node_reports.py.

The question has `session`, the name of Ray's session, and `nodes`, which has the question of node_survey.report for
each of Ray's ids of nodes. The answer has for each id the report with a `route`, or `{"error": ...}`. The route is ""
if this machine reaches ports of the node directly, else the reason why not, and None if that was not tried. The driver
and its actors end with this process, so nothing remains on the nodes.
"""

import asyncio
import socket
from collections.abc import Mapping
from typing import Any

from raydap.cluster.ray_process import ray_driver
from raydap.cluster.survey import node_survey

NODE_TIMEOUT_S = 40.0
"""Seconds for a node. A worker has to start there first, which takes one to five."""

_CONNECT_TIMEOUT_S = 3.0


async def ask_nodes(session: str, nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the answer of each node, by Ray's ids."""
    answers = await asyncio.gather(*(_ask(node_id, session, question) for node_id, question in nodes.items()))
    return dict(zip(nodes, answers, strict=True))


async def _ask(node_id: str, session: str, question: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return await asyncio.wait_for(_report(node_id, {"session": session, **question}), NODE_TIMEOUT_S)
    except asyncio.TimeoutError:
        return {"error": f"no answer within {NODE_TIMEOUT_S:g} s"}
    except Exception as error:
        return {"error": " ".join(f"{type(error).__name__}: {error}".split())[:300]}


async def _report(node_id: str, question: Mapping[str, Any]) -> dict[str, Any]:
    actor = ray_driver.start_actor(node_id, node_survey.RaydapSurvey, (node_survey, *node_survey.BY_VALUE))
    port = await actor.listen.remote(question["host"])
    route = await asyncio.to_thread(_try_to_connect, question["host"], port) if port else None
    return {"route": route, **await actor.report.remote(question)}


def _try_to_connect(host: str, port: int) -> str:
    try:
        socket.create_connection((host, port), _CONNECT_TIMEOUT_S).close()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def survey(question: dict[str, Any]) -> dict[str, Any]:
    """Join the cluster and query each node. The question is `{"session": ..., "nodes": ...}`, as in `ask_nodes`."""
    ray_driver.join(question["session"], "raydap doctor")
    return asyncio.run(ask_nodes(question["session"], question["nodes"]))
