"""`make fuzz`: run many inputs, all made from one seed. Prints its progress; ends with 1 at the first find.

python -m fuzz --inputs 1000000 --seed 1 python -m fuzz --replay session "b'+\\n<0 attach'" python -m fuzz --guided
session -max_total_time=600     coverage leads the mutations; needs `pip install atheris`
"""

import argparse
import ast
import logging
import sys
import time
from pathlib import Path

from fuzz.campaign import Campaign, Find
from fuzz.targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000, help="how many, over all targets")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", choices=TARGETS, action="append", help="a target; may be repeated")
    parser.add_argument("--replay", nargs=2, metavar=("TARGET", "INPUT"), help="one input, as a find prints it")
    parser.add_argument("--guided", metavar="TARGET", choices=TARGETS, help="all that follows goes to libFuzzer")
    options, rest = parser.parse_known_args()
    logging.disable()
    if options.replay is not None:
        TARGETS[options.replay[0]].run(ast.literal_eval(options.replay[1]))
    elif options.guided is not None:
        _guided(options.guided, rest)
    else:
        if rest:
            parser.error(f"unknown: {rest}")
        return _run(Campaign([TARGETS[name] for name in options.only or TARGETS], options.seed), options.inputs)
    return 0


def _run(campaign: Campaign, inputs: int) -> int:
    began = time.monotonic()
    try:
        for done in campaign.run(inputs, parts=10):
            _say(f"{done:,} inputs, {time.monotonic() - began:.0f} s, {campaign.resident() / 2**20:.0f} MB")
    except Find as find:
        _say(str(find))
        return 1
    counted = ", ".join(f"{name} {count:,}" for name, count in campaign.counts.items())
    _say(f"nothing found: {counted}; seed {campaign.seed}")
    return 0


def _guided(name: str, rest: list[str]) -> None:
    """Run libFuzzer on one target; it ends the process.

    `instrument_all` counts the branches of raydap as well as those of its libraries.
    """
    import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]

    corpus = Path(f".fuzz/{name}")
    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(TARGETS[name].beginnings):
        (corpus / f"beginning{number}").write_bytes(data)
    tokens = corpus.parent / f"{name}.dict"
    tokens.write_text("".join('"' + "".join(f"\\x{byte:02x}" for byte in t) + '"\n' for t in TARGETS[name].tokens))
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], str(corpus), f"-dict={tokens}", "-max_len=4096", *rest], TARGETS[name].run)
    atheris.Fuzz()


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
