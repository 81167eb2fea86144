"""The thread of an idle agent, which still runs when Python exits."""

import dis

from raydap.inworker import agent_socket
from raydap.inworker.agent import Agent
from raydap.inworker.agent_socket import AgentSocket


def test_it_waits_without_importing_anything() -> None:
    """Python ends threads when it exits. If a thread is in the middle of an import, Python crashes or waits forever."""
    waits = (Agent._accept, AgentSocket.accept, AgentSocket._check, AgentSocket._is_ours, AgentSocket._present)
    for function in waits:
        assert not [each.argval for each in dis.get_instructions(function) if each.opname == "IMPORT_NAME"]
    assert hasattr(agent_socket, "poll")
