"""An older version of debugpy, installed beside the one of this environment."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

from support.time_report import starting


def folder(version: str) -> Path:
    """Return the folder in the user's cache where this version is installed; install it there if it is missing.

    It stays there for later runs, which then need no network. Raises CalledProcessError if it cannot be installed.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "raydap"
    # A wheel of debugpy is for one version of Python.
    installed = cache / f"debugpy-{version}-{sys.implementation.cache_tag}"
    if not installed.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        # The folder is renamed last, because another process may install at the same time.
        new = mkdtemp(prefix=f"{installed.name}.", dir=cache)
        with starting(f"installation of debugpy {version}"):
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
            subprocess.run([*command, "--target", new, f"debugpy=={version}"], check=True, timeout=120)
        try:
            os.rename(new, installed)
        except OSError:
            shutil.rmtree(new)
            if not installed.is_dir():
                raise
    return installed
