"""The command `reload`: new code without a restart."""

import tokenize

from raydap.protocol.reload_messages import ReloadArguments, Reloaded
from raydap.terminal.debugger.breakpoint_commands import path_named
from raydap.terminal.debugger.debugger import CommandError, Debugger


async def reload(debugger: Debugger, select: str | None, rest: str) -> None:
    """Give all workers the new code of a file of this machine, by default of the frame that the user looks at."""
    path = await path_named(debugger, rest) if rest else (await debugger.frame()).path
    try:
        with tokenize.open(path) as file:
            text = file.read()
    except (OSError, SyntaxError, ValueError) as error:
        raise CommandError(f"{path} cannot be read on this machine ({error}); name its file here.") from None
    answer = await debugger.live.ask("raydap/reload", ReloadArguments(path=path, text=text), Reloaded)
    summary, _, details = answer.text.partition("\n")
    # The session has printed the summary in the console of all clients, except for a file that no worker has loaded.
    if details or answer.unloaded:
        debugger.out.text(details or summary)
