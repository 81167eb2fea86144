"""A real HTTP server that plays Ray dashboards, healthy or faulty."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]

_WAIT = 20.0

WORKER = {
    "worker_id": "ab" * 28,
    "ip": "10.0.0.7",
    "pid": 4321,
    "node_id": "cd" * 28,
    "worker_type": "WORKER",
    "debugger_port": 40001,
    "num_paused_threads": 1,
    "is_alive": True,
}


def listing(rows: list[Any], flat: bool = False) -> dict[str, Any]:
    """Return an answer of the state API. Some versions of Ray nest the list one level less."""
    return {"result": True, "msg": "", "data": {"result": rows if flat else {"total": len(rows), "result": rows}}}


class FakeDashboard:
    """A dashboard that answers each path from `answers` (JSON or a handler) and keeps the `requests`."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {
            "/api/v0/workers": listing([]),
            "/api/v0/nodes": listing([{"node_id": WORKER["node_id"], "node_ip": WORKER["ip"]}]),
            "/api/v0/tasks": listing([]),
            "/api/v0/actors": listing([]),
            "/api/jobs/": [],
            "/api/version": {"ray_version": "2.60.0"},
        }
        self.requests: list[web.BaseRequest] = []
        self.url = ""
        self._asked = asyncio.Condition()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        async with self._asked:
            self.requests.append(request)
            self._asked.notify_all()
        answer = self.answers.get(request.path)
        if answer is None:
            return web.Response(status=404, text="404: Not Found")
        if callable(answer):
            response: web.StreamResponse = await answer(request)
            return response
        return web.json_response(answer)

    async def asked(self, more: int) -> None:
        """Wait for this many further requests."""
        goal = len(self.requests) + more
        async with self._asked:
            await asyncio.wait_for(self._asked.wait_for(lambda: len(self.requests) >= goal), _WAIT)

    @asynccontextmanager
    async def running(self, port: int = 0) -> Any:
        server = web.Server(self._handle)
        listener = await asyncio.get_running_loop().create_server(server, "127.0.0.1", port)
        self.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            listener.close()
            await server.shutdown(0.1)


def text(status: int, body: str, **headers: str) -> Handler:
    async def answer(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(status=status, text=body, headers=headers)

    return answer
