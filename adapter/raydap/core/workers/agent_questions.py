"""Questions to the agents of workers that are not attached: for their stacks, or for the value of an expression."""

from collections.abc import Mapping

from raydap.core.effects import AskAgent
from raydap.core.events import AgentAnswered
from raydap.core.flows import Flow, Future
from raydap.core.model.state import State
from raydap.core.workers import attach
from raydap.errors import Code, Problem, ProblemError
from raydap.protocol.types import WorkerKey


def ask(state: State, key: WorkerKey, name: str, question: Mapping[str, object], timeout_s: float) -> Flow[str]:
    """Return the agent's answer to a question.

    `name` names the worker in messages to users. Raises ProblemError if the process has no agent (NO_AGENT) or the
    agent does not answer (WORKER_BROKEN).
    """
    run = state.run
    row = run.processes[key].agent
    if row is None:
        text = (
            "The worker has no agent, so raydap can query it only while it is attached. Start the program with "
            "`raydap run`, or launch it, to query its workers at any time."
        )
        raise ProblemError(Problem(Code.NO_AGENT, text))
    number = state.next_question()
    answer = run.agent_questions[number] = Future()
    state.emit(AskAgent(attach.dial(row), number, question, timeout_s))
    try:
        return (yield from answer)
    except ValueError as error:
        raise ProblemError(Problem(Code.WORKER_BROKEN, f"The agent of {name} does not answer: {error}.")) from None


def answered(state: State, event: AgentAnswered) -> None:
    """Pass an agent's answer, or its failure, to the flow that waits for it."""
    waiting = state.run.agent_questions.pop(event.number, None)
    if waiting is not None and event.problem:
        waiting.set_exception(ValueError(event.problem))
    elif waiting is not None:
        waiting.set_result(event.text)
