"""The output of a program between two answers."""

from raydap.client.joining import SessionTarget
from raydap.mcp_server.mcp_options import McpOptions
from raydap.mcp_server.tool_session import KEPT_OUTPUT, LONGEST_OUTPUT, ToolSession


def test_output_comes_once_in_whole_lines_without_colours() -> None:
    session = ToolSession(SessionTarget(), McpOptions())
    session._take_output("\x1b[1mste")
    session._take_output("p 1\x1b[0m\n\n10%\r20%\r\nstep")
    assert session.new_output(20) == (["step 1", "20%"], 0)
    session._take_output(" 2\n")
    assert session.new_output(20) == (["step 2"], 0)
    assert session.new_output(20) == ([], 0)


def test_of_much_output_the_last_lines_and_the_number_of_the_others_are_kept() -> None:
    session = ToolSession(SessionTarget(), McpOptions())
    session._take_output("".join(f"{number}\n" for number in range(KEPT_OUTPUT + 50)))
    lines, dropped = session.new_output(20)
    assert (lines[-1], len(lines), dropped) == (str(KEPT_OUTPUT + 49), 20, KEPT_OUTPUT + 30)


def test_a_line_without_an_end_is_bounded() -> None:
    session = ToolSession(SessionTarget(), McpOptions())
    for _ in range(5):
        session._take_output("." * LONGEST_OUTPUT)
    assert len(session._line) == LONGEST_OUTPUT
    session._take_output("x" * (2 * LONGEST_OUTPUT) + "\n")
    ((line,), _) = session.new_output(20)
    assert line == "x" * LONGEST_OUTPUT
