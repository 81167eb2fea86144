"""`raydap serve` refuses wrong arguments before it listens, with one sentence and advice."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from raydap.cli.main import main


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--listen", "0.0.0.0:0", "--no-token"], 1, "Without a token raydap listens only on loopback"),
        (["--token-file", "{none}"], 1, "cannot be read: No such file"),
        (["--token-file", "{open}"], 1, "can be read by other users; run: chmod 600 "),
        (["--token-file", "{empty}"], 1, "is empty"),
        (["--tls-cert", "{none}", "--tls-key", "{none}"], 1, "(--tls-cert) cannot be read: No such file"),
        (["--tls-cert", "{open}", "--tls-key", "{open}"], 1, "not a certificate and its unencrypted key, both in PEM"),
        (["--tls-cert", "{none}"], 2, "Give both --tls-cert and --tls-key, or neither"),
        (["--token-file", "{empty}", "--no-token"], 2, "Give only one of --token-file, --token-sha256 and --no-token"),
        (["--token-sha256", "abc"], 2, "is not a SHA-256 digest in hex"),
        (["--hold", "-1"], 2, "is not a number of seconds"),
        (["--listen", "4711"], 2, "not HOST:PORT"),
        (["--listen", "127.0.0.1:" + "1" * 5000], 2, "not HOST:PORT"),
        (["--listen", "127.0.0.1:65536"], 2, "not HOST:PORT"),
        (["--listen", "no.such.host.invalid:0"], 1, "raydap cannot listen on no.such.host.invalid:0"),
    ],
)
def test_what_is_refused_before_it_listens(
    options: list[str], code: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "open").write_text("secret")
    (tmp_path / "open").chmod(0o644)
    (tmp_path / "empty").touch(0o600)
    names = {"none": tmp_path / "none", "open": tmp_path / "open", "empty": tmp_path / "empty"}
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    ended = CliRunner().invoke(main, ["serve", *(option.format(**names) for option in options)])
    assert ended.exit_code == code
    assert told in " ".join(ended.output.split())
    assert "serving" not in ended.output
    assert "secret" not in ended.output
