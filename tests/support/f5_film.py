"""The recording of VS Code on the first page of the manual, docs/usage/images/f5.webp: pictures of launch.drive.ts.

`make screenshots` renews it.
"""

from pathlib import Path

from PIL import Image

from support.vscode import HERE, OUT

SCREENSHOTS = OUT / "screenshots"
TARGET = HERE.parent / "docs" / "usage" / "images" / "f5.webp"

NAMES = (
    "f5-breakpoints", "f5-choice", "14-live-workers", "61b-launched-compared", "61c-launched-stepped",
    "62-launched-task", "f5-result",
)  # fmt: skip
"""The pictures, in their order."""

SHOWN_MS, END_MS = 1600, 3500
"""The milliseconds for which each picture is shown, and the last one."""


def main() -> None:
    """Write the recording. Raises SystemExit if the test has not taken the pictures."""
    paths = [SCREENSHOTS / f"{name}.png" for name in NAMES]
    if missing := [path.name for path in paths if not path.exists()]:
        raise SystemExit(f"raydap: {SCREENSHOTS} has no {', '.join(missing)}: run make test-vscode first.")
    write(paths, TARGET)


def write(paths: list[Path], target: Path) -> None:
    """Write pictures of the same size into an animated WebP without loss, which plays again and again."""
    first, *rest = [Image.open(path).convert("RGB") for path in paths]
    durations = [SHOWN_MS] * len(rest) + [END_MS]
    first.save(
        target, save_all=True, append_images=rest, duration=durations, loop=0, lossless=True, quality=90, method=6
    )


if __name__ == "__main__":
    main()
