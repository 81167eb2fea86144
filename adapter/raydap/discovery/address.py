"""Where the Ray dashboard is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from raydap.core.errors import Code, Problem, ProblemError
from raydap.discovery import tokens
from raydap.discovery.asking import AskFailed, ask

DEFAULT_URL = "http://127.0.0.1:8265"
"""Ray's default (ray/_private/ray_constants.py, DEFAULT_DASHBOARD_IP and _PORT)."""

_VARIABLES = ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS")
_HOST_PORT = re.compile(r"(ray://)?(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):\d{1,5}")
_ASK_TIMEOUT = 10.0


@dataclass(frozen=True, slots=True)
class Location:
    """A dashboard's URL without a trailing slash. `guessed`: nothing pointed there, it is only Ray's default."""

    url: str
    guessed: bool = False


async def resolve(dashboard: str | None, environ: Mapping[str, str], since: float | None = None) -> Location:
    """Finds the dashboard that is meant.

    `dashboard` is the user's argument: a URL; a Ray address (`host:port` of the GCS, `ray://host:port`); "auto" for
    the local cluster. Without it RAY_API_SERVER_ADDRESS, then RAY_ADDRESS, then the local cluster, then DEFAULT_URL.
    `since` (seconds since the epoch) prefers a local cluster that this user started later than that.

    Raises ProblemError: BAD_ARGUMENT for what is no address, NO_CLUSTER where Ray does not answer.
    """
    source, address = _chosen(dashboard, environ)
    if address is not None and address != "auto":
        if address.startswith(("http://", "https://")):
            return Location(_checked(source, address))
        if not _HOST_PORT.fullmatch(address):
            raise ProblemError(
                Problem(
                    Code.BAD_ARGUMENT,
                    f'{source} is "{address}", which is neither a URL nor a Ray address; '
                    f"write it like {DEFAULT_URL}, host:6379, ray://host:10001 or auto.",
                )
            )
    return await _from_ray(None if address == "auto" else address, source, environ, since)


def _chosen(dashboard: str | None, environ: Mapping[str, str]) -> tuple[str, str | None]:
    """What names the cluster and the address it gives, if anything does."""
    if dashboard is not None:
        return 'The argument "dashboard"', dashboard.strip()
    for name in _VARIABLES:
        if environ.get(name):
            return f"The environment variable {name}", environ[name].strip()
    return "The local cluster", None


def _checked(source: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        good = False
    if not good:
        raise ProblemError(
            Problem(Code.BAD_ARGUMENT, f'{source} is "{url}", which is not a URL; write it like {DEFAULT_URL}.')
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")


async def _from_ray(address: str | None, source: str, environ: Mapping[str, str], since: float | None) -> Location:
    # Ray would let these variables override the address that it is asked for.
    bare = {name: value for name, value in environ.items() if name not in _VARIABLES}
    try:
        found = await _ask({"address": address, "since": since}, bare)
    except AskFailed as failure:
        if _wants_token(failure):
            raise ProblemError(tokens.refusal(f"{source} leads to a Ray cluster that", tokens.find(bare))) from None
        where = f" at {address}" if address else ""
        hint = f"; if that is the dashboard, write http://{address}" if address and "://" not in address else ""
        raise ProblemError(
            Problem(
                Code.NO_CLUSTER,
                f"{source} leads to a Ray cluster{where} that does not answer{hint}.",
                f"{failure}\n{failure.detail}",
            )
        ) from None
    if found is None:
        return Location(DEFAULT_URL, guessed=True)
    if found["url"] is None:
        raise ProblemError(
            Problem(
                Code.NO_CLUSTER,
                f"The Ray cluster at {found['address']} runs no dashboard; "
                "start it with include_dashboard=True and ray[default] installed.",
            )
        )
    return Location(found["url"])


async def _ask(question: Mapping[str, Any], environ: Mapping[str, str]) -> Any:
    """Asks once more with the token where the cluster wants one though nothing in the environment says so."""
    try:
        return await ask(question, environ, _ASK_TIMEOUT)
    except AskFailed as failure:
        if not _wants_token(failure) or tokens.wanted(environ) or tokens.find(environ) is None:
            raise
    return await ask(question, tokens.demand(environ), _ASK_TIMEOUT)


def _wants_token(failure: AskFailed) -> bool:
    # ray/exceptions.py, AuthenticationError: Ray's own word for a missing or wrong token.
    return "AuthenticationError" in str(failure)
