"""One run of the fuzzer over some targets."""

import gc
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fuzz.mutate import Mutator
from fuzz.targets import Target

GROWTH = 32 * 2**20
"""How many bytes the process may grow after its first part: a leak of 100 bytes per input shows in 1,000,000 inputs."""


class Find(Exception):
    """An input that breaks a promise, with the command that replays it."""


class Campaign:
    """A run over targets in turn. A target's inputs depend only on the seed, not on the other targets."""

    def __init__(self, targets: Sequence[Target], seed: str) -> None:
        self.seed = seed
        self.counts: Counter[str] = Counter()
        self._targets = [(each, Mutator(each.beginnings, each.tokens, f"{seed} {each.name}")) for each in targets]

    def run(self, inputs: int, parts: int = 1) -> Iterator[int]:
        """Yield the number of inputs done after each part. Raises Find."""
        at_first: int | None = None
        done = 0
        for part in range(1, parts + 1):
            until = inputs * part // parts
            while done < until:
                target, mutator = self._targets[done % len(self._targets)]
                self._try(target, mutator.next())
                done += 1
            gc.collect()
            at_first = at_first or self.resident()
            grown = self.resident() - at_first
            if grown > GROWTH:
                raise Find(f"the process grew by {grown / 2**20:.0f} MB since its first part")
            yield done

    def _try(self, target: Target, data: bytes) -> None:
        self.counts[target.name] += 1
        try:
            target.run(data)
        except Exception as error:
            how = f"python -m fuzz --replay {target.name} {shlex.quote(repr(data))}"
            raise Find(f"{target.name}, input {self.counts[target.name]}: {error!r}\n{how}") from error

    @staticmethod
    def resident() -> int:
        """Return the bytes of memory in use, or 0 where there is no /proc."""
        try:
            return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except OSError:
            return 0
