"""Finds the Ray dashboard that the user means."""

import asyncio
import os
import pwd
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal
from urllib.parse import urlsplit

from raydap import tcp_sockets
from raydap.cluster.dashboard import local_clusters, ray_token
from raydap.cluster.dashboard.local_clusters import LocalCluster
from raydap.cluster.dashboard.rest import Rest
from raydap.cluster.ray_process.ray_query import QueryFailed, query
from raydap.errors import Code, Problem, ProblemError

_DEFAULT = ("127.0.0.1", 8265)

DEFAULT_URL = "http://{}:{}".format(*_DEFAULT)
"""Ray's default (ray/_private/ray_constants.py, DEFAULT_DASHBOARD_IP and _PORT)."""

ARGUMENT = '"dashboard": "{}"'
"""How users of an editor name a cluster."""

Launched = Literal["", "reports", "silent"]
"""Whether raydap has launched a program whose cluster is wanted: "" if not, "reports" if an agent in it reports which
cluster the program has joined, and "silent" if none does (clusters_here.the_one_meant)."""

_VARIABLES = ("RAY_API_SERVER_ADDRESS", "RAY_ADDRESS")
_HOST_PORT = re.compile(r"(ray://)?(\[[0-9a-fA-F:.]+\]|[^\s:/\[\]]+):\d{1,5}")
_QUERY_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class DashboardLocation:
    """The address of a dashboard."""

    url: str
    """The URL without a trailing slash."""
    guessed: bool = False
    """Whether the URL is only Ray's default, which neither the user nor Ray has named."""
    argument: str = ARGUMENT
    """How users write the address, with `{}` in its place."""

    def client(self, environ: Mapping[str, str]) -> Rest:
        """Return a client of the dashboard, which sends nothing to a guessed address where another user listens."""
        return Rest(self.url, environ, check=partial(default, self.argument) if self.guessed else None)


async def resolve(
    dashboard: str | None, environ: Mapping[str, str], launched: Launched = "", argument: str = ARGUMENT
) -> DashboardLocation:
    """Find the dashboard that the user means.

    `dashboard` is the user's argument: a URL, a Ray address (`host:port` of the GCS or `ray://host:port`), or "auto"
    for the local cluster. Without it the order is RAY_API_SERVER_ADDRESS, RAY_ADDRESS, the local cluster, DEFAULT_URL.
    A local cluster that is not named is used only if it is the only one that this user has started. For a launched
    program, the cluster of the program is used instead. `argument` is how users write the address, with `{}` in its
    place.

    Raises ProblemError: BAD_ARGUMENT for a malformed address, NO_CLUSTER if Ray does not answer, CLUSTER_NOT_NAMED,
    TOKEN_WANTED and TOKEN_REFUSED. Raises OSError if this machine cannot start a process.
    """
    source, address = chosen(dashboard, environ)
    if address is not None and address != "auto":
        if address.startswith(("http://", "https://")):
            return DashboardLocation(_checked_url(source, address))
        if not _HOST_PORT.fullmatch(address):
            raise ProblemError(
                Problem(
                    Code.BAD_ARGUMENT,
                    f'{source} is "{address}", which is neither a URL nor a Ray address; '
                    f"write it like {DEFAULT_URL}, host:6379, ray://host:10001 or auto.",
                )
            )
    cleaned = _cleaned(environ)
    found = await _from_ray(None if address == "auto" else address, source, cleaned, launched)
    if "clusters" not in found:
        return _location(found)
    if launched:
        raise ProblemError(Problem(Code.NO_CLUSTER, "The launched program has not joined a Ray cluster yet."))
    clusters = local_clusters.read(found["clusters"])
    if not clusters:
        return default(argument)
    named = await asyncio.gather(*(with_url(cluster, environ) for cluster in clusters))
    raise ProblemError(await local_clusters.not_named(named, argument, cleaned))


def _cleaned(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without the variables that Ray prefers to the address it is given."""
    return {name: value for name, value in environ.items() if name not in _VARIABLES}


def chosen(dashboard: str | None, environ: Mapping[str, str]) -> tuple[str, str | None]:
    """Return the setting that names the cluster, for messages, and its address; None if nothing names one."""
    if dashboard is not None:
        return 'The argument "dashboard"', dashboard.strip()
    for name in _VARIABLES:
        if environ.get(name):
            return f"The environment variable {name}", environ[name].strip()
    return "The local cluster", None


def _checked_url(source: str, url: str) -> str:
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


async def _from_ray(address: str | None, source: str, environ: Mapping[str, str], launched: Launched) -> Any:
    """Return the answer of clusters_here.locate for an address."""
    try:
        return await _query({"address": address, "launched": launched}, environ)
    except QueryFailed as failure:
        if _wants_token(failure):
            raise ProblemError(
                ray_token.problem(f"{source} names a Ray cluster that", ray_token.find(environ))
            ) from None
        where = f" at {address}" if address else ""
        # The user does not need the name of the exception.
        reason = re.sub(r"^\w+: (\[Errno -?\d+\] )?", "", str(failure))
        hint = f"; if that is the dashboard, write http://{address}" if address and "://" not in address else ""
        raise ProblemError(
            Problem(
                Code.NO_CLUSTER,
                f"{source} names a Ray cluster{where} that does not answer ({reason}){hint}.",
                f"{failure}\n{failure.detail}",
            )
        ) from None


def _location(found: Mapping[str, Any]) -> DashboardLocation:
    if found["url"] is None:
        raise ProblemError(
            Problem(
                Code.NO_CLUSTER,
                f"The Ray cluster at {found['address']} runs no dashboard; "
                "start it with include_dashboard=True and ray[default] installed.",
            )
        )
    return DashboardLocation(found["url"])


def default(argument: str = ARGUMENT) -> DashboardLocation:
    """Return Ray's default address, where the port of a remote cluster may be forwarded.

    Raises ProblemError if another user listens there.
    """
    socket = tcp_sockets.listening(tcp_sockets.read() or (), *_DEFAULT)
    if socket is not None and socket.uid != os.getuid():
        text = f"The program that listens at {DEFAULT_URL} belongs to {_user(socket.uid)}; to use it, name it"
        raise ProblemError(Problem(Code.CLUSTER_NOT_NAMED, f"{text}: {argument.format(DEFAULT_URL)}."))
    return DashboardLocation(DEFAULT_URL, guessed=True, argument=argument)


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"the user {uid}"


async def with_url(cluster: LocalCluster, environ: Mapping[str, str]) -> LocalCluster:
    """Return the cluster with the URL of its dashboard, if that can be found.

    If an older Ray does not list the URL, raydap queries the cluster, but only a cluster of this user.
    """
    if cluster.url is not None or not cluster.ours:
        return cluster
    try:
        return replace(cluster, url=(await _query({"address": cluster.address}, _cleaned(environ)))["url"])
    except QueryFailed:
        return cluster


async def _query(question: Mapping[str, Any], environ: Mapping[str, str]) -> Any:
    """Query Ray, and retry with the token if the cluster wants one."""
    try:
        return await query("locate", question, environ, _QUERY_TIMEOUT_S)
    except QueryFailed as failure:
        if not _wants_token(failure) or ray_token.wanted(environ) or ray_token.find(environ) is None:
            raise
    return await query("locate", question, ray_token.with_token_mode(environ), _QUERY_TIMEOUT_S)


def _wants_token(failure: QueryFailed) -> bool:
    # ray/exceptions.py: Ray raises AuthenticationError for a missing or wrong token.
    return "AuthenticationError" in str(failure)
