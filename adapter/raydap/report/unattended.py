"""The command `raydap report` from start to end: what ends it, when it writes the files, and its exit code."""

import asyncio
import os
import signal
import sys
import time
from dataclasses import dataclass
from typing import Any

from raydap import safe_output, steady_time
from raydap.client.joining import SessionTarget
from raydap.cluster.jobs.job_watch import JobEnd, JobWatch
from raydap.errors import ProblemError
from raydap.presentation.clock_times import clock
from raydap.presentation.safe_text import one_line
from raydap.report.records import Outcome
from raydap.report.report_files import ReportFiles
from raydap.report.watch_arguments import Watch
from raydap.report.watched_run import WatchedRun

FIRST_WRITE_S, LAST_WRITE_S = 1.0, 60.0
"""Seconds until the files are written first, and the longest pause between later writes. If raydap is killed, the last
files remain."""

END_TIMEOUT_S = 8.0
"""Seconds for a launched program to end after `terminate`. It is killed after 5 of them."""

DESERTED_PAUSE_S = 5.0
"""Seconds between two checks for workers of a job that only a hub can reach. After two checks in a row without workers,
the job counts as ended."""


@dataclass(frozen=True, slots=True)
class Reporting:
    """One run of the command."""

    watch: Watch
    """What the user wants to watch."""
    target: SessionTarget
    """The cluster or the hub that the user names."""
    files: ReportFiles
    """The files to write."""
    ended: "asyncio.Future[int]"
    """Completes with the number of the signal that ends the command."""
    quiet: bool = False
    """Whether to print only that the report could not be written."""

    async def run(self) -> int:
        """Watch until something ends the run, write the report, and return the exit code.

        The exit code is 1 also if the program succeeds but the last report cannot be written. Raises ProblemError,
        SessionError, TokenError or OSError if the run cannot begin.
        """
        self.files.check()
        job = None
        if self.watch.job is not None and self.target.url is None:
            job = await JobWatch.of(self.watch.job, self.target.dashboard)
        run = WatchedRun(self.watch, self._print_event, _echo)
        try:
            beginning = asyncio.ensure_future(run.begin(self.target if job is None else SessionTarget(job.url)))
            await asyncio.wait((beginning, self.ended), return_when=asyncio.FIRST_COMPLETED)
            if not beginning.done():
                beginning.cancel()
                await asyncio.wait((beginning,))
                return 128 + self.ended.result()
            beginning.result()
            self._print_event(f"Watching {self.watch.title}. Writing {self.files.page} every minute and at the end.")
            writing = asyncio.ensure_future(self._write_often(run))
            try:
                code = await self._watch(run, job)
            finally:
                writing.cancel()
            if job is not None:
                run.set_log(await job.log())
            await run.end()
        finally:
            if job is not None:
                await job.close()
            await run.leave()
        try:
            await self._write(run, is_last=True)
        except ProblemError as error:
            self._print(f"{run.outcome.text} {error.problem}")
            return code or 1
        self._print_event(f"{run.outcome.text} Report: {self.files.page}")
        return code

    async def _watch(self, run: WatchedRun, job: JobWatch | None) -> int:
        """Wait until something ends the run, set its outcome, and return the exit code."""
        is_job = self.watch.job is not None
        waits: dict[str, asyncio.Future[Any]] = {
            "session": asyncio.ensure_future(run.live.ended.wait()),
            "signal": asyncio.shield(self.ended),
        }
        if is_job:
            waits["job"] = asyncio.ensure_future(_deserted(run) if job is None else job.end())
        if self.watch.limit_s is not None:
            waits["limit"] = asyncio.ensure_future(asyncio.sleep(self.watch.limit_s))
        try:
            done = await _first(waits)
            if done == "limit" and not is_job:
                # The last report contains the exit code of the program, so wait for the program's end.
                self._print_event("Time limit reached. raydap removes its breakpoints; the program keeps running.")
                await run.stop_watching()
                text = "Time limit reached. The program keeps running, unwatched."
                run.outcome = Outcome(state="running", code=None, text=text)
                await self._write_or_note(run)
                del waits["limit"]
                done = await _first(waits)
        finally:
            for each in waits.values():
                each.cancel()
        run.ended = steady_time.now()
        if done == "signal":
            return await self._interrupted(run, signal.Signals(self.ended.result()))
        if done == "limit":
            run.outcome = Outcome(state="limit", code=None, text="Time limit reached. The job keeps running.")
            return 0
        if done == "job":
            end: JobEnd = waits["job"].result()
            run.outcome = Outcome(state="ended", code=None, text=end.text)
            return int(end.failed)
        code = run.exit_code
        if is_job or code is None:
            text = "The debug session ended before the program or job did. See the messages in the report."
            run.outcome = Outcome(state="failed", code=None, text=text)
            return 1
        run.outcome = Outcome(state="ended", code=code, text=f"The program has ended with exit code {code}.")
        return code

    async def _interrupted(self, run: WatchedRun, number: signal.Signals) -> int:
        """Handle a signal that ends the run, and return the exit code.

        The files are written before the program is ended, because the sender of the signal may kill raydap soon.
        """
        is_job = self.watch.job is not None
        what = "The job keeps running." if is_job else "The program was ended."
        run.outcome = Outcome(state="interrupted", code=None, text=f"Interrupted by {number.name}. {what}")
        if not is_job:
            await self._write_or_note(run)
            await run.stop_program(END_TIMEOUT_S)
            run.outcome = Outcome(state="interrupted", code=run.exit_code, text=run.outcome.text)
        return 128 + number

    async def _write_often(self, run: WatchedRun) -> None:
        pause = FIRST_WRITE_S
        while True:
            await asyncio.sleep(pause)
            pause = min(2 * pause, LAST_WRITE_S)
            await self._write_or_note(run)

    async def _write_or_note(self, run: WatchedRun) -> None:
        """Write the files. If that fails, only note why, because a later attempt may succeed."""
        try:
            await self._write(run, is_last=False)
        except ProblemError as error:
            run.note(str(error.problem))

    async def _write(self, run: WatchedRun, is_last: bool) -> None:
        """Write the files. Raises ProblemError."""
        # A page of many workers takes some time, and their stops must be handled during it.
        await asyncio.to_thread(self.files.write, run.report(), list(run.tasks.events), is_last)

    def _print_event(self, text: str) -> None:
        if not self.quiet:
            self._print(text)

    def _print(self, text: str) -> None:
        safe_output.line(f"raydap report {clock(time.time())}: {one_line(text)}", error=True)


async def _first(waits: dict[str, "asyncio.Future[Any]"]) -> str:
    """Wait until one of these futures is done, and return its name; if several are done, the first in `waits`."""
    await asyncio.wait(waits.values(), return_when=asyncio.FIRST_COMPLETED)
    return next(name for name, each in waits.items() if each.done())


async def _deserted(run: WatchedRun) -> JobEnd:
    while True:
        await asyncio.sleep(DESERTED_PAUSE_S)
        before = run.has_workers
        await asyncio.sleep(DESERTED_PAUSE_S)
        if run.jobs and not before and not run.has_workers:
            return JobEnd(False, f"Job {run.watch.job} has ended.")


def _echo(category: str, text: str) -> None:
    name = "stdout" if category == "stdout" else "stderr"
    try:
        # The output is not escaped, because the program is the user's own.
        safe_output.piece(text, error=name == "stderr")
    except (OSError, ValueError):
        # The stream's reader has gone. Replace the stream, so that its buffer does not fail again when raydap exits.
        setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
