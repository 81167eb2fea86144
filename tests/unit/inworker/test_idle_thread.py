"""The thread of an idle agent, which runs while Python may end."""

import dis

from raydap.inworker import agent_socket
from raydap.inworker.agent import Agent
from raydap.inworker.agent_socket import AgentSocket


def test_it_waits_without_importing_anything() -> None:
    """Python ends threads at its own end. If that is in the middle of an import, it crashes, or waits forever."""
    waits = (Agent._accept, AgentSocket.accept, AgentSocket._check, AgentSocket._is_ours, AgentSocket._present)
    for function in waits:
        assert not [each.argval for each in dis.get_instructions(function) if each.opname == "IMPORT_NAME"]
    assert hasattr(agent_socket, "poll")
