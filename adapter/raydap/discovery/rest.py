"""HTTP to one Ray dashboard: tokens, limits, and every failure as a Problem that the user can read."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from yarl import URL

from raydap.core.errors import Code, Problem, ProblemError
from raydap.discovery import tokens

MAX_ANSWER = 64 * 1024 * 1024
"""Bytes of one answer; ten thousand detailed rows, the most Ray gives, are a tenth of that."""

TIMEOUT = 10.0
"""Seconds for one request, all of it."""

_CONNECT_TIMEOUT = 3.0

Params = list[tuple[str, str]]


class Rest:
    """A client of one dashboard, given by its URL without trailing slash. Must be closed.

    Requests never follow redirects, so a token cannot wander to another host, and never use proxies of the
    environment, which would look for the user's loopback on another machine. All raise ProblemError.

    `sends_token`: the environment or the dashboard itself has asked for Ray's token.
    """

    def __init__(self, url: str, environ: Mapping[str, str], timeout: float = TIMEOUT, limit: int = MAX_ANSWER) -> None:
        self.url = url
        self.where = str(URL(url).with_user(None))
        self._timeout = timeout
        self._limit = limit
        self._token = tokens.find(environ)
        self.sends_token = self._token is not None and tokens.wanted(environ)
        self._session = aiohttp.ClientSession(trust_env=False)

    async def close(self) -> None:
        await self._session.close()

    async def get(self, path: str, params: Params | None = None) -> Any:
        """The JSON of an answer, whatever its HTTP status (Ray's state API puts errors into the body)."""
        return await self._json("GET", path, params)

    async def post(self, path: str) -> Any:
        return await self._json("POST", path)

    @asynccontextmanager
    async def websocket(self, path: str) -> AsyncIterator["aiohttp.ClientWebSocketResponse[Any]"]:
        with _problems(self.where, self._timeout):
            connection = await self._session.ws_connect(
                self.url + path, headers=self._headers(), max_msg_size=self._limit, heartbeat=self._timeout
            )
        async with connection:
            yield connection

    async def _json(self, method: str, path: str, params: Params | None = None) -> Any:
        status, body = await self._request(method, path, params)
        if status == 401 and self._token is not None and not self.sends_token:
            # Nothing in the environment asked for the token, but this cluster does.
            self.sends_token = True
            status, body = await self._request(method, path, params)
        if status in (401, 403):
            sent = self._token if self.sends_token else None
            raise ProblemError(tokens.refusal(f"The Ray dashboard at {self.where}", sent))
        if 300 <= status < 400:
            raise self._garbage(f"redirects to another page (HTTP {status})")
        try:
            return json.loads(body)
        except ValueError:
            start = body[:200].decode(errors="replace")
            raise self._garbage(f"does not answer with JSON (HTTP {status})", start) from None

    async def _request(self, method: str, path: str, params: Params | None) -> tuple[int, bytes]:
        timeout = aiohttp.ClientTimeout(total=self._timeout, sock_connect=_CONNECT_TIMEOUT)
        with _problems(self.where, self._timeout):
            async with self._session.request(
                method,
                self.url + path,
                params=params,
                headers=self._headers(),
                timeout=timeout,
                allow_redirects=False,
            ) as response:
                body = bytearray()
                async for chunk in response.content.iter_chunked(65536):
                    body += chunk
                    if len(body) > self._limit:
                        raise self._garbage(f"answers with more than {self._limit} bytes")
                return response.status, bytes(body)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self.sends_token else {}

    def _garbage(self, what: str, detail: str = "") -> ProblemError:
        return garbage(self.where, what, detail)


def garbage(where: str, what: str, detail: str = "") -> ProblemError:
    text = f'What listens at {where} {what}, so it is no Ray dashboard; check the argument "dashboard".'
    return ProblemError(Problem(Code.DASHBOARD_GARBAGE, text, detail))


class _problems:
    """Turns aiohttp's and the system's exceptions into the one Problem they mean."""

    def __init__(self, where: str, timeout: float) -> None:
        self._where = where
        self._timeout = timeout

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, asyncio.TimeoutError):
            raise self._unreachable(f"did not answer within {self._timeout:g} s", error) from None
        if isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ClientOSError, aiohttp.ServerDisconnectedError)):
            raise self._unreachable("cannot be reached", error) from None
        if isinstance(error, (aiohttp.ClientError, ValueError)):
            raise garbage(self._where, "does not speak HTTP as a dashboard does", repr(error)) from None
        if isinstance(error, OSError):
            raise self._unreachable("cannot be reached", error) from None

    def _unreachable(self, what: str, error: BaseException) -> ProblemError:
        text = f"The Ray dashboard at {self._where} {what}; is the cluster running, and the port forwarded?"
        return ProblemError(Problem(Code.DASHBOARD_UNREACHABLE, text, repr(error)))
