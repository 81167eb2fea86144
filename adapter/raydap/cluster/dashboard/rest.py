"""HTTP requests to one Ray dashboard: they add its token, limit answers, and turn failures into Problems for the user.

aiohttp is imported where it is used, because the import takes as long as the rest of a start of `raydap adapter`, and a
session of plain debugpy processes uses no dashboard.
"""

import asyncio
import json
import os
import ssl
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from raydap.cluster.dashboard import ray_token
from raydap.errors import Code, Problem, ProblemError

if TYPE_CHECKING:
    import aiohttp

MAX_ANSWER = 64 * 1024 * 1024
"""Maximum size of an answer, in bytes. Ray returns at most ten thousand rows, which take a tenth of that."""

REQUEST_TIMEOUT_S = 10.0
"""Seconds for a whole request."""

_CONNECT_TIMEOUT_S = 3.0

Params = list[tuple[str, str]]


class AnswerTooLong(ProblemError):
    """An answer has more than MAX_ANSWER bytes."""


class Rest:
    """A client of one dashboard, given by its URL without a trailing slash. Must be closed.

    Requests follow no redirects, which would send the token to another host. They use no proxies of the environment,
    because a proxy would look for the user's loopback on another machine. All requests raise ProblemError.

    `where` is the URL for users, without a password. `sends_token` is true once the environment or the dashboard has
    asked for Ray's token. `check` is called in a thread before each request, and raises ProblemError if the request
    must not be sent.
    """

    def __init__(
        self,
        url: str,
        environ: Mapping[str, str],
        timeout_s: float = REQUEST_TIMEOUT_S,
        check: Callable[[], object] | None = None,
    ) -> None:
        import aiohttp
        from yarl import URL

        self.url = url
        self.where = str(URL(url).with_user(None))
        self._timeout_s = timeout_s
        self._check = check
        self._token = ray_token.find(environ)
        self.sends_token = self._token is not None and ray_token.wanted(environ)
        redirects = aiohttp.TraceConfig()
        redirects.on_request_redirect.append(_refuse_redirect)  # `ws_connect` has no argument that forbids redirects.
        self._session = aiohttp.ClientSession(trust_env=False, trace_configs=[redirects])

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def get(self, path: str, params: Params | None = None) -> Any:
        """Return the JSON of an answer, whatever its HTTP status: Ray's state API puts errors into the body."""
        return await self._json("GET", path, params)

    async def post(self, path: str) -> Any:
        """Send a POST request without a body, and return the JSON of the answer."""
        return await self._json("POST", path)

    async def texts(self, path: str) -> AsyncGenerator[str, None]:
        """Yield the text messages of a WebSocket until the dashboard closes it. Use this in `aclosing`."""
        import aiohttp

        if self._check is not None:
            await asyncio.to_thread(self._check)
        with _as_problem(self.where, self._timeout_s):
            async with self._session.ws_connect(
                self.url + path, headers=self._headers(), max_msg_size=MAX_ANSWER, heartbeat=self._timeout_s
            ) as connection:
                async for message in connection:
                    if message.type is aiohttp.WSMsgType.TEXT:
                        yield message.data

    async def _json(self, method: str, path: str, params: Params | None = None) -> Any:
        status, body = await self._request(method, path, params)
        if status == 401 and self._token is not None and not self.sends_token:
            # The environment does not ask for the token, but this cluster does.
            self.sends_token = True
            status, body = await self._request(method, path, params)
        if status in (401, 403):
            sent = self._token if self.sends_token else None
            raise ProblemError(ray_token.problem(f"The Ray dashboard at {self.where}", sent))
        if 300 <= status < 400:
            raise not_a_dashboard(self.where, f"redirects to another page (HTTP {status})")
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            start = body[:200].decode(errors="replace")
            raise not_a_dashboard(self.where, f"does not answer with JSON (HTTP {status})", start) from None

    async def _request(self, method: str, path: str, params: Params | None) -> tuple[int, bytes]:
        if self._session.closed:
            raise ProblemError(
                Problem(Code.DASHBOARD_UNREACHABLE, f"raydap no longer uses the dashboard at {self.where}.")
            )
        if self._check is not None:
            await asyncio.to_thread(self._check)
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=self._timeout_s, sock_connect=_CONNECT_TIMEOUT_S)
        with _as_problem(self.where, self._timeout_s):
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
                    if len(body) > MAX_ANSWER:
                        error = not_a_dashboard(self.where, f"answers with more than {MAX_ANSWER} bytes")
                        raise AnswerTooLong(error.problem)
                return response.status, bytes(body)

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"} if self.sends_token else {}


async def _refuse_redirect(*_: object) -> None:
    import aiohttp

    raise aiohttp.ClientError("it redirects to another page")


def not_a_dashboard(where: str, what: str, detail: str = "") -> ProblemError:
    """Return the exception for an address where some other program than a Ray dashboard listens."""
    text = f'The server at {where} is not a Ray dashboard, because it {what}; check the argument "dashboard".'
    return ProblemError(Problem(Code.DASHBOARD_GARBAGE, text, detail))


@contextmanager
def _as_problem(where: str, timeout_s: float) -> Iterator[None]:
    """Turn the exceptions of aiohttp and the system into ProblemErrors."""
    import aiohttp

    try:
        yield
    except asyncio.TimeoutError as error:
        raise _unreachable(where, f"did not answer within {timeout_s:g} s", error) from None
    except (aiohttp.ServerDisconnectedError, OSError) as error:
        raise _unreachable(where, f"cannot be reached ({_reason(error)})", error) from None
    except (aiohttp.ClientError, ValueError) as error:
        raise not_a_dashboard(where, "does not answer in valid HTTP", _text(error)) from None


def _unreachable(where: str, what: str, error: BaseException) -> ProblemError:
    text = f"The Ray dashboard at {where} {what}; check that the cluster is running, and that its port is forwarded."
    return ProblemError(Problem(Code.DASHBOARD_UNREACHABLE, text, _text(error)))


def _reason(error: "aiohttp.ServerDisconnectedError | OSError") -> str:
    """Return the system's text of an error. The texts of aiohttp and asyncio contain Python objects."""
    cause = getattr(error, "certificate_error", None) or getattr(error, "os_error", None) or error
    if isinstance(cause, ssl.SSLError):
        return str(getattr(cause, "verify_message", None) or cause.reason or cause)
    number = getattr(cause, "errno", None) or 0
    return os.strerror(number) if number > 0 else getattr(cause, "strerror", None) or str(cause)


def _text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
