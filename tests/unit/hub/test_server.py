"""The arguments that a hub refuses before it listens."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from raydap.core.settings import AttachSettings, HubSettings
from raydap.hub import hub_token, server
from raydap.hub.server import ServerOptions, StartRefused
from support.certificates import Certificate


def options(**changes: Any) -> ServerOptions:
    hub_settings = HubSettings(settings=AttachSettings())
    return ServerOptions(
        **{"host": "127.0.0.1", "port": 0, "hub_settings": hub_settings, "digest": hub_token.digest("x"), **changes}
    )


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost", "LOCALHOST"])
def test_loopback_needs_no_token(host: str) -> None:
    assert server.check(options(host=host, digest=None)) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "fe80::1", "hub.example", "localhost.example", ""])
def test_other_addresses_need_one_and_warn_without_tls(host: str) -> None:
    with pytest.raises(StartRefused, match="Without a token raydap listens only on loopback"):
        server.check(options(host=host, digest=None))
    (warning,) = server.check(options(host=host))
    assert "without TLS" in warning


def test_with_tls_there_is_no_warning(certificate: Certificate) -> None:
    context = server.tls_context(str(certificate.path), str(certificate.key))
    assert server.check(options(host="0.0.0.0", tls=context)) == []


def test_files_of_tls_are_named_when_they_are_no_good(certificate: Certificate, tmp_path: Path) -> None:
    path, key, none = str(certificate.path), str(certificate.key), str(tmp_path / "none")
    with pytest.raises(StartRefused, match=r"none\" \(--tls-cert\) cannot be read: No such file"):
        server.tls_context(none, key)
    with pytest.raises(StartRefused, match=r"none\" \(--tls-key\) cannot be read: No such file"):
        server.tls_context(path, none)
    for one, other in ((path, path), (key, key), (key, path), (path, str(certificate.locked_key))):
        with pytest.raises(StartRefused, match="are not a certificate and its unencrypted key"):
            server.tls_context(one, other)


def test_nothing_is_left_of_a_hub_that_cannot_listen(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "hub.json"
        said: list[str] = []
        with pytest.raises(StartRefused, match=r"cannot listen on 192\.0\.2\.1:0: .*; choose another address"):
            await server.serve(options(host="192.0.2.1", connection_file=path), asyncio.Future(), said.append)
        assert not path.exists()
        with pytest.raises(StartRefused, match=r"none/hub\.json.* cannot be written: No such file"):
            await server.serve(options(connection_file=tmp_path / "none" / "hub.json"), asyncio.Future(), said.append)
        assert len(said) == 1

    asyncio.run(main())
