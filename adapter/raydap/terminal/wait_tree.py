"""`raydap hang`: what each worker waits for, and the deadlocks among them."""

from rich.text import Text

from raydap.client.joining import SessionTarget
from raydap.exit_codes import ExitCode
from raydap.protocol.raydap_messages import SelectArguments, SelectedWorkers
from raydap.protocol.wait_messages import WaitGraph, WaitsArguments
from raydap.terminal import screen
from raydap.terminal.live_session import answering

_COLOURS = {
    r"(?m)^(Deadlock|Probably a deadlock).*": "bold red",
    r"\[deadlock[ \d]*\]": "red",
    r"waits at breakpoint\(\).*": "yellow",
    r"(?<=: )pending: .*": "yellow",
    r"[│├└─]+": "dim",
}


async def show(target: SessionTarget, select: str | None, as_json: bool) -> int:
    """Print the tree of waits. Return the exit code: DEADLOCK if there is a deadlock, NO_WORKER for an empty set.

    Raises what `looking` raises, and SessionError.
    """
    async with answering(target, "raydap stacks --locals") as live:
        found = await live.ask("raydap/waits", WaitsArguments(select=select), WaitGraph)
        if select is not None and not found.nodes:
            wanted = SelectArguments(select=select, running=True)
            if not (await live.ask("raydap/select", wanted, SelectedWorkers)).workers:
                screen.console(stderr=True).print(live.no_worker_in(select))
                return ExitCode.NO_WORKER
        if as_json:
            screen.print_json(found)
        else:
            screen.console().print(coloured(found), soft_wrap=True)
    return ExitCode.DEADLOCK if found.deadlocks else ExitCode.DONE


def coloured(found: WaitGraph) -> Text:
    """Return the text of the graph, with colours for deadlocks, waits at breakpoint() and pending work."""
    text = Text(found.text)
    for pattern, style in _COLOURS.items():
        text.highlight_regex(pattern, style)
    return text
