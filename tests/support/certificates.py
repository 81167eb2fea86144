"""A self-signed certificate for 127.0.0.1, made by `openssl`."""

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Certificate:
    """The PEM files of a certificate. `locked_key` is the key, encrypted with a password."""

    path: Path
    key: Path
    locked_key: Path

    @classmethod
    def make(cls, directory: Path) -> "Certificate":
        made = cls(directory / "cert.pem", directory / "key.pem", directory / "locked.pem")
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        names = ["-subj", "/CN=raydap test", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
        _openssl("req", "-x509", *curve, "-days", "2", *names, "-keyout", str(made.key), "-out", str(made.path))
        _openssl("ec", "-in", str(made.key), "-aes128", "-passout", "pass:x", "-out", str(made.locked_key))
        return made


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)
